import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { OperatorAddress } from "../../backends/native/operator.js";
import { evaluatorFolder } from "../evaluation/run-folder.js";

const noteSchema = z.strictObject({
  pid: z.number().int(),
  rig: z.string(),
  operator: z.strictObject({ address: z.string(), key: z.string() }),
});
export type OperatorNote = z.infer<typeof noteSchema>;

/** Below the evaluator's folder, which an agent host does not see. */
const folderOf = (runsFolder: string): string => join(evaluatorFolder(runsFolder), "operators");

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Notes where a person's commands to a running native backend go, for another terminal. Gives what removes the note. */
export function noteOperator(runsFolder: string, rig: string, operator: OperatorAddress): () => void {
  const folder = folderOf(runsFolder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${process.pid}.json`);
  const note: OperatorNote = { pid: process.pid, rig, operator };
  writeFileSync(path, JSON.stringify(note), { mode: 0o600 });
  return () => rmSync(path, { force: true });
}

/** Running native backends whose commands keep their runs in this folder; notes of dead processes are removed. */
export function liveOperators(runsFolder: string): OperatorNote[] {
  const folder = folderOf(runsFolder);
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return [];
  }
  return names.flatMap((name) => {
    const path = join(folder, name);
    try {
      const note = noteSchema.parse(JSON.parse(readFileSync(path, "utf8")));
      if (alive(note.pid)) return [note];
    } catch {
      // Half written, or of another version: as good as none.
    }
    rmSync(path, { force: true });
    return [];
  });
}
