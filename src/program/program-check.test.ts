import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CheckResult, formatDiagnostics } from "./diagnostic.js";
import { ProgramCheck } from "./program-check.js";

const declarations = `
interface Pose { x: number; y: number; z: number; qx: number; qy: number; qz: number; qw: number }
type GotoResult = { status: "ok"; message: string; error_m: number } | { status: "collision"; message: string };
interface RobotApi {
  goto_pose(request: { pose: Pose; arm?: string; speed?: number }): Promise<GotoResult>;
  goto_home(): Promise<GotoResult>;
  get_current_image_path(request: { view: "topdown" | "scene" }): Promise<string>;
}
declare const robot: Readonly<RobotApi>;
`;
const checker = new ProgramCheck({ declarations });
const check = (source: string): CheckResult => checker.check(source, "p.ts");
const codes = (source: string): string[] => {
  const result = check(source);
  return result.ok ? [] : result.diagnostics.map(({ line, column, code }) => `${line}:${column} ${code}`);
};
const first = (source: string) => {
  const result = check(source);
  if (result.ok) throw new Error("accepted");
  return result.diagnostics[0];
};

describe("what passes", () => {
  it.each([
    "return 1;",
    "",
    "// only a comment",
    "await sleep(0.5); console.log('a'); console.warn(1); console.error({});",
    "const r = await robot.goto_home(); if (r.status !== 'ok') return r.message; return r.error_m;",
    "const [a, b] = await Promise.all([robot.goto_home(), robot.goto_home()]); return [a.status, b.status];",
    "try { await robot.get_current_image_path({ view: 'scene' }); } catch (e) { if (e instanceof RobotError) return e.code; throw e; }",
    "function twice<T>(x: T): [T, T] { return [x, x]; }\nreturn twice<number>(2).map((n: number): number => n * 2);",
    "class P { #x = 1; readonly y: number; constructor(y: number) { this.y = y; } get x(): number { return this.#x; } } return new P(2).x;",
    "const eval_count = 1; const o = { eval: 1, Function: 2 }; return o.eval + o.Function + eval_count;",
    "type F = Function; const f: Function = () => 1; return typeof f;",
    "return Math.random() + Date.now();",
  ])("%j", (source) => {
    expect(check(source)).toMatchObject({ ok: true });
  });

  it("strips types and leaves every line and column where it was", () => {
    const lines = [
      "const n: number = 1;",
      "interface A { x: number }",
      "const f = <T,>(x: T): T => x as T;",
      "return f<number>(n)!;",
      "",
      "  // end",
    ];
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...lines.filter((line) => !line.startsWith("const"))), { maxLength: 8 }),
        (extra) => {
          const source = [...lines, ...extra].join("\n");
          const result = check(source);
          if (!result.ok) throw new Error(formatDiagnostics(result.diagnostics));
          expect(result.javascript.length).toBe(source.length);
          expect(result.javascript.split("\n").map((line) => line.length)).toEqual(
            source.split("\n").map((line) => line.length),
          );
          expect(result.javascript.indexOf("return")).toBe(source.indexOf("return"));
          expect(() => new Function(`(async () => {${result.javascript}\n})`)).not.toThrow();
        },
      ),
      { numRuns: 25 },
    );
  });

  it("warns of a call that nobody awaits", () => {
    const result = check("robot.goto_home();\nvoid robot.goto_home();\nawait robot.goto_home();\n  sleep(1);");
    expect(result.ok && result.warnings.map(({ line, column, code }) => `${line}:${column} ${code}`)).toEqual([
      "1:1 floating_promise",
      "4:3 floating_promise",
    ]);
  });
});

describe("what is refused, and where", () => {
  it.each([
    ["const a = 1;\n  a = 2;", ["2:3 TS2588"]],
    ["await robot.goto_home(", ["1:23 TS1135"]],
    ["await robot.goto_pose({ pose: { x: 1 } });", ["1:25 TS2740"]],
    ["const r = await robot.goto_home();\nreturn r.error_m;", ["2:10 TS2339"]],
    ["return process.env.HOME;", ["1:8 TS2591"]],
    ["require('node:fs');", ["1:1 TS2591"]],
    ["await fetch('http://localhost');", ["1:7 TS2304"]],
    ["globalThis.process;", ["1:12 TS7017"]],
    ["import fs from 'node:fs';", ["1:1 import_refused"]],
    ["const fs = await import('node:fs');", ["1:18 import_refused"]],
    ["export const x = 1;", ["1:1 import_refused"]],
    ["type S = import('node:fs').Stats;", ["1:10 import_refused"]],
    ["return eval('1');", ["1:8 global_refused"]],
    ["return new Function('return 1')();", ["1:12 global_refused"]],
    ["return globalThis.eval('1');", ["1:19 global_refused"]],
    ["return new Intl.NumberFormat().format(1);", ["1:12 global_refused"]],
    ["enum A { x }", ["1:6 unsupported_syntax"]],
    ["class C { constructor(private x: number) {} }", ["1:23 unsupported_syntax"]],
    ["// @ts-ignore\nrobot.fly();", ["2:7 TS2339"]],
    ["// @ts-nocheck\nrobot.fly();", ["2:7 TS2339"]],
    ["// @ts-expect-error\nrobot.fly();", ["2:7 TS2339"]],
    ["'x'.repeat(2).atob();", ["1:15 TS2339"]],
  ])("%j", (source, expected) => {
    expect(codes(source)).toEqual(expected);
  });

  it.each([
    "}); robot.goto_home(); (async () => {",
    "}, async () => {",
    "})(async () => {",
    "}), (async () => {",
    "} }",
  ])("does not let %j leave its function", (source) => {
    const result = check(source);
    expect(result.ok).toBe(false);
  });

  it("names the line and column of a brace that ends the program", () => {
    expect(first("const a = 1;\n}); (async () => {")).toMatchObject({ line: 2, column: 3, code: "unbalanced_braces" });
  });

  it("suggests the operation that was meant", () => {
    expect(first("await robot.goto_pos({} as never);")).toMatchObject({ suggestion: "goto_pose" });
    expect(first("await robot.goto_hoem();")).toMatchObject({ suggestion: "goto_home" });
    expect(first("await goto_home();")).toMatchObject({ suggestion: "robot.goto_home" });
    expect(first("await robot.get_current_image_path({ vieww: 'scene' });")).toMatchObject({ suggestion: "view" });
  });

  it("says what is in scope instead of how to install types", () => {
    expect(first("process.exit();")?.message).toBe(
      "Cannot find name 'process': robot, console, sleep and ES2022 are all there is.",
    );
  });

  it("prints like a compiler", () => {
    const result = check("const a: number = 'x';");
    expect(result.ok ? "" : formatDiagnostics(result.diagnostics)).toBe(
      "p.ts:1:7: Type 'string' is not assignable to type 'number'. (TS2322)",
    );
  });

  it("bounds the length of the source and the number of complaints", () => {
    expect(codes(`/*${"x".repeat(200_000)}*/`)).toEqual(["1:1 too_large"]);
    expect(codes("nope;\n".repeat(100))).toHaveLength(20);
  });

  it("reads no file, whatever a program names", () => {
    expect(codes("/// <reference path='/etc/passwd' />\nreturn 1;")).toEqual([]);
    expect(codes("/// <reference types='node' />\nreturn process;")).toEqual(["2:8 TS2591"]);
  });
});

describe("declarations", () => {
  it("are refused when they do not compile", () => {
    expect(() => new ProgramCheck({ declarations: "declare const robot: Missing;" })).toThrowError(
      /declarations for programs do not compile[\s\S]*Missing/,
    );
  });

  it("may declare the scope themselves", () => {
    const own = new ProgramCheck({
      declarations: `${declarations}\ndeclare const console: { log(...values: unknown[]): void };\ndeclare function sleep(seconds: number): Promise<void>;`,
    });
    expect(own.check("console.log(1); await sleep(1);", "p.ts").ok).toBe(true);
    expect(own.check("console.warn(1);", "p.ts").ok).toBe(false);
  });

  it("take suggestions from given names", () => {
    const named = new ProgramCheck({ declarations, names: ["goto_home", "point_at"] });
    const result = named.check("point_att();", "p.ts");
    expect(result.ok ? undefined : result.diagnostics[0]?.suggestion).toBe("robot.point_at");
  });
});
