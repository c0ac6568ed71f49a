/**
 * Line of each `section.key` in the text of a TOML file, counted from 1. Only where a key stands on a line of its own below its
 * section's head; a key of an inline table has no line here, and is told by its file alone.
 */
export function keyLines(text: string): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  let section = "";
  for (const [index, line] of text.split("\n").entries()) {
    const head = /^\s*\[\s*([\w-]+)\s*\]\s*(?:#.*)?$/.exec(line);
    if (head) section = head[1] ?? "";
    else if (/^\s*\[/.test(line)) section = "";
    const key = /^\s*([\w-]+)\s*=/.exec(line);
    if (key && section !== "") lines.set(`${section}.${key[1]}`, index + 1);
  }
  return lines;
}
