import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ProgramChecker } from "./program-checker.js";

const declarations = "declare const robot: { goto_home(): Promise<{ status: 'ok' }> };";
let checker: ProgramChecker;
beforeAll(async () => {
  checker = await ProgramChecker.create({ declarations });
});
afterAll(() => checker.close());

describe("ProgramChecker", () => {
  it("checks in its thread, in order", async () => {
    const results = await Promise.all([
      checker.check("return 1 as number;"),
      checker.check("robot.goto_hme();", "b.ts"),
      checker.check("return 2;"),
    ]);
    expect(results).toMatchObject([
      { ok: true, javascript: "return 1          ;" },
      { ok: false, diagnostics: [{ file: "b.ts", line: 1, column: 7, suggestion: "goto_home" }] },
      { ok: true, javascript: "return 2;" },
    ]);
  });

  it("gives the newest program's result again, and checks anything else anew", async () => {
    const first = await checker.check("robot.goto_hme();", "a.ts");
    expect(await checker.check("robot.goto_hme();", "a.ts")).toBe(first);
    expect(await checker.check("robot.goto_hme();", "b.ts")).toMatchObject({ diagnostics: [{ file: "b.ts" }] });
    expect(await checker.check("robot.goto_home();", "b.ts")).toMatchObject({ ok: true });
  });

  it("gives up a check that takes too long, and checks the next program", async () => {
    const hasty = await ProgramChecker.create({ declarations, timeout_s: 1 });
    const lines = Array.from(
      { length: 1000 },
      (_, i) => `let a${i}: \`\${Four}${i}\` | 'q'; let b${i}: Four | 'q' = a${i}!;`,
    );
    const bomb = `type D = '0'|'1'|'2'|'3'|'4'|'5'|'6'|'7'; type Four = \`\${D}\${D}\${D}\${D}\`;\n${lines.join("\n")}`;
    expect(await hasty.check(bomb)).toMatchObject({
      ok: false,
      diagnostics: [{ code: "too_complex", line: 1, column: 1 }],
    });
    expect(await hasty.check("return 1;")).toMatchObject({ ok: true });
    await hasty.close();
  });

  it("refuses source that is nested too deep for the compiler", async () => {
    const deep = `return ${"(".repeat(30_000)}1${")".repeat(30_000)};`;
    expect(await checker.check(deep)).toMatchObject({ ok: false, diagnostics: [{ code: "too_complex" }] });
    expect(await checker.check("return 1;")).toMatchObject({ ok: true });
  });

  it("refuses declarations that do not compile", async () => {
    await expect(ProgramChecker.create({ declarations: "declare const robot: Nothing;" })).rejects.toMatchObject({
      code: "bad_argument",
    });
  });

  it("checks nothing once closed", async () => {
    const own = await ProgramChecker.create({ declarations });
    await own.close();
    await expect(own.check("return 1;")).rejects.toMatchObject({ code: "session_closed" });
  });
});
