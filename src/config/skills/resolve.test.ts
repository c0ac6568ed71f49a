import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSkill2RealError } from "../../contract/errors.js";
import { LAYERS, manifestSchema, parseManifest, SERVICES, type Service, type SkillManifest } from "./manifest.js";
import { describeDrop, type ResolvedSkills, resolveSkills, type SkillRequest } from "./resolve.js";

const skill = (name: string, fields: Record<string, unknown> = {}): SkillManifest =>
  manifestSchema.parse({ name, summary: `The skill ${name}.`, ...fields });
const on = ({ enabled }: ResolvedSkills) => enabled.map(({ name }) => name);
const reasons = ({ off }: ResolvedSkills) => Object.fromEntries(off.map(({ name, drop }) => [name, drop.reason]));

const CORE = skill("core", { order: 1, exports: ["look"] });
const resolve = (
  manifests: SkillManifest[],
  request: SkillRequest = {},
  services: Service[] = [],
  embodiment = "robot",
) => resolveSkills({ manifests: [CORE, ...manifests], required: ["core"] }, request, embodiment, services);

describe("resolveSkills", () => {
  it("turns base skills on, optional ones only where enabled, and layers as asked", () => {
    const catalogue = [
      skill("plain"),
      skill("extra", { optional: true }),
      skill("taught", { layer: "learned" }),
      skill("reflex", { layer: "reactive" }),
    ];
    expect(on(resolve(catalogue))).toEqual(["core", "plain", "reflex"]);
    expect(reasons(resolve(catalogue))).toEqual({ extra: "not_enabled", taught: "layer_off" });
    const asked = resolve(catalogue, { enable: ["extra"], layers: { learned: true, reactive: false } });
    expect(on(asked)).toEqual(["core", "extra", "plain", "taught"]);
    expect(on(resolve(catalogue, { names: ["reflex"] }))).toEqual(["core", "reflex"]);
    expect(reasons(resolve(catalogue, { disable: ["plain"] })).plain).toBe("disabled");
  });

  it("drops for want of services, and what requires the dropped, to a fixed point", () => {
    const catalogue = [
      skill("a", { requires: ["b"] }),
      skill("b", { requires: ["c"] }),
      skill("c", { needs: ["segmenter"] }),
      skill("d", { needs_any: ["pointer", "vlm"] }),
    ];
    expect(reasons(resolve(catalogue))).toEqual({
      a: "requires_off",
      b: "requires_off",
      c: "missing_service",
      d: "no_service_of",
    });
    expect(on(resolve(catalogue, {}, ["segmenter", "vlm"]))).toEqual(["core", "a", "b", "c", "d"]);
    expect(resolve(catalogue).off.map(({ drop }) => describeDrop(drop))).toEqual([
      "requires b, which is off",
      "requires c, which is off",
      "needs segmenter",
      "needs one of pointer, vlm",
    ]);
  });

  it("drops a skill that is required but not asked for, and one of another body", () => {
    const catalogue = [
      skill("a", { requires: ["b"] }),
      skill("b", { optional: true }),
      skill("c", { embodiments: ["hand"] }),
    ];
    expect(reasons(resolve(catalogue))).toEqual({ a: "requires_off", b: "not_enabled", c: "other_embodiment" });
    expect(on(resolve(catalogue, { enable: ["b"] }))).toEqual(["core", "a", "b"]);
    expect(reasons(resolve(catalogue, { names: ["c"] })).c).toBe("other_embodiment");
  });

  it("drops one function for want of its own service, and keeps the skill", () => {
    const catalogue = [skill("verify", { exports: ["paths", "compare"], export_needs: { compare: ["verifier"] } })];
    const [, verify] = resolve(catalogue).enabled;
    expect(verify).toMatchObject({ exports: ["paths"], dropped: [{ name: "compare", drop: { names: ["verifier"] } }] });
    expect(resolve(catalogue, {}, ["verifier"]).enabled[1]?.exports).toEqual(["paths", "compare"]);
  });

  it.each<[string, () => unknown, RegExp]>([
    ["an unknown name", () => resolve([skill("pointing")], { enable: ["pointin"] }), /Did you mean "pointing"/],
    ["a disabled required skill", () => resolve([], { disable: ["core"] }), /every program needs/],
    [
      "a required skill that cannot run",
      () => resolveSkills({ manifests: [skill("core", { needs: ["vlm"] })], required: ["core"] }, {}, "robot", []),
      /"core" cannot run: needs vlm/,
    ],
    [
      "a missing required skill",
      () => resolveSkills({ manifests: [], required: ["core"] }, {}, "robot", []),
      /"core" is not there/,
    ],
    ["two of one name", () => resolve([skill("a"), skill("a")]), /two skills named "a"/],
    ["one export twice", () => resolve([skill("a", { exports: ["look"] })]), /"core" and "a" both export look/],
    [
      "a requested conflict",
      () =>
        resolve([skill("eef"), skill("manipulation", { optional: true, conflicts: ["eef"] })], {
          enable: ["manipulation"],
        }),
      /in conflict/,
    ],
  ])("refuses %s", (_name, act, message) => {
    expect(act).toThrow(message);
  });

  it("lets two skills share an export where only one is on", () => {
    const catalogue = [skill("a", { exports: ["f"] }), skill("b", { exports: ["f"], needs: ["vlm"] })];
    expect(on(resolve(catalogue))).toEqual(["core", "a"]);
  });
});

describe("parseManifest", () => {
  it.each([
    [
      'name = "a"\nsummary = "A."\nexprots = []',
      /skill.toml: the manifest has an unknown key "exprots". Did you mean "exports"/,
    ],
    ['name = "a"\nsummary = "A."\nneeds = ["segmentor"]', /Did you mean "segmenter"/],
    ['name = "A b"\nsummary = "A."', /name/],
    ['name = "a"\nsummary = "A."\n[export_needs]\nf = ["vlm"]', /names "f", which exports does not list/],
    ["name = ", /is not TOML/],
  ])("refuses %j", (text, message) => {
    expect(() => parseManifest(text, "skill.toml")).toThrow(message);
  });
});

const NAMES = ["a", "b", "c", "d", "e", "f"];
const some = <T>(values: readonly T[]) => fc.subarray([...values]);
const arbitraryManifest = (name: string) =>
  fc
    .record({
      layer: fc.constantFrom(...LAYERS),
      needs: some(SERVICES.slice(0, 3)),
      needs_any: some(SERVICES.slice(0, 3)),
      requires: some(NAMES.filter((other) => other !== name)),
      optional: fc.boolean(),
      embodiments: fc.constantFrom(["robot"], ["robot", "hand"], ["hand"]),
      order: fc.integer({ min: 0, max: 3 }),
    })
    .map((fields) => skill(name, fields));
const arbitraryCase = fc.record({
  manifests: fc.tuple(...NAMES.map(arbitraryManifest)),
  request: fc.record({
    names: fc.option(some(NAMES), { nil: undefined }),
    layers: fc.record({ learned: fc.boolean(), reactive: fc.boolean(), handlers: fc.boolean() }),
    enable: some(NAMES),
    disable: some(NAMES),
  }),
  services: some(SERVICES.slice(0, 3)),
});

describe("whatever is asked", () => {
  it("the order of the inputs never matters", () => {
    fc.assert(
      fc.property(arbitraryCase, fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (one, dice) => {
        const shuffled = <T>(values: readonly T[]): T[] =>
          values
            .map((value) => ({ value, at: dice.next().value as number }))
            .sort((a, b) => a.at - b.at)
            .map(({ value }) => value);
        const { names, layers, enable, disable } = one.request;
        const other = {
          names: names && shuffled(names),
          layers,
          enable: shuffled(enable),
          disable: shuffled(disable),
        };
        expect(resolve(shuffled(one.manifests), other, shuffled(one.services))).toEqual(
          resolve([...one.manifests], one.request, one.services),
        );
      }),
    );
  });

  it("one more service never turns a skill off", () => {
    fc.assert(
      fc.property(arbitraryCase, fc.constantFrom(...SERVICES.slice(0, 3)), ({ manifests, request, services }, more) => {
        const before = on(resolve([...manifests], request, services));
        const after = on(resolve([...manifests], request, [...services, more]));
        expect(after).toEqual(expect.arrayContaining(before));
      }),
    );
  });

  it("what is on has all it requires on, and everything is either on or off with a reason", () => {
    fc.assert(
      fc.property(arbitraryCase, ({ manifests, request, services }) => {
        const resolved = resolve([...manifests], request, services);
        const enabled = new Set(on(resolved));
        for (const { name, requires } of manifests)
          if (enabled.has(name)) expect(requires.every((needed) => enabled.has(needed))).toBe(true);
        expect([...enabled, ...resolved.off.map(({ name }) => name)].sort()).toEqual(["core", ...NAMES].sort());
      }),
    );
  });

  it("an error of the request is the configuration's, never a crash", () => {
    fc.assert(
      fc.property(arbitraryCase, fc.string(), ({ manifests, services }, name) => {
        fc.pre(!["core", ...NAMES].includes(name));
        try {
          resolve([...manifests], { enable: [name] }, services);
          return false;
        } catch (error) {
          return isSkill2RealError(error) && error.code === "bad_config";
        }
      }),
    );
  });
});
