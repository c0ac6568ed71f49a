import { spawn, spawnSync } from "node:child_process";
import { createWriteStream, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const TAIL_LINES = 25;

/** A failure with a message for the person at the keyboard: what failed and how to mend it. */
export class StepError extends Error {}

/** First line of what `command` prints, or null where it cannot be run. */
export function probe(command, args = []) {
  const result = spawnSync(command, args, { encoding: "utf8" });
  return result.error || result.status !== 0 ? null : (result.stdout || result.stderr).trim();
}

/**
 * Runs a command quietly: its output goes to build/logs/<name>.log, and the last lines are in the error when it fails.
 * With `show` the output is passed through instead.
 */
export function run(name, command, args, { cwd = ROOT, env = process.env, mend = "", show = false, ok = [0] } = {}) {
  const logPath = join(ROOT, "build", "logs", `${name}.log`);
  mkdirSync(dirname(logPath), { recursive: true });
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: show ? "inherit" : ["ignore", "pipe", "pipe"] });
    const tail = [];
    if (!show) {
      const log = createWriteStream(logPath);
      const take = (chunk) => {
        log.write(chunk);
        tail.push(...chunk.toString().split("\n").filter(Boolean));
        tail.splice(0, Math.max(0, tail.length - TAIL_LINES));
      };
      child.stdout.on("data", take);
      child.stderr.on("data", take);
      child.on("close", () => log.end());
    }
    child.on("error", (error) => reject(new StepError(`${command} cannot be run (${error.code}). ${mend}`)));
    child.on("close", (code, signal) => {
      if (ok.includes(code)) return resolve(code);
      const words = tail.length ? `\n    ${tail.join("\n    ")}\n  whole log: build/logs/${name}.log` : "";
      reject(
        new StepError(
          `"${command} ${args.join(" ")}" ended with ${signal ?? code}.${words}${mend ? `\n  mend: ${mend}` : ""}`,
        ),
      );
    });
  });
}
