import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import type { z } from "zod";
import type {
  JsonValue,
  OperationName,
  RobotApi,
  RobotApiRequests,
  RobotApiResults,
  StatusCode,
} from "./generated/robot-api.js";
import type { REQUEST_SCHEMAS, RESULT_SCHEMAS } from "./generated/robot-api-dispatch.js";
import type { StatusCodeName } from "./generated/status-codes.js";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Resolves intersections and aliases, which `Same` would tell apart. JsonValue is recursive and stays as it is. */
type Plain<T> = [T] extends [JsonValue] ? ([JsonValue] extends [T] ? "json" : Deep<T>) : Deep<T>;
type Deep<T> = T extends object ? { [K in keyof T]: Plain<T[K]> } : T;

type Requests = {
  [N in OperationName]: Same<Plain<z.output<(typeof REQUEST_SCHEMAS)[N]>>, Plain<RobotApiRequests[N]>>;
};
type RequestInputs = {
  [N in OperationName]: Same<Plain<z.input<(typeof REQUEST_SCHEMAS)[N]>>, Plain<RobotApiRequests[N]>>;
};
type Results = {
  [N in OperationName]: Same<Plain<z.output<(typeof RESULT_SCHEMAS)[N]>>, Plain<RobotApiResults[N]>>;
};
type Methods = {
  [N in OperationName]: RobotApi[N] extends (request: infer Request) => Promise<infer Result>
    ? Same<[NonNullable<Request>, Result], [RobotApiRequests[N], RobotApiResults[N]]>
    : false;
};

/** Compiles only where every member of T is `true`. */
const proven = <T extends Record<string, true>>(...names: (keyof T)[]): (keyof T)[] => names;

const PROOFS = [
  proven<Requests>(),
  proven<RequestInputs>(),
  proven<Results>(),
  proven<Methods>(),
  proven<{ codes: Same<StatusCode, StatusCodeName> }>(),
];

const HERE = fileURLToPath(import.meta.url);
const TYPES = fileURLToPath(new URL("./generated/robot-api.ts", import.meta.url));
const parsed = new Map<string, ts.SourceFile | undefined>();

/** The lines of this file that do not compile under the project's own options, with the generated types replaced. */
function errorLines(types: string): string[] {
  const config = fileURLToPath(new URL("../../tsconfig.json", import.meta.url));
  const { options } = ts.parseJsonConfigFileContent(ts.readConfigFile(config, ts.sys.readFile).config, ts.sys, ".");
  const host = ts.createCompilerHost({ ...options, noEmit: true });
  const read = host.getSourceFile.bind(host);
  host.getSourceFile = (name, language, ...rest) => {
    if (ts.sys.resolvePath(name) === TYPES) return ts.createSourceFile(name, types, language);
    if (!parsed.has(name)) parsed.set(name, read(name, language, ...rest));
    return parsed.get(name);
  };
  const program = ts.createProgram([HERE], { ...options, noEmit: true }, host);
  const file = program.getSourceFile(HERE);
  const lines = readFileSync(HERE, "utf8").split("\n");
  return program.getSemanticDiagnostics(file).map(({ start = 0 }) => {
    const line = file?.getLineAndCharacterOfPosition(start).line ?? -1;
    return lines[line]?.trim() ?? "";
  });
}

describe("what zod infers, the generated types and the methods of RobotApi", () => {
  it("agree", () => {
    expect(PROOFS).toHaveLength(5);
    expect(errorLines(readFileSync(TYPES, "utf8"))).toEqual([]);
  }, 120_000);

  it("are told apart when one of them changes", () => {
    let text = readFileSync(TYPES, "utf8");
    const changes: [string, string][] = [
      ["  speed?: number;", "  speed: number;"],
      ["  reached_index: number;", "  reached_index: number;\n  extra: number;"],
      ["goto_home(request?: GotoHomeRequest)", "goto_home(request?: RobotStateResult)"],
      ['  | "busy"', '  | "occupied"'],
    ];
    for (const [from, to] of changes) {
      expect(text).toContain(from);
      text = text.replaceAll(from, to);
    }
    const lines = errorLines(text);
    for (const proof of ["<Requests>", "<RequestInputs>", "<Results>", "<Methods>", "<{ codes"]) {
      expect(lines.filter((line) => line.startsWith(`proven${proof}`))).toHaveLength(1);
    }
  }, 120_000);
});
