import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Skill2RealError } from "../contract/errors.js";

/** A new run's name: when it started and a random tail; nothing of what is played. */
export function newRunName(now = new Date()): string {
  const stamp = now.toISOString().replace(/[-:]/g, "").replace(/\..*$/, "").replace("T", "-");
  return `${stamp}-${randomBytes(3).toString("hex")}`;
}

/** The folder below that of runs which an agent host does not see: what names seeds or true state belongs there. */
export const evaluatorFolder = (runsFolder: string): string => join(runsFolder, "evaluator");

/** Writes a file of a run, for its owner alone; throws `storage_failed`. */
export async function writeRunFile(folder: string, run: string, name: string, content: string): Promise<string> {
  const path = join(folder, run, name);
  try {
    await writeFile(path, content, { mode: 0o600 });
    return path;
  } catch (cause) {
    throw new Skill2RealError(
      "storage_failed",
      `${path} cannot be written (${(cause as NodeJS.ErrnoException).code}): free space or make the folder writable`,
      { cause },
    );
  }
}
