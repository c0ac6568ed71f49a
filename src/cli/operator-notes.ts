import { join } from "node:path";
import { z } from "zod";
import type { OperatorAddress } from "../../backends/native/operator.js";
import { evaluatorFolder } from "../evaluation/run-folder.js";
import { leaveNote, liveNotes } from "./process-notes.js";

const noteSchema = z.strictObject({
  pid: z.number().int(),
  rig: z.string(),
  operator: z.strictObject({ address: z.string(), key: z.string() }),
});
export type OperatorNote = z.infer<typeof noteSchema>;

/** Below the evaluator's folder, which an agent host does not see. */
const folderOf = (runsFolder: string): string => join(evaluatorFolder(runsFolder), "operators");

/** Notes where a person's commands to a running native backend go, for another terminal. Gives what removes the note. */
export function noteOperator(runsFolder: string, rig: string, operator: OperatorAddress): () => void {
  const note: OperatorNote = { pid: process.pid, rig, operator };
  return leaveNote(folderOf(runsFolder), note);
}

/** Running native backends whose commands keep their runs in this folder; notes of dead processes are removed. */
export const liveOperators = (runsFolder: string): OperatorNote[] => liveNotes(folderOf(runsFolder), noteSchema);
