import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SimBackend } from "../../backends/sim/launch.js";
import { ALL_CHECKS } from "../../src/evaluation/conformance/all-checks.js";
import { countResults, formatResults } from "../../src/evaluation/conformance/format-results.js";
import { type CheckResult, runConformance } from "../../src/evaluation/conformance/run-conformance.js";

/** Narrows a run by hand: S2R_CONFORMANCE="stop,lease" runs what has one of the words in its name. */
const filter = process.env.S2R_CONFORMANCE?.split(",");

describe("the suite itself", () => {
  it("gives every check a name of its own and a reason", () => {
    const checks = ALL_CHECKS.flatMap((group) => group.checks);
    expect(new Set(checks.map((check) => check.name)).size).toBe(checks.length);
    for (const check of checks) {
      expect(check.name).toMatch(/^[a-z][a-z0-9_]+$/);
      expect(check.reason.length).toBeGreaterThan(20);
    }
  });
});

describe("the simulator conforms", () => {
  let simulator: SimBackend;
  let results: CheckResult[];

  beforeAll(async () => {
    const world = process.env.S2R_CONFORMANCE_WORLD ?? "twin";
    const module = world.startsWith("fake") ? { module: "skill2real_sim.core.testing" } : {};
    const spawn = () => SimBackend.spawn({ world, privileged: true, ...module });
    simulator = await spawn();
    const { addresses, privileged } = simulator;
    const target = { addresses, allowMotion: true, spawnAnother: spawn, ...(privileged ? { privileged } : {}) };
    results = await runConformance({ target, ...(filter ? { filter } : {}) });
    console.log(formatResults(results));
  }, 600_000);

  afterAll(async () => {
    await simulator?.close();
  });

  it("in every check", () => {
    const failed = results.filter((result) => result.outcome === "failed");
    expect(failed.map((result) => `${result.name}: ${result.message}`)).toEqual([]);
  });

  it.skipIf(filter)("in at least 60 checks that ran", () => {
    expect(countResults(results).passed).toBeGreaterThanOrEqual(60);
  });

  it.skipIf(filter)("skips only what needs a wall clock", () => {
    const skipped = results.filter((result) => result.outcome === "skipped");
    expect(
      skipped.map((result) => result.message).filter((message) => !message.includes("clock is simulated")),
    ).toEqual([]);
  });

  it("is still alive", () => {
    expect(() => process.kill(simulator.pid, 0)).not.toThrow();
  });
});

describe("the simulator conforms on a wall clock", () => {
  it("in time, stops, leases and pictures", async () => {
    const simulator = await SimBackend.spawn({ privileged: true, realtime: 1 });
    try {
      const { addresses, privileged } = simulator;
      const target = { addresses, allowMotion: true, ...(privileged ? { privileged } : {}) };
      const results = await runConformance({ target, filter: ["time:", "stop:", "lease:", "frames:"] });
      const failed = results.filter((result) => result.outcome === "failed");
      expect(failed.map((result) => `${result.name}: ${result.message}`)).toEqual([]);
      expect(countResults(results).passed).toBeGreaterThanOrEqual(30);
    } finally {
      await simulator.close();
    }
  }, 300_000);
});
