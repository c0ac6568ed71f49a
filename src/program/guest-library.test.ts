import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callbackHost } from "./callback-host.js";
import { PROGRAM_COMPILER_OPTIONS } from "./program-types.js";
import { ABSENT_GLOBALS } from "./refusals.js";
import { Sandbox } from "./sandbox.js";

/** Every global value that the library of programs declares, with the members of its type and of its prototype's type. */
function declaredLibrary(): { name: string; members: string[]; prototype: string[] }[] {
  const host = ts.createCompilerHost(PROGRAM_COMPILER_OPTIONS);
  const file = ts.createSourceFile("/empty.ts", "export {};", ts.ScriptTarget.ES2022);
  const getSourceFile = host.getSourceFile.bind(host);
  host.getSourceFile = (path, version) => (path === "/empty.ts" ? file : getSourceFile(path, version));
  const program = ts.createProgram({ rootNames: ["/empty.ts"], options: PROGRAM_COMPILER_OPTIONS, host });
  const checker = program.getTypeChecker();
  const named = (type: ts.Type): string[] =>
    type
      .getProperties()
      .filter((property) => (property.flags & ts.SymbolFlags.Optional) === 0 && !property.name.startsWith("__"))
      .map((property) => property.name);
  return checker
    .getSymbolsInScope(file, ts.SymbolFlags.Value)
    .filter((symbol) =>
      symbol.declarations?.some((declaration) => program.isSourceFileDefaultLibrary(declaration.getSourceFile())),
    )
    .map((symbol) => {
      const type = checker.getTypeOfSymbolAtLocation(symbol, file);
      const prototype = type.getProperty("prototype");
      return {
        name: symbol.name,
        members: named(type),
        prototype: prototype === undefined ? [] : named(checker.getTypeOfSymbolAtLocation(prototype, file)),
      };
    });
}

/** Own properties of each instance, which no prototype has. */
const OF_INSTANCES = ["Function.prototype.prototype", "RegExp.prototype.lastIndex", "AggregateError.prototype.errors"];
/** `RegExp.$1` and its kin, kept by browsers for pages of the nineties. */
const LEGACY = /^RegExp\.(\$.|input|lastMatch|lastParen|leftContext|rightContext)$/;

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await Sandbox.create();
});
afterAll(() => sandbox.close());

describe("the library that programs are checked against", () => {
  it("is there when they run, or refused by the check", async () => {
    const library = declaredLibrary();
    expect(library.length).toBeGreaterThan(50);
    const javascript = `
      const missing = [];
      for (const { name, members, prototype } of ${JSON.stringify(library)}) {
        if (!(name in globalThis)) { missing.push(name); continue; }
        const value = globalThis[name];
        if (value === null || (typeof value !== "object" && typeof value !== "function")) continue;
        for (const member of members) if (!(member in value)) missing.push(name + "." + member);
        for (const member of prototype) if (!(member in value.prototype)) missing.push(name + ".prototype." + member);
      }
      return missing;`;
    const result = await sandbox.run({ javascript, names: [], seed: 1, host: callbackHost({ onCall: () => null }) });
    if (result.outcome !== "returned") throw new Error(JSON.stringify(result));
    const missing = result.value as string[];
    const unexplained = missing.filter(
      (name) => !Object.hasOwn(ABSENT_GLOBALS, name) && !OF_INSTANCES.includes(name) && !LEGACY.test(name),
    );
    expect(unexplained).toEqual([]);
  });
});
