/** A place in the author's source; 1-based. */
export type SourcePlace = { line: number; column: number };

/** Text put before the author's source, on a line of its own; every line the interpreter names is one too high. */
export const PROGRAM_PREFIX = "(async () => {\n";
export const PROGRAM_SUFFIX = "\n})";

const MAX_FRAMES = 20;
const FRAME = /^\s*at (?:(.*) \()?(.*):(\d+):(\d+)\)?$/;

/**
 * Keeps the frames of `fileName` of an interpreter's stack, with the author's line numbers. Lines outside the source are dropped: a
 * program can write anything into its own `stack`.
 */
export function mapStack(
  stack: string,
  fileName: string,
  lineCount: number,
  errorName = "",
): { stack: string; place: SourcePlace | null } {
  let place: SourcePlace | null = null;
  const lines: string[] = [];
  for (const text of stack.split("\n")) {
    const match = FRAME.exec(text);
    if (match === null || match[2] !== fileName) continue;
    const line = Number(match[3]) - 1;
    const column = Number(match[4]);
    if (line < 1 || line > lineCount || column < 1) continue;
    // the constructor of the program's own error class is not where it was thrown
    if (match[1] === undefined || match[1] !== errorName) place ??= { line, column };
    const name = match[1] === undefined || match[1].startsWith("<") ? "" : `${match[1]} `;
    if (lines.length < MAX_FRAMES) lines.push(`at ${name}(${fileName}:${line}:${column})`);
  }
  return { stack: lines.join("\n"), place };
}
