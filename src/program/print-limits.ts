/** What a printed line costs beyond its characters, so that empty lines are bounded too. */
export const PRINT_LINE_OVERHEAD = 32;
/** Characters of one printed line; what is longer is cut, saying so. */
export const MAX_LINE_CHARS = 8_000;

/** Shows terminal escapes and other control characters, except tab and newline, instead of passing them on. */
export function escapeControls(text: string): string {
  let out = "";
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    const plain =
      code === 9 || code === 10 || (code >= 32 && code < 127) || (code >= 160 && code !== 0x2028 && code !== 0x2029);
    out += plain ? char : `\\u${code.toString(16).padStart(4, "0")}`;
  }
  return out;
}
