import { blankSourceFile } from "ts-blank-space";
import ts from "typescript";
import { Skill2RealError } from "../contract/errors.js";
import { suggest } from "../contract/suggest.js";
import type { CheckCode, CheckResult, ProgramDiagnostic } from "./diagnostic.js";
import { PROGRAM_PREFIX, PROGRAM_SUFFIX } from "./guest-stack.js";
import { missingScope, PROGRAM_COMPILER_OPTIONS } from "./program-types.js";
import { findFloatingCalls, findRefusals } from "./refusals.js";

const PROGRAM = "/program.ts";
const DECLARATIONS = "/robot.d.ts";
const SCOPE = "/scope.d.ts";
/** Follows from an import, which is refused anyway. */
const MODULE_NOT_FOUND = [2307, 2792];
const NOT_ERASABLE = 1294;
const MAX_DIAGNOSTICS = 20;
const MAX_SOURCE_CHARS = 131_072;

export type ProgramCheckOptions = {
  /** Text of the `.d.ts` that programs are checked against; it declares `robot`. */
  declarations: string;
  /** Names on `robot`, for suggestions; by default those of its declared type. */
  names?: readonly string[];
};

/**
 * The checker itself, in this thread. It keeps the parsed library and declarations, so that one check costs the program's own
 * parsing and checking.
 */
export class ProgramCheck {
  readonly #files: Map<string, string>;
  readonly #sources = new Map<string, ts.SourceFile>();
  readonly #host: ts.CompilerHost;
  readonly #names: readonly string[];
  #program: ts.Program | undefined;

  /** @throws Skill2RealError `bad_argument` where the declarations themselves do not compile. */
  constructor(options: ProgramCheckOptions) {
    this.#files = new Map([
      [DECLARATIONS, options.declarations],
      [SCOPE, missingScope(options.declarations)],
      [PROGRAM, wrap("")],
    ]);
    this.#host = this.#createHost();
    const program = this.#compile("");
    const broken = [DECLARATIONS, SCOPE].flatMap((file) => {
      const source = program.getSourceFile(file);
      return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    });
    if (broken.length > 0) {
      const text = ts.formatDiagnostics(broken.slice(0, 5), {
        getCanonicalFileName: (f) => f,
        getCurrentDirectory: () => "/",
        getNewLine: () => "\n",
      });
      throw new Skill2RealError("bad_argument", `the declarations for programs do not compile:\n${text}`);
    }
    this.#names = options.names ?? robotNames(program);
  }

  check(source: string, fileName: string): CheckResult {
    const at = (line: number, column: number, code: CheckCode, message: string): CheckResult => ({
      ok: false,
      diagnostics: [{ file: fileName, line, column, code, message }],
    });
    if (source.length > MAX_SOURCE_CHARS) {
      return at(
        1,
        1,
        "too_large",
        `the program has ${source.length} characters; at most ${MAX_SOURCE_CHARS} are accepted`,
      );
    }
    const program = this.#compile(source);
    const file = program.getSourceFile(PROGRAM);
    if (file === undefined) throw new Skill2RealError("internal", "the compiler lost the program");
    const place = placer(file, source);
    const own = (start: number, code: CheckCode, message: string): ProgramDiagnostic => ({
      file: fileName,
      ...place(start),
      code,
      message,
    });

    const syntax = program
      .getSyntacticDiagnostics(file)
      .map((diagnostic) => this.#translate(diagnostic, fileName, place));
    if (syntax.length > 0) return { ok: false, diagnostics: tidy(syntax) };
    const stray = strayEnd(file);
    if (stray !== undefined) {
      return {
        ok: false,
        diagnostics: [
          own(stray, "unbalanced_braces", "a closing brace or parenthesis here ends the program's own function"),
        ],
      };
    }
    const refused = findRefusals(file, program).map(({ start, code, message }) => own(start, code, message));
    const semantic = program
      .getSemanticDiagnostics(file)
      .filter(({ code }) => !MODULE_NOT_FOUND.includes(code))
      .map((diagnostic) => this.#translate(diagnostic, fileName, place));
    // one complaint per place, ours first: it says why
    const diagnostics = tidy([...refused, ...semantic]);
    if (diagnostics.length > 0) return { ok: false, diagnostics };

    const unsupported: ProgramDiagnostic[] = [];
    const blanked = blankSourceFile(file, (node) => {
      unsupported.push(
        own(
          node.getStart(file),
          "unsupported_syntax",
          "this syntax is more than types: write plain JavaScript with types",
        ),
      );
    });
    if (unsupported.length > 0) return { ok: false, diagnostics: tidy(unsupported) };
    return {
      ok: true,
      javascript: blanked.slice(PROGRAM_PREFIX.length, blanked.length - PROGRAM_SUFFIX.length),
      warnings: findFloatingCalls(file).map(({ start, code, message }) => own(start, code, message)),
    };
  }

  #compile(source: string): ts.Program {
    this.#files.set(PROGRAM, wrap(source));
    this.#sources.delete(PROGRAM);
    this.#program = ts.createProgram({
      rootNames: [DECLARATIONS, SCOPE, PROGRAM],
      options: PROGRAM_COMPILER_OPTIONS,
      host: this.#host,
      ...(this.#program === undefined ? {} : { oldProgram: this.#program }),
    });
    return this.#program;
  }

  #createHost(): ts.CompilerHost {
    const system = ts.createCompilerHost(PROGRAM_COMPILER_OPTIONS);
    const library = ts.getDefaultLibFilePath(PROGRAM_COMPILER_OPTIONS).replace(/[^\\/]*$/, "");
    const text = (path: string): string | undefined =>
      this.#files.get(path) ?? (path.startsWith(library) ? system.readFile(path) : undefined);
    return {
      ...system,
      getDefaultLibLocation: () => library,
      getCurrentDirectory: () => "/",
      // a program names no files: nothing but the library and what was given exists
      fileExists: (path) => text(path) !== undefined,
      readFile: text,
      directoryExists: () => false,
      getDirectories: () => [],
      writeFile: () => {},
      getSourceFile: (path, languageVersion) => {
        const known = this.#sources.get(path);
        if (known !== undefined) return known;
        const content = text(path);
        if (content === undefined) return undefined;
        const source = ts.createSourceFile(path, content, languageVersion, true);
        if (path === PROGRAM) ignoreSuppressions(source);
        this.#sources.set(path, source);
        return source;
      },
    };
  }

  #translate(diagnostic: ts.Diagnostic, file: string, place: Placer): ProgramDiagnostic {
    if (diagnostic.code === NOT_ERASABLE) {
      const message = "enum, namespace and parameter properties are refused: write plain JavaScript with types";
      return { file, ...place(diagnostic.start ?? 0), code: "unsupported_syntax", message };
    }
    let message = ts.flattenDiagnosticMessageText(diagnostic.messageText, "\n");
    let suggestion = /Did you mean (?:the instance member |the static member |to write )?'([^']+)'\?/.exec(
      message,
    )?.[1];
    const unknown = /^Cannot find name '([^']+)'/.exec(message)?.[1];
    if (unknown !== undefined) {
      // the compiler's advice to install types or change libraries does not hold here
      message = `Cannot find name '${unknown}': robot, console, sleep and ES2022 are all there is.`;
      const operation = this.#names.includes(unknown)
        ? unknown
        : suggestion === undefined
          ? nearest(unknown, this.#names)
          : undefined;
      if (operation !== undefined) suggestion = `robot.${operation}`;
    } else if (suggestion === undefined) {
      const missing = /^Property '([^']+)' does not exist on type/.exec(message)?.[1];
      if (missing !== undefined && precededByRobot(diagnostic)) suggestion = nearest(missing, this.#names);
    }
    return {
      file,
      ...place(diagnostic.start ?? 0),
      code: `TS${diagnostic.code}`,
      message,
      ...(suggestion === undefined ? {} : { suggestion }),
    };
  }
}

type Placer = (start: number) => { line: number; column: number };

const wrap = (source: string): string => PROGRAM_PREFIX + source + PROGRAM_SUFFIX;

function placer(file: ts.SourceFile, source: string): Placer {
  const first = PROGRAM_PREFIX.length;
  return (start) => {
    // what the compiler sees before or after the source is reported at its edge
    const { line, character } = file.getLineAndCharacterOfPosition(
      Math.min(Math.max(start, first), first + source.length),
    );
    return { line, column: character + 1 };
  };
}

/** Where the source left the function that it is the body of, or undefined where it did not. */
function strayEnd(file: ts.SourceFile): number | undefined {
  const [statement, next] = file.statements;
  if (next !== undefined) return next.getFullStart() - 1;
  if (statement === undefined || !ts.isExpressionStatement(statement)) return file.getEnd();
  const { expression } = statement;
  const whole =
    ts.isParenthesizedExpression(expression) &&
    ts.isArrowFunction(expression.expression) &&
    expression.getEnd() === file.getEnd();
  if (whole) return undefined;
  let stray: number | undefined;
  const visit = (node: ts.Node): void => {
    if (stray === undefined && ts.isArrowFunction(node) && node.getStart(file) === 1) stray = node.getEnd() - 1;
    else ts.forEachChild(node, visit);
  };
  visit(file);
  return stray ?? file.getEnd();
}

/** `@ts-ignore` and its kin hide errors; a program has no use for that. */
function ignoreSuppressions(source: ts.SourceFile): void {
  (source as ts.SourceFile & { commentDirectives?: unknown }).commentDirectives = undefined;
}

function tidy(diagnostics: ProgramDiagnostic[]): ProgramDiagnostic[] {
  const seen = new Set<string>();
  return diagnostics
    .filter(({ line, column }) => {
      const key = `${line}:${column}`;
      return !seen.has(key) && seen.add(key) !== undefined;
    })
    .sort((a, b) => a.line - b.line || a.column - b.column)
    .slice(0, MAX_DIAGNOSTICS);
}

function nearest(name: string, known: readonly string[]): string | undefined {
  return /"(.*)"/.exec(suggest(name, known))?.[1];
}

function precededByRobot({ file, start }: ts.Diagnostic): boolean {
  return (
    file !== undefined &&
    start !== undefined &&
    /\brobot\s*\??\.\s*$/.test(file.text.slice(Math.max(0, start - 20), start))
  );
}

function robotNames(program: ts.Program): string[] {
  const file = program.getSourceFile(PROGRAM);
  if (file === undefined) return [];
  const checker = program.getTypeChecker();
  const robot = checker.getSymbolsInScope(file, ts.SymbolFlags.Value).find((symbol) => symbol.name === "robot");
  if (robot === undefined) return [];
  return checker
    .getTypeOfSymbolAtLocation(robot, file)
    .getProperties()
    .map((property) => property.name);
}
