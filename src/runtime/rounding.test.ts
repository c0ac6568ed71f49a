import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { roundNumbers } from "./rounding.js";

describe("roundNumbers", () => {
  it("rounds to four decimals, and never by more than half a step", () => {
    fc.assert(
      fc.property(fc.double({ min: -1e6, max: 1e6, noNaN: true }), (value) => {
        const rounded = roundNumbers(value);
        expect(Math.abs(rounded - value)).toBeLessThanOrEqual(0.5e-4 + 1e-9);
        expect(String(rounded)).toMatch(/^-?\d+(\.\d{1,4})?$/);
      }),
    );
  });

  it("changes nothing that it has rounded before", () => {
    fc.assert(
      fc.property(fc.double({ min: -1e3, max: 1e3, noNaN: true }), (value) => {
        expect(roundNumbers(roundNumbers(value))).toBe(roundNumbers(value));
      }),
    );
  });

  it("leaves integers, text, null and what is not a number alone", () => {
    for (const value of [0, 7, 2 ** 53 - 1, "0.123456", null, true, Number.POSITIVE_INFINITY])
      expect(roundNumbers(value)).toBe(value);
    expect(roundNumbers(Number.NaN)).toBeNaN();
  });

  it("gives no negative zero", () => {
    expect(Object.is(roundNumbers(-0.00001), 0)).toBe(true);
  });

  it("copies lists and objects, however deep, and leaves the original as it was", () => {
    const given = { a: [0.123456, { b: 1.000049 }], c: "x" };
    expect(roundNumbers(given)).toEqual({ a: [0.1235, { b: 1 }], c: "x" });
    expect(given.a[0]).toBe(0.123456);
  });
});
