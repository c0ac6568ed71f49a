/** One thing wrong with a program; line and column are 1-based and those of the author's source. */
export type ProgramDiagnostic = {
  file: string;
  line: number;
  column: number;
  /** `TS` and the compiler's number, or one of `CHECK_CODES`. */
  code: string;
  message: string;
  /** A name to use instead. */
  suggestion?: string;
};

/** Diagnostics that are not the compiler's, each with what it means. */
export const CHECK_CODES = {
  import_refused: "A program stands alone: no import, export, require or import.meta.",
  global_refused: "A global that the language's library declares but the guest does not have.",
  unbalanced_braces: "A closing brace that would end the program's own function.",
  unsupported_syntax: "Syntax that is more than types on top of JavaScript (enum, namespace, parameter property).",
  too_large: "The source is longer than the limit.",
  too_complex: "The check needed more time or memory than it may, or the source is nested too deep.",
  floating_promise: "A call's promise is not awaited (a warning: the program may mean it).",
} as const;

export type CheckCode = keyof typeof CHECK_CODES;

/** `javascript` is the function body with the types blanked out: every line and column is the source's. */
export type CheckResult =
  | { ok: true; javascript: string; warnings: ProgramDiagnostic[] }
  | { ok: false; diagnostics: ProgramDiagnostic[] };

/** `file:line:column: message` lines, as compilers print them. */
export function formatDiagnostics(diagnostics: readonly ProgramDiagnostic[]): string {
  return diagnostics
    .map(({ file, line, column, code, message, suggestion }) => {
      const hint = suggestion === undefined || message.includes(suggestion) ? "" : ` Did you mean ${suggestion}?`;
      return `${file}:${line}:${column}: ${message}${hint} (${code})`;
    })
    .join("\n");
}
