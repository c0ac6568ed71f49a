import { createInterface } from "node:readline/promises";
import { Skill2RealError } from "../contract/errors.js";

export type ConfirmOptions = {
  /** What will happen, and what the person has to have looked at; shown as it is. */
  warning: string;
  /** What must be typed, to the letter. */
  word: string;
  input?: NodeJS.ReadableStream & { isTTY?: boolean };
  output?: NodeJS.WritableStream;
};

/**
 * Asks the person at the terminal to type a word. Throws `usage` where there is no terminal, `stopped` where something else was
 * typed. There is no flag that answers for a person.
 */
export async function confirmTyped({
  warning,
  word,
  input = process.stdin,
  output = process.stderr,
}: ConfirmOptions): Promise<void> {
  if (input.isTTY !== true)
    throw new Skill2RealError(
      "usage",
      "this needs a person at a terminal, who types a word before anything moves: run it by hand",
    );
  const lines = createInterface({ input, output });
  try {
    const typed = await lines.question(`${warning}\nType "${word}" to go on, anything else to leave: `);
    if (typed.trim() !== word) throw new Skill2RealError("stopped", "not confirmed: nothing was moved");
  } finally {
    lines.close();
  }
}
