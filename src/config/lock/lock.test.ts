import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson, digestOf, type Plain } from "./canonical-json.js";
import { diffLocks, makeLock, parseLock } from "./lock.js";

const policy = {
  skills: ["core", "pointing"],
  model: { name: "m", temperature: 0 },
  off: [{ name: "eef", reason: "not_enabled" }],
};
const environment = { backend: "sim", table_z_m: 0 };

describe("a lock", () => {
  it("survives its way through a file, and is refused where it was changed", () => {
    const lock = makeLock(policy, environment);
    const text = JSON.stringify(lock, null, 2);
    expect(parseLock(text, "a.lock")).toEqual(lock);
    expect(() => parseLock(text.replace('"m"', '"n"'), "a.lock")).toThrow(/a\.lock: policy was changed/);
    expect(() => parseLock("{}", "a.lock")).toThrow(/a\.lock/);
    expect(() => parseLock("{", "a.lock")).toThrow(/not JSON/);
  });

  it("has two names: one for what decides, one for what it decides about", () => {
    const lock = makeLock(policy, environment);
    const elsewhere = makeLock(policy, { ...environment, table_z_m: 0.01 });
    expect(elsewhere.policy_hash).toBe(lock.policy_hash);
    expect(elsewhere.environment_hash).not.toBe(lock.environment_hash);
    expect(diffLocks(lock, elsewhere, ["policy"])).toEqual([]);
    expect(diffLocks(lock, elsewhere, ["environment"])).toHaveLength(1);
  });

  it("says in words what differs", () => {
    const other = makeLock({ ...policy, model: { name: "m", temperature: 1 }, skills: ["core"] }, environment);
    expect(diffLocks(makeLock(policy, environment), other)).toEqual([
      "policy.model.temperature: 0 became 1",
      'policy.skills[1]: "pointing" became nothing',
    ]);
    expect(diffLocks(other, other)).toEqual([]);
  });

  it("compares named things by their names, wherever they stand, and tells another order alone", () => {
    const of = (...on: { name: string; exports: string[] }[]) => makeLock({ skills: { on } }, environment);
    const [look, point] = [
      { name: "core", exports: ["look"] },
      { name: "pointing", exports: ["point_to"] },
    ];
    expect(diffLocks(of(look, point), of({ name: "eef", exports: ["turn"] }, { ...look, exports: [] }))).toEqual([
      'policy.skills.on.core.exports[0]: "look" became nothing',
      'policy.skills.on.eef: nothing became {"exports":["turn"]}',
      'policy.skills.on.pointing: {"exports":["point_to"]} became nothing',
    ]);
    expect(diffLocks(of(look, point), of(point, look))).not.toEqual([]);
  });
});

describe("canonicalJson", () => {
  const plain = fc.jsonValue({ noUnicodeString: false }) as fc.Arbitrary<Plain>;
  const shuffled = (value: Plain): Plain =>
    Array.isArray(value)
      ? (value as Plain[]).map(shuffled)
      : typeof value === "object" && value !== null
        ? Object.fromEntries(
            Object.entries(value)
              .reverse()
              .map(([key, one]) => [key, shuffled(one as Plain)]),
          )
        : value;
  it("does not depend on the order of keys, and reads back as the same value", () => {
    fc.assert(
      fc.property(plain, (value) => {
        expect(canonicalJson(shuffled(value))).toBe(canonicalJson(value));
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
  it("tells other values apart", () => {
    fc.assert(
      fc.property(plain, plain, (a, b) => {
        expect(digestOf(a) === digestOf(b)).toBe(
          JSON.stringify(shuffled(a)) === JSON.stringify(shuffled(b)) || canonicalJson(a) === canonicalJson(b),
        );
      }),
    );
  });
  it("refuses what JSON cannot hold", () => {
    expect(() => canonicalJson(Number.NaN)).toThrow(/NaN/);
    expect(canonicalJson({ a: undefined, b: -0 })).toBe('{"b":0}');
  });
});
