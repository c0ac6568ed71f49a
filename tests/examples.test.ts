import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packageFile } from "../src/contract/package-root.js";
import { missing } from "./support/missing.js";

const lacking = missing();
let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), "s2r-examples-"));
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

/** Runs an example as a person would, in a folder of its own. */
function run(
  example: string,
  ...args: string[]
): Promise<{ code: number | null; printed: string; complained: string }> {
  const child = spawn(process.execPath, [packageFile("examples", example), ...args], { cwd });
  const text = { printed: "", complained: "" };
  child.stdout.on("data", (chunk) => (text.printed += chunk));
  child.stderr.on("data", (chunk) => (text.complained += chunk));
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, ...text })));
}

const CASES: readonly (readonly [string, RegExp])[] = [
  ["01-look.mjs", /^measured: \d+ x \d+ x \d+ mm at x /m],
  ["02-pick.mjs", /^closing stalled, \d+\.\d mm open after the lift$/m],
  ["03-program.mjs", /^returned: \{"down":"ok","up":"ok"/m],
  ["04-episode.mjs", /^judged: success after /m],
];

describe.skipIf(lacking !== "")(`examples${lacking ? ` (missing: ${lacking})` : ""}`, () => {
  it("are all run here", () => {
    const files = readdirSync(packageFile("examples")).filter((name) => name.endsWith(".mjs"));
    expect(files.toSorted()).toEqual(CASES.map(([file]) => file));
  });

  it.each(CASES)(
    "%s runs to its end and prints what it should",
    async (file, line) => {
      const { code, printed, complained } = await run(file);
      expect(complained).toBe("");
      expect(printed).toMatch(line);
      expect(code).toBe(0);
    },
    180_000,
  );

  it("03-program.mjs refuses a program that does not pass the checks, with exit code 1", async () => {
    const { code, complained } = await run("03-program.mjs", packageFile("package.json"));
    expect(code).toBe(1);
    expect(complained).toMatch(/package\.json:\d+:\d+/);
  }, 60_000);
});
