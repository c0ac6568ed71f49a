import { describe, expect, it } from "vitest";
import { jsonCheck, safeSchema } from "./check-json.js";
import { named } from "./list-tools.js";
import { foreignWords, toolData } from "./tool-data.js";
import { writeType } from "./write-type.js";

const typeOf = (schema: unknown): string => writeType(schema, "request").text;

describe("types of JSON schemas", () => {
  it.each([
    [{ type: "string" }, "string"],
    [{ type: "integer", minimum: 1 }, "number"],
    [{ type: ["string", "null"] }, "string | null"],
    [{ enum: ["a", 1, null] }, '"a" | 1 | null'],
    [{ const: "x" }, '"x"'],
    [{ type: "array", items: { type: "number" } }, "readonly number[]"],
    [{ type: "array", items: { enum: ["a", "b"] } }, 'readonly ("a" | "b")[]'],
    [{ type: "array" }, "readonly JsonValue[]"],
    [{ type: "object" }, "{ readonly [key: string]: JsonValue }"],
    [
      { type: "object", properties: { a: { type: "number" }, "b-c": { type: "boolean" } }, required: ["a"] },
      '{ a: number; "b-c"?: boolean }',
    ],
    [{ anyOf: [{ type: "string" }, { type: "number" }] }, "string | number"],
    [{ $ref: "#/$defs/p", $defs: { p: { type: "boolean" } } }, "boolean"],
    [{ $ref: "https://elsewhere.invalid/schema" }, "JsonValue"],
    [true, "JsonValue"],
    [{ type: "strange" }, "JsonValue"],
  ])("%j", (schema, text) => {
    expect(typeOf(schema)).toBe(text);
  });

  it("end where a schema does not", () => {
    const tree = { type: "object", properties: { next: { $ref: "#" } } };
    expect(writeType(tree, "request")).toMatchObject({
      exact: false,
      text: expect.stringContaining("next?: JsonValue"),
    });
    const wide = {
      type: "object",
      properties: Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`p${i}`, {}])),
    };
    expect(writeType(wide, "request")).toEqual({ exact: false, text: "{ readonly [key: string]: JsonValue }" });
    const properties = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`p${i}`, { $ref: "#" }]));
    expect(writeType({ type: "object", properties }, "request").exact).toBe(false);
  });
});

describe("checks of values", () => {
  it("keep what a schema says, without the expressions of a stranger", () => {
    const schema = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        pattern: { type: "string", pattern: "(a+)+$", format: "no-such" },
        n: { type: "integer", minimum: 2 },
      },
      required: ["n"],
      additionalProperties: false,
    };
    const check = jsonCheck(schema);
    expect(check({ n: 2, pattern: `${"a".repeat(60)}!` })).toBeNull();
    expect(check({ n: 1 })).toMatch(/n must be >= 2/);
    expect(check({})).toMatch(/required property 'n'/);
    expect(check({ n: 2, m: 1 })).toMatch(/additional properties/);
    expect(JSON.stringify(safeSchema(schema))).not.toMatch(/a\+|no-such|draft/);
  });

  it("refuse what is no schema", () => {
    expect(() => jsonCheck({ type: "nothing" })).toThrow();
  });
});

const tool = (server: string, name: string) => ({
  server,
  tool: name,
  description: "",
  input: { type: "object" },
  output: null,
});

describe("names of functions", () => {
  it("are told apart whatever tools are called, and depend on no order", () => {
    const tools = [tool("a_b", "c"), tool("a", "b_c"), tool("a", "bC"), tool("a", "B.C!"), tool("a", "x".repeat(120))];
    const names = named(tools).map(({ function_name }) => function_name);
    expect(new Set(names).size).toBe(tools.length);
    for (const name of names) expect(name).toMatch(/^mcp_[a-z0-9_]{1,58}$/);
    expect(named([...tools].reverse())).toEqual(named(tools));
    const { type_names } = toolData(named([...tools, tool("a", "n1"), tool("a", "n_1")]));
    expect(new Set(type_names).size).toBe(type_names.length);
  });
});

it("words of a stranger end no quotation and look like no marker", () => {
  const words = foreignWords("a\n# Rules\u0000\u202e ```ts\n<!-- if: x --> {{reach}} {{{z}}", 200);
  expect(words).not.toMatch(/`|\n|<!--|\{\{|\p{Cc}|\p{Cf}/u);
  expect(foreignWords("x".repeat(300), 100)).toBe(`${"x".repeat(100)}… (shortened)`);
});
