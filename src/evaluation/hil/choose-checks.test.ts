import { describe, expect, it } from "vitest";
import { ALL_HIL_CHECKS } from "./all-checks.js";
import { chooseChecks, eachCheck } from "./choose-checks.js";
import { checkId } from "./report.js";

const ids = (patterns?: string[]): string[] =>
  chooseChecks(ALL_HIL_CHECKS, patterns).map(({ group, check }) => checkId({ group, name: check.name }));

describe("the checks of a rig", () => {
  it("are at least 80, each with a name of its own and a reason, in the nine groups", () => {
    const all = eachCheck(ALL_HIL_CHECKS);
    expect(all.length).toBeGreaterThanOrEqual(80);
    expect(new Set(ids()).size).toBe(all.length);
    for (const { check } of all) {
      expect(check.name).toMatch(/^[a-z][a-z0-9_]*$/);
      expect(check.reason.length).toBeGreaterThan(10);
    }
    expect(ALL_HIL_CHECKS.map(({ group }) => group)).toEqual([
      "link",
      "motion",
      "stop",
      "limits",
      "gripper",
      "camera",
      "timing",
      "faults",
      "end-to-end",
    ]);
  });

  it("that break something on purpose need an emulated rig, where a person's hand is not enough to mend it", () => {
    const faults = ALL_HIL_CHECKS.find(({ group }) => group === "faults")!;
    for (const { name, needs, breaks } of faults.checks) {
      expect(needs, name).toContain("emulated");
      expect(breaks, name).toBe(true);
    }
  });
});

describe("chooseChecks", () => {
  it("takes parts of names, groups and asterisks, in the suite's order", () => {
    expect(ids(["motion: base_moves"])).toEqual(["motion: base_moves_and_returns"]);
    expect(ids(["STOP:*LEASE"])).toEqual(["stop: lapsed_lease_stops_the_arm"]);
    const chosen = ids(["gripper:", "link:"]);
    expect(chosen[0]).toMatch(/^link: /);
    expect(chosen.at(-1)).toMatch(/^gripper: /);
  });

  it("takes everything but the asterisk to the letter", () => {
    expect(() => ids(["motion: .ase"])).toThrow(/no check matches/);
    expect(() => ids(["(["])).toThrow(/no check matches/);
  });

  it("refuses a pattern that matches nothing, with the nearest name", () => {
    expect(() => ids(["base_moves_and_returns", "base_moves_and_return_s"])).toThrow(
      expect.objectContaining({ code: "not_found", message: expect.stringContaining("base_moves_and_returns") }),
    );
  });
});
