import { describe, expect, it } from "vitest";
import { summarize } from "./eval-summary.js";
import { episodeResult as result } from "./testing.js";

describe("summarize", () => {
  const results = [
    result({ seed: 0, wall_s: 1 }),
    result({ seed: 1, success: false, failure_kind: "not_grasped", claim: "execution_failure", wall_s: 3 }),
    result({ seed: 2, success: false, failure_kind: "wrong_place", claim: "supported", wall_s: 5 }),
    result({
      seed: 3,
      success: null,
      outcome: "lost",
      claim: null,
      infrastructure: "lost: the backend stopped answering",
      wall_s: 100,
    }),
  ];

  it("counts infrastructure failures apart from the task's", () => {
    const summary = summarize("r1", "sim", "library", { from: 0, to: 3 }, results);
    expect(summary.seeds).toEqual({ from: 0, to: 3, count: 3 });
    expect(summary.success.count).toBe(1);
    expect(summary.success.rate).toBeCloseTo(1 / 3);
    expect(summary.infrastructure).toEqual({ count: 1, kinds: { lost: 1 } });
    expect(summary.failures).toEqual({ not_grasped: 1, wrong_place: 1 });
    expect(summary.wall_s).toEqual({ mean: 3, p95: 5 });
  });

  it("counts a claim of success that was none as a false claim", () => {
    expect(summarize("r1", "sim", "library", { from: 0, to: 3 }, results).false_claims).toBe(1);
  });

  it("gives no rate that is not a number where nothing was judged", () => {
    const summary = summarize("r1", "sim", "library", { from: 3, to: 3 }, results.slice(3));
    expect(summary.success).toEqual({ count: 0, rate: 0, wilson95: [0, 1] });
    expect(summary.wall_s).toEqual({ mean: 0, p95: 0 });
  });

  it("adds up what models took, the one that decides and the one behind services apart", () => {
    const took = (calls: number, cost: number | null, troubles: Record<string, number> = {}) => ({
      ...{ model: "m", calls, tokens_in: 10 * calls, tokens_out: calls, counted: true, cost, latency_ms: 1, troubles },
    });
    const both = [
      result({ seed: 0, model: took(2, 0.5, { model_timeout: 1 }), services: took(3, null) }),
      result({ seed: 1, model: took(1, 0.25, { model_timeout: 2, model_no_program: 1 }), services: null }),
    ];
    expect(summarize("r1", "sim", "llm:m", { from: 0, to: 1 }, both)).toMatchObject({
      model: {
        ...{ calls: 3, tokens_in: 30, tokens_out: 3, cost: 0.75 },
        troubles: { model_timeout: 3, model_no_program: 1 },
      },
      services: { calls: 3, tokens_in: 30, tokens_out: 3, cost: null, troubles: {} },
    });
    expect(summarize("r1", "sim", "library", { from: 0, to: 3 }, results)).toMatchObject({
      model: null,
      services: null,
    });
  });
});
