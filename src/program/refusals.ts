import ts from "typescript";
import type { CheckCode } from "./diagnostic.js";

export type Finding = { start: number; code: CheckCode; message: string };

/** Declared by the library of ES2022, absent in the guest or switched off there. */
export const ABSENT_GLOBALS: Record<string, string> = {
  eval: "code from strings cannot be checked",
  Function: "code from strings cannot be checked",
  Intl: "the guest has no locales",
  Atomics: "the guest has no threads",
  SharedArrayBuffer: "the guest has no threads",
};
const ALONE = "a program stands alone; robot, console, sleep and ES2022 are all there is";

/** What the compiler would accept but a program may not hold. */
export function findRefusals(source: ts.SourceFile, program: ts.Program): Finding[] {
  const checker = program.getTypeChecker();
  const found: Finding[] = [];
  const add = (node: ts.Node, code: CheckCode, message: string): void => {
    found.push({ start: node.getStart(source), code, message });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isImportEqualsDeclaration(node))
      add(node, "import_refused", `import is refused: ${ALONE}`);
    else if (ts.isExportDeclaration(node) || ts.isExportAssignment(node) || node.kind === ts.SyntaxKind.ExportKeyword) {
      add(node, "import_refused", `export is refused: ${ALONE}`);
    } else if (node.kind === ts.SyntaxKind.ImportKeyword && ts.isCallExpression(node.parent))
      add(node, "import_refused", `import() is refused: ${ALONE}`);
    else if (ts.isMetaProperty(node) && node.keywordToken === ts.SyntaxKind.ImportKeyword)
      add(node, "import_refused", `import.meta is refused: ${ALONE}`);
    else if (ts.isImportTypeNode(node)) add(node, "import_refused", `import types are refused: ${ALONE}`);
    else if (
      ts.isIdentifier(node) &&
      Object.hasOwn(ABSENT_GLOBALS, node.text) &&
      isGlobalValue(node, program, checker)
    ) {
      add(node, "global_refused", `${node.text} is not available: ${ABSENT_GLOBALS[node.text]}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Robot calls whose promise nobody looks at. */
export function findFloatingCalls(source: ts.SourceFile): Finding[] {
  const found: Finding[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isExpressionStatement(node) && ts.isCallExpression(node.expression)) {
      const callee = node.expression.expression;
      const on_robot =
        ts.isPropertyAccessExpression(callee) &&
        ts.isIdentifier(callee.expression) &&
        callee.expression.text === "robot";
      if (on_robot || (ts.isIdentifier(callee) && callee.text === "sleep")) {
        const effect = on_robot
          ? "returning while it is in flight stops it (unawaited_calls)"
          : "the program runs on at once";
        const message = `${callee.getText(source)}(…) is not awaited; ${effect}`;
        found.push({ start: node.getStart(source), code: "floating_promise", message });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** True for a use of the library's global as a value; a name of the program's own, a property or a type is none. */
function isGlobalValue(node: ts.Identifier, program: ts.Program, checker: ts.TypeChecker): boolean {
  const { parent } = node;
  if (ts.isTypeReferenceNode(parent) || ts.isQualifiedName(parent)) return false;
  if (ts.isPropertyAssignment(parent) && parent.name === node) return false;
  if (ts.isPropertyAccessExpression(parent) && parent.name === node && !isGlobalThis(parent.expression)) return false;
  const declarations = checker.getSymbolAtLocation(node)?.declarations ?? [];
  return declarations.some((declaration) => program.isSourceFileDefaultLibrary(declaration.getSourceFile()));
}

const isGlobalThis = (node: ts.Expression): boolean => ts.isIdentifier(node) && node.text === "globalThis";
