import { spawn } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { type HostIsolation, hostCommand } from "../../src/agents/host/host-isolation.js";
import type { StageRecord } from "../../src/agents/proposer.js";
import type { EpisodeResult } from "../../src/evaluation/episode-result.js";
import { PrivilegedClient } from "../../src/evaluation/privileged-client.js";
import { CommandLine } from "../support/command-line.js";
import { commandOf, descendants, until } from "../support/processes.js";
import { numberNeedles, tokenNeedles, veiled } from "../support/veiled.js";
import { type Snooped, type Sought, snoop } from "./snooping/index.js";

const TIMEOUT_MS = 120_000;
const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "s2r-test-"));
  endings.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A seed that lies about nowhere by chance: near the largest one that the protocol takes. */
const unlikelySeed = (): number => 2 ** 52 + 2 * randomInt(2 ** 47) + 1;

/** Makes the evaluator's token one that this test knows: `--import` of it comes before anything asks for one. */
const tokenModule = (token: Uint8Array): string => `
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
const random = crypto.randomBytes;
const token = Buffer.from("${veiled(token)}", "hex").map((byte) => byte ^ 0xa5);
crypto.randomBytes = (size, ...rest) => (size === 32 && rest.length === 0 ? Buffer.from(token) : random(size, ...rest));
syncBuiltinESMExports();
`;

let isolation: HostIsolation;
beforeAll(async () => {
  const empty = mkdtempSync(join(tmpdir(), "s2r-test-"));
  ({ isolation } = await hostCommand([process.execPath], empty));
  rmSync(empty, { recursive: true });
});

describe("the search", () => {
  it(
    "finds what is planted: in arguments, environments, open and lying files, file names and memory",
    async () => {
      const place = folder();
      const seed = unlikelySeed();
      const token = randomBytes(32);
      // A file that has no name any more, which only an open descriptor leads to.
      const gone = join(place, "gone");
      writeFileSync(gone, `seed = ${seed}`);
      const fd = openSync(gone, "r");
      rmSync(gone);
      mkdirSync(join(place, "runs", "a"), { recursive: true });
      writeFileSync(join(place, "runs", "a", "notes.json"), JSON.stringify({ seed }));
      writeFileSync(join(place, "runs", token.toString("hex")), "");
      const idle = ["-e", "setInterval(() => {}, 1000)"];
      const sibling = spawn(process.execPath, [...idle, "--", "--seed", String(seed)], {
        stdio: ["ignore", "ignore", "ignore", fd],
        env: { ...process.env, THE_TOKEN: token.toString("hex") },
      });
      endings.push(() => sibling.kill("SIGKILL"));
      await until("the sibling", () => commandOf(sibling.pid!).includes(String(seed)));
      const kept = [token, { seed }];

      const needles = { ...numberNeedles("seed", seed), ...tokenNeedles(token) };
      const { found } = await snoop({ needles, folders: [place], memory: "own" });
      expect(kept.length).toBe(2);
      for (const expected of [
        `/proc/${sibling.pid}/cmdline: seed as text`,
        `/proc/${sibling.pid}/environ: token as text`,
        `/proc/${sibling.pid}/fd/3: seed as text`,
        `${join(place, "runs", "a", "notes.json")}: seed as text`,
        `${join(place, "runs", token.toString("hex"))}: token as text`,
        `/proc/${process.pid}/mem: seed as text`,
        `/proc/${process.pid}/mem: seed as a double`,
        `/proc/${process.pid}/mem: token as bytes`,
      ])
        expect(found).toContain(expected);
    },
    TIMEOUT_MS,
  );
});

describe("a user's skill that searches everything that it can reach", () => {
  it(
    "finds neither the seed nor the privileged token",
    async (test) => {
      const place = folder();
      const seed = unlikelySeed();
      const token = randomBytes(32);
      cpSync(fileURLToPath(new URL("./snooping", import.meta.url)), join(place, "skills", "snooping"), {
        recursive: true,
      });
      writeFileSync(join(place, "skill2real.toml"), `[skills]\npaths = ["${join(place, "skills")}"]\n`);
      writeFileSync(join(place, "known-token.mjs"), tokenModule(token));
      const request: Sought = {
        needles: { ...numberNeedles("seed", seed), ...tokenNeedles(token) },
        folders: [place],
        // Where processes cannot be kept apart, every process of a user reads every other's memory: that is documented.
        memory: isolation.processes === "own" ? "all" : "own",
      };
      const runs = join(place, "runs");
      const script = join(place, "snoop.ts");
      writeFileSync(
        script,
        `const before = await robot.get_robot_state({});\nconst found = await robot.snoop(${JSON.stringify(request)});\nreturn { before: before.status, found };\n`,
      );
      // What an earlier run of the same seed left with the evaluator.
      if (isolation.evaluatorFolder === "hidden") {
        mkdirSync(join(runs, "evaluator"), { recursive: true });
        writeFileSync(join(runs, "evaluator", "earlier.json"), JSON.stringify({ seed }));
      }
      const run = ["run", "--task", "r1", "--seed", String(seed), "--config", join(place, "skill2real.toml")];
      const command = new CommandLine([...run, "--runs", runs, "--proposer", `script:${script}`, "--json"], {
        node: ["--import", pathToFileURL(join(place, "known-token.mjs")).href],
        // As below npm: a parent whose arguments nobody can take back. Where it cannot be hidden, there is none.
        shell: isolation.processes === "own",
        cwd: place,
      });
      endings.push(() => command.kill("SIGKILL"));

      const own = await until(
        "its processes",
        () => {
          const pids =
            isolation.processes === "own" ? descendants(command.pid) : [command.pid, ...descendants(command.pid)];
          return pids.some((pid) => commandOf(pid).includes("agent-host-main.js")) ? pids : null;
        },
        60_000,
      );
      // The token that is looked for is the one that opens the privileged plane.
      const address = (await command.addresses()).device.replace(/device$/, "privileged");
      (await PrivilegedClient.connect({ address, token })).close();
      // Whatever is around them: none of our own processes tells the seed by its arguments.
      expect(own.map(commandOf).filter((line) => line.includes(String(seed)))).toEqual([]);

      await command.ended;
      const result = JSON.parse(command.stdout) as EpisodeResult;
      expect(result.seed).toBe(seed); // it was played with this seed, and the caller is told
      const stages = JSON.parse(readFileSync(join(runs, result.run, "stages.json"), "utf8")) as StageRecord[];
      const end = stages.at(-1)!.end;
      if (end.kind !== "returned") throw new Error(`the program did not end well: ${JSON.stringify(end)}`);
      const { before, found } = end.working_state as { before: string; found: Snooped & { status: string } };
      expect(before).toBe("ok");
      expect(found.status).toBe("ok");
      expect(found.found).toEqual([]);
      // It did look: at processes, at files of the run, and at memory by the megabyte.
      expect(found.processes).toBeGreaterThanOrEqual(2);
      expect(found.files).toBeGreaterThan(3);
      expect(found.memory_bytes).toBeGreaterThan(20 << 20);
      if (isolation.notes.length > 0) test.annotate(isolation.notes.join("; "));
    },
    TIMEOUT_MS,
  );
});
