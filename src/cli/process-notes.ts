import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { z } from "zod";

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Leaves a note of this process, for its owner alone. Gives what removes it. */
export function leaveNote(folder: string, note: { pid: number }): () => void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${note.pid}.json`);
  writeFileSync(path, JSON.stringify(note), { mode: 0o600 });
  return () => rmSync(path, { force: true });
}

/** The notes of processes that live; those of dead ones are removed, and what is half written or of another version with them. */
export function liveNotes<N extends { pid: number }>(folder: string, schema: z.ZodType<N>): N[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return [];
  }
  return names.flatMap((name) => {
    const path = join(folder, name);
    try {
      const note = schema.parse(JSON.parse(readFileSync(path, "utf8")));
      if (alive(note.pid)) return [note];
    } catch {
      // As good as none.
    }
    rmSync(path, { force: true });
    return [];
  });
}
