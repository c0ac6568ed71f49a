import ts from "typescript";

/** What a program sees beside the operations, where the caller's declarations do not declare it themselves. */
const SCOPE: Record<string, string> = {
  console:
    "declare const console: { log(...values: unknown[]): void; warn(...values: unknown[]): void; error(...values: unknown[]): void };",
  sleep:
    "/** Waits until `seconds` of device time have passed. */\ndeclare function sleep(seconds: number): Promise<void>;",
  RobotError:
    "/** What a failing operation throws. */\ndeclare class RobotError extends Error {\n  constructor(code: string, message: string);\n  readonly code: string;\n}",
};

/** Declarations of the scope's names that `declarations` lacks. */
export function missingScope(declarations: string): string {
  const source = ts.createSourceFile("declarations.d.ts", declarations, ts.ScriptTarget.ES2022);
  const declared = new Set<string>();
  for (const statement of source.statements) {
    if (ts.isVariableStatement(statement)) {
      for (const { name } of statement.declarationList.declarations) if (ts.isIdentifier(name)) declared.add(name.text);
    } else if (
      (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)) &&
      statement.name !== undefined
    ) {
      declared.add(statement.name.text);
    }
  }
  return Object.entries(SCOPE)
    .filter(([name]) => !declared.has(name))
    .map(([, text]) => text)
    .join("\n");
}

export const PROGRAM_COMPILER_OPTIONS: ts.CompilerOptions = {
  strict: true,
  noEmit: true,
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ES2022,
  // a script, not a module, would share its names with the declarations
  moduleDetection: ts.ModuleDetectionKind.Force,
  lib: ["lib.es2022.d.ts"],
  types: [],
  noUncheckedIndexedAccess: false,
  erasableSyntaxOnly: true,
  allowUnreachableCode: true,
  allowUnusedLabels: true,
  noErrorTruncation: false,
};
