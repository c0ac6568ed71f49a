import { describe, expect, it } from "vitest";
import { DEFAULT_QUOTAS, resolveQuotas } from "./quotas.js";

describe("resolveQuotas", () => {
  it("gives the documented defaults", () => {
    expect(resolveQuotas()).toEqual(DEFAULT_QUOTAS);
    expect(DEFAULT_QUOTAS).toMatchObject({ maxCalls: 1000, maxCallsInFlight: 256, maxPathPoints: 2000, memory_MB: 64 });
  });

  it("puts changes on top of the given base", () => {
    const base = resolveQuotas({ maxCalls: 5 });
    expect(resolveQuotas({ turnCpu_s: 0.5 }, base)).toMatchObject({ maxCalls: 5, turnCpu_s: 0.5 });
  });

  it("refuses unknown names with a suggestion, and unfit values by name", () => {
    expect(() => resolveQuotas({ maxCall: 5 } as never)).toThrowError(/no quota "maxCall"\. Did you mean "maxCalls"\?/);
    expect(() => resolveQuotas({ maxCalls: 0 })).toThrowError(/maxCalls/);
    expect(() => resolveQuotas({ turnCpu_s: Number.NaN })).toThrowError(/turnCpu_s/);
    expect(() => resolveQuotas({ stack_kB: 512 })).toThrowError(/stack_kB/);
  });
});
