import { randomBytes } from "node:crypto";
import { mkdir, open, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Lock } from "../config/lock/lock.js";
import { Skill2RealError } from "../contract/errors.js";

/** A new run's name: when it started and a random tail; nothing of what is played. */
export function newRunName(now = new Date()): string {
  const stamp = now.toISOString().replace(/[-:]/g, "").replace(/\..*$/, "").replace("T", "-");
  return `${stamp}-${randomBytes(3).toString("hex")}`;
}

/** The folder below that of runs which an agent host does not see: what names seeds or true state belongs there. */
export const evaluatorFolder = (runsFolder: string): string => join(runsFolder, "evaluator");

/** Where the lock of a run is: among the evaluator's files, for it names the task. */
export const lockPath = (runsFolder: string, run: string): string =>
  join(evaluatorFolder(runsFolder), "locks", `${run}.json`);

/** Keeps the identity of an episode; throws `storage_failed`. */
export const writeLock = (runsFolder: string, run: string, lock: Lock): Promise<string> =>
  writeOwnFile(lockPath(runsFolder, run), `${JSON.stringify(lock, null, 1)}\n`);

/** Writes a file of a run, for its owner alone; throws `storage_failed`. */
export const writeRunFile = (folder: string, run: string, name: string, content: string): Promise<string> =>
  writeOwnFile(join(folder, run, name), content);

/** Replaces a file, for its owner alone, in one step: it is on the disk whole, or as it was. Throws `storage_failed`. */
export async function writeOwnFile(path: string, content: string): Promise<string> {
  const beside = `${path}.part`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const file = await open(beside, "w", 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(beside, path);
    return path;
  } catch (cause) {
    throw new Skill2RealError(
      "storage_failed",
      `${path} cannot be written (${(cause as NodeJS.ErrnoException).code}): free space or make the folder writable`,
      { cause },
    );
  }
}
