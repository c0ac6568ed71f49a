import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { wilson95 } from "./wilson.js";

describe("wilson95", () => {
  it("gives the published interval of 9 successes in 10", () => {
    const [low, high] = wilson95(9, 10);
    expect(low).toBeCloseTo(0.5958, 3);
    expect(high).toBeCloseTo(0.9821, 3);
  });

  it("says nothing without trials", () => {
    expect(wilson95(0, 0)).toEqual([0, 1]);
  });

  it("holds the proportion and stays within 0 and 1", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000 }), fc.float({ min: 0, max: 1, noNaN: true }), (trials, share) => {
        const successes = Math.round(share * trials);
        const [low, high] = wilson95(successes, trials);
        expect(low).toBeGreaterThanOrEqual(0);
        expect(high).toBeLessThanOrEqual(1);
        expect(low).toBeLessThanOrEqual(successes / trials + 1e-12);
        expect(high).toBeGreaterThanOrEqual(successes / trials - 1e-12);
      }),
    );
  });
});
