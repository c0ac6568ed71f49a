import { Socket } from "node:net";
import { createInterface } from "node:readline";
import { isSkill2RealError } from "../../src/contract/errors.js";

const EXIT_FAILED = 1;

/** Writes why to stderr, where the parent reads it as the last words, and ends the process. */
export function failBackend(error: unknown): never {
  const words = isSkill2RealError(error)
    ? error.message
    : error instanceof Error
      ? (error.stack ?? error.message)
      : String(error);
  process.stderr.write(`${words}\n`);
  process.exit(EXIT_FAILED);
}

/**
 * Reads the one line of JSON on descriptor 3 and begins. Its other end is the parent's: when that closes, or the parent is
 * gone in whatever way, `released` is called (default: the process ends at once).
 */
export function runOnLeash(
  begin: (bootstrap: unknown) => Promise<void>,
  released: () => void = () => process.exit(0),
): void {
  // A parent that is gone reads nothing: words to it are lost, and that is no defect of this process. Unheard, the error of one
  // such write would be reported by the next, and so on without end.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  const leash = new Socket({ fd: 3, readable: true, writable: false });
  let gone = false;
  const release = (): void => {
    if (!gone) released();
    gone = true;
  };
  leash.on("close", release);
  leash.on("end", release);
  leash.on("error", release);
  createInterface({ input: leash }).once("line", (line) => {
    try {
      begin(JSON.parse(line)).catch(failBackend);
    } catch (error) {
      failBackend(error);
    }
  });
}
