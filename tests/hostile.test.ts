/**
 * Programs that mean harm, one per file. Each file's first lines say how it must end:
 *   // expect: <code> [<code> …]   a kill code, "returned", "threw:<error name or RobotError code>", or at stage check a diagnostic's code
 *   // stage: check                 it must be refused before it runs (otherwise it must pass the check)
 *   // value: <JSON>                what it returns;  // line: <n | null>  where it threw;  // calls: <n>  how many calls may reach the host
 *   // no_argument: <text>          what no call's arguments may hold;  // printed: <text>  what one printed line holds
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROBOT_API_DECLARATIONS } from "../src/contract/generated/robot-api-declarations.js";
import { OPERATIONS } from "../src/contract/generated/robot-api-dispatch.js";
import { packageFile } from "../src/contract/package-root.js";
import type { GuestHost, Quotas, RunResult } from "../src/program/index.js";
import { CHECK_CODES, KILL_CODES, ProgramChecker, Sandbox } from "../src/program/index.js";

const FOLDER = packageFile("tests", "hostile");
const FILES = readdirSync(FOLDER).filter((name) => name.endsWith(".program.ts"));
/** A program must end within this; a slow machine may multiply it. */
const LIMIT_MS = 1_000 * Number(process.env.S2R_TIME_FACTOR ?? 1);
const QUOTAS = { turnCpu_s: 0.25, turnWall_s: 0.45, maxCalls: 200 };
/** For those that must end by something else than computing too long, also on a machine that is busy otherwise. */
const PATIENT_QUOTAS = { ...QUOTAS, turnCpu_s: 1, turnWall_s: 1 };
const NAMES = OPERATIONS.map(({ name }) => name);
const STATUS_NAMES = OPERATIONS.filter(({ returnsString }) => !returnsString).map(({ name }) => name);

type Header = Partial<Record<"expect" | "stage" | "value" | "line" | "calls" | "no_argument" | "printed", string>>;

function readHeader(source: string): Header {
  const header: Record<string, string> = {};
  for (const line of source.split("\n")) {
    const match = /^\/\/ (expect|stage|value|line|calls|no_argument|printed): (.*)$/.exec(line);
    if (match === null) break;
    header[match[1] as string] = match[2] as string;
  }
  return header;
}

/** Answers like a robot whose motions take device time and which never gave out a ref. */
function fakeHost(): { host: GuestHost; calls: { name: string; args: string }[] } {
  const calls: { name: string; args: string }[] = [];
  let now_s = 0;
  const host: GuestHost = {
    onTurn(turn, replies) {
      for (const { id, name, args } of turn.calls) {
        calls.push({ name, args: JSON.stringify(args) });
        if (name === "follow_path") continue; // it moves for ever
        if (name === "goto_home" && args.length === 0) continue;
        if (name === "get_current_image_path") replies.reject(id, { code: "no_image", message: "there is none" });
        else if (name === "get_point_from_pixel")
          replies.resolve(id, { status: "unknown_ref", message: "never given out" });
        else replies.resolve(id, { status: "ok", message: "" });
      }
      for (const { id, seconds } of turn.sleeps) {
        now_s += seconds;
        replies.resolve(id, null, now_s);
      }
    },
  };
  return { host, calls };
}

const outcomeOf = (result: RunResult): string[] => {
  if (result.outcome === "returned") return ["returned"];
  if (result.outcome === "killed") return [result.code];
  return [`threw:${result.error.name}`, `threw:${result.error.code}`];
};

let checker: ProgramChecker;
let sandbox: Sandbox;
beforeAll(async () => {
  [checker, sandbox] = await Promise.all([
    ProgramChecker.create({ declarations: ROBOT_API_DECLARATIONS, names: NAMES }),
    Sandbox.create({ quotas: QUOTAS }),
  ]);
}, 120_000);
afterAll(() => Promise.all([checker.close(), sandbox.close()]));

const run = (javascript: string, host: GuestHost, quotas: Partial<Quotas> = PATIENT_QUOTAS): Promise<RunResult> =>
  sandbox.run({ javascript, names: NAMES, statusNames: STATUS_NAMES, seed: 1, host, quotas });

describe("hostile programs", () => {
  it("are at least forty, and each says how it must end", () => {
    expect(FILES.length).toBeGreaterThanOrEqual(40);
    const known = new Set(["returned", ...Object.keys(KILL_CODES)]);
    for (const file of FILES) {
      const { expect: expected = "", stage } = readHeader(readFileSync(join(FOLDER, file), "utf8"));
      for (const code of expected.split(" ")) {
        const fits =
          stage === "check" ? /^TS\d+$/.test(code) || code in CHECK_CODES : known.has(code) || /^threw:\w+$/.test(code);
        expect(fits, `${file}: "${code}"`).toBe(true);
      }
    }
  });

  it.each(FILES)("%s", async (file) => {
    const source = readFileSync(join(FOLDER, file), "utf8");
    const header = readHeader(source);
    const expected = header.expect?.split(" ") ?? [];
    const checked = await checker.check(source, file);
    if (header.stage === "check") {
      if (checked.ok) throw new Error("it passed the check");
      expect(expected).toContain(checked.diagnostics[0]?.code);
      expect(checked.diagnostics[0]).toMatchObject({ file, line: expect.any(Number), column: expect.any(Number) });
      return;
    }
    if (!checked.ok) throw new Error(`it does not pass the check: ${JSON.stringify(checked.diagnostics)}`);

    // the process that the last program cost is replaced before the clock starts
    await run("", fakeHost().host);
    const { host, calls } = fakeHost();
    const started = performance.now();
    const result = await run(checked.javascript, host, expected.includes("cpu_quota") ? QUOTAS : PATIENT_QUOTAS);
    const took_ms = performance.now() - started;

    expect(
      outcomeOf(result).filter((code) => expected.includes(code)),
      JSON.stringify(result),
    ).not.toHaveLength(0);
    expect(took_ms).toBeLessThanOrEqual(LIMIT_MS);
    if (header.value !== undefined) expect(result).toMatchObject({ value: JSON.parse(header.value) });
    if (header.line !== undefined) expect(result).toMatchObject({ error: { line: JSON.parse(header.line) } });
    if (header.calls !== undefined) expect(calls).toHaveLength(Number(header.calls));
    if (header.no_argument !== undefined)
      expect(calls.map(({ args }) => args).join()).not.toContain(header.no_argument);
    if (header.printed !== undefined)
      expect(result.printed.map(({ text }) => text)).toContainEqual(expect.stringContaining(header.printed));
    for (const { args } of calls) expect(args).not.toContain("null");

    expect(await run("return [1, typeof robot];", fakeHost().host)).toMatchObject({
      outcome: "returned",
      value: [1, "object"],
    });
  });
});
