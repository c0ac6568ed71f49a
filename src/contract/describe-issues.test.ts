import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { describeIssues, showValue } from "./describe-issues.js";
import { isJsonValue } from "./schema-rules.js";

const told = (schema: z.ZodType, value: unknown): string => {
  const parsed = schema.safeParse(value);
  if (parsed.success) throw new Error("accepted");
  return describeIssues(schema, value, parsed.error.issues, "it");
};

describe("describeIssues", () => {
  it.each<[schema: z.ZodType, value: unknown, message: string]>([
    [z.number().gt(0), 0, "it is 0; it must be a finite number, above 0."],
    [z.number().max(5), 6, "it is 6; it must be a finite number, at most 5."],
    [z.number().gte(0).lt(1), 1, "it is 1; it must be a finite number, at least 0 and below 1."],
    [z.uint32(), -1, "it is -1; it must be a whole number, at least 0."],
    [z.int().min(1).max(3), 1.5, "it is 1.5; it must be a whole number from 1 to 3."],
    [z.string().length(3), "ab", 'it is "ab"; it must be a string of exactly 3 characters.'],
    [z.string().max(2), "abc", 'it is "abc"; it must be a string of at most 2 characters.'],
    [z.boolean(), "yes", 'it is "yes"; it must be true or false.'],
    [z.literal("a"), "b", 'it is "b"; it must be "a".'],
    [z.array(z.number()).min(1), [], "it is []; it must be a list of at least 1 elements."],
    [z.array(z.number()), ["1"], '[0] is "1"; it must be a finite number.'],
    [z.record(z.string(), z.number()), { a: "1" }, 'a is "1"; it must be a finite number.'],
    [
      z.strictObject({ a: z.strictObject({ bright: z.number().optional() }) }),
      { a: { brigt: 1 } },
      'a has an unknown key "brigt". Did you mean "bright"?',
    ],
    [
      z.strictObject({ near: z.number().optional() }),
      { zzzzzz: 1 },
      'it has an unknown key "zzzzzz". Known keys: near.',
    ],
    [z.strictObject({}), { a: 1 }, 'it has an unknown key "a". It takes none.'],
    [
      z.strictObject({ a: z.number(), b: z.number() }),
      {},
      "a is missing; it must be a finite number. (and 1 more problem)",
    ],
    [z.lazy(() => z.strictObject({ a: z.number().default(1) })), { a: null }, "a is null; it must be a finite number."],
    [
      z.strictObject({ a: z.number().nullable().optional() }),
      { a: "1" },
      'a is "1"; it must be a finite number, or null.',
    ],
    [z.union([z.number(), z.boolean()]), "x", 'it is "x"; it must be a finite number, or true or false.'],
  ])("%#", (schema, value, message) => {
    expect(told(schema, value)).toBe(message);
  });

  it("shows values in short", () => {
    expect(showValue("x".repeat(1000))).toHaveLength(60 + '…" (1000 characters)'.length);
    expect(showValue([1, 2, 3])).toBe("[1, 2, 3]");
    expect(showValue([{}])).toBe("a list of 1 element");
    expect(showValue(new Array(7).fill(0))).toBe("a list of 7 elements");
    expect([undefined, Symbol.iterator, 1n].map(showValue)).toEqual(["undefined", "a symbol", "a bigint"]);
  });
});

describe("isJsonValue", () => {
  it("accepts what JSON can hold", () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => isJsonValue(value)));
    const shared = { a: [1] };
    expect(isJsonValue({ one: shared, two: [shared, shared] })).toBe(true);
    expect(isJsonValue(Object.assign(Object.create(null), { a: 1 }))).toBe(true);
  });

  it("refuses everything else, wherever it hides", () => {
    const cycle: { inner?: unknown } = {};
    cycle.inner = [cycle];
    const bad = [undefined, Number.NaN, Infinity, 1n, Symbol.iterator, () => 1, new Date(0), new Map(), cycle];
    fc.assert(
      fc.property(
        fc.constantFrom(...bad),
        fc.array(fc.constantFrom("list", "object"), { maxLength: 6 }),
        (value, around) => {
          const hidden = around.reduce<unknown>(
            (inner, kind) => (kind === "list" ? [1, inner] : { a: 1, inner }),
            value,
          );
          expect(isJsonValue(hidden)).toBe(false);
        },
      ),
    );
  });
});
