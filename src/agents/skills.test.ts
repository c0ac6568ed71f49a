import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OPERATIONS } from "../contract/generated/robot-api-dispatch.js";
import { OPERATION_NAMES } from "../contract/index.js";
import { ProgramChecker } from "../program/index.js";
import type { SkillContext, SkillFunction } from "../runtime/operation.js";
import { loadSkills } from "./load-skills.js";

let root: string;
let count = 0;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "s2r-skills-"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const MANIFEST = 'name = "counting"\nsummary = "Counts."\nexports = ["count_to"]\n';
const PROTO = `syntax = "proto3";
package skill2real.robot.v1.counting;
import "robot_api.proto";
service Counting {
  // Counts.
  rpc count_to(CountToRequest) returns (CountToResponse) {
    option (statuses) = "not_found";
    option (example) = "await robot.count_to({ n: 3 });";
  }
}
// How far.
message CountToRequest {
  int32 n = 1 [(min) = 0, (max) = 9]; // the last number
}
// How far it came.
message CountToResponse {
  StatusCode status = 1; // ok: counted
  string message = 2;    // for a person
  double counted = 3;    // the sum
}
`;
const MODULE = `
export const functions: SkillFunctions = {
  count_to: async (context, { n }) => {
    if (n === 7) return context.fail("not_found", "there is no 7");
    if (n === 8) return { counted: Number.NaN };
    return { counted: n + context.time_s() };
  },
};
`;
const FILES = { "skill.toml": MANIFEST, "skill.proto": PROTO, "index.ts": MODULE };
const renamed = (from: string, to: string): Record<string, string> => ({
  "skill.toml": MANIFEST.replaceAll(from, to),
  "skill.proto": PROTO.replaceAll(from, to),
  "index.ts": MODULE.replaceAll(from, to),
});

/** A folder with one skill of a user. */
function skill(files: Record<string, string>, name = "counting"): string {
  count += 1;
  const folder = join(root, String(count), name);
  mkdirSync(folder, { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  return join(root, String(count));
}
const load = (path: string, extra: { enable?: string[]; disable?: string[] } = {}) =>
  loadSkills({ paths: [path], enable: extra.enable ?? [], disable: extra.disable ?? [] });

describe("loadSkills", () => {
  it("gives the operations of the contract alone where nothing else is on", async () => {
    const skills = await loadSkills({ paths: [], enable: [], disable: [] });
    expect(skills.names).toEqual([]);
    expect(skills.functionNames.toSorted()).toEqual([...OPERATION_NAMES].toSorted());
    expect(skills.functionNames.filter((name) => !skills.statusNames.includes(name)).toSorted()).toEqual([
      "get_current_image_path",
      "get_previous_image_path",
    ]);
  });

  it("adds a user's skill written in TypeScript: its function runs, and programs are checked against its declarations", async () => {
    const skills = await load(skill(FILES));
    expect(skills.names).toEqual(["counting"]);
    expect(skills.statusNames).toContain("count_to");
    expect(skills.functionTexts.get("count_to")).toMatch(
      /^### count_to\n[\s\S]*`n: number` the last number\. Range: 0 to 9\./,
    );
    const { check, run, conform } = skills.operations.count_to as SkillFunction;
    const context = { time_s: () => 0.5 } as SkillContext;
    expect(await run(context, check({ n: 2 }) as never)).toEqual({ counted: 2.5 });
    expect(() => check({ n: 10 })).toThrow(/count_to: n is 10; it must be a whole number from 0 to 9/);
    expect(() => check({ m: 1, n: 1 })).toThrow(/unknown key "m"\. Did you mean "n"/);
    expect(conform({ status: "not_found", message: "" })).toMatchObject({ status: "not_found" });
    for (const wrong of [
      { status: "ok", message: "" },
      { status: "busy", message: "" },
      { status: "ok", message: "", counted: 1, more: 2 },
    ])
      expect(() => conform(wrong)).toThrow(/count_to gave a result that it does not document/);

    const checker = await ProgramChecker.create({ declarations: skills.declarations, names: skills.functionNames });
    expect(
      await checker.check(
        'const r = await robot.count_to({ n: 3 });\nreturn r.status === "ok" ? r.counted : r.message;',
      ),
    ).toMatchObject({ ok: true });
    expect(await checker.check('return (await robot.count_to({ n: "3" })).status;')).toMatchObject({ ok: false });
    await checker.close();
  });

  it("takes plain JavaScript, one skill's own folder, and leaves out what is disabled", async () => {
    const { "index.ts": _source, ...files } = FILES;
    const folder = skill({ ...files, "index.mjs": MODULE.replace(": SkillFunctions", "") });
    expect((await load(join(folder, "counting"))).names).toEqual(["counting"]);
    expect((await load(folder, { disable: ["counting"] })).names).toEqual([]);
  });

  it("orders skills as their manifests say", async () => {
    const folder = skill(FILES);
    const second = join(folder, "first");
    mkdirSync(second);
    for (const [file, text] of Object.entries(renamed("count", "recount"))) writeFileSync(join(second, file), text);
    writeFileSync(join(second, "skill.toml"), `${MANIFEST.replaceAll("count", "recount")}order = 1\n`);
    // CountToRequest stays, as `count` is not in it: the types of two skills may not clash.
    await expect(load(folder)).rejects.toThrow(/declares the type CountToRequest, as skill "recounting" does/);
    writeFileSync(join(second, "skill.proto"), PROTO.replaceAll("count", "recount").replaceAll("CountTo", "RecountTo"));
    expect((await load(folder)).names).toEqual(["recounting", "counting"]);
  });

  const wrong: readonly (readonly [string, Record<string, string>, RegExp])[] = [
    ["a manifest with an unknown key", { ...FILES, "skill.toml": `${MANIFEST}export = ["x"]\n` }, /export.*exports/],
    ["a manifest that is not TOML", { ...FILES, "skill.toml": "name = " }, /skill\.toml is not TOML/],
    ["no module", { "skill.toml": MANIFEST, "skill.proto": PROTO }, /neither index\.ts nor index\.js/],
    ["no skill.proto", { "skill.toml": MANIFEST, "index.ts": MODULE }, /has no skill\.proto/],
    [
      "a skill.proto that cannot be parsed",
      { ...FILES, "skill.proto": PROTO.replace("int32 n = 1", "int32 n = = 1") },
      /skill\.proto:13: illegal/,
    ],
    [
      "a function without documentation",
      { ...FILES, "skill.proto": PROTO.replace("  // Counts.\n", "") },
      /skill\.proto: rpc count_to has no comment/,
    ],
    [
      "a type that does not exist",
      { ...FILES, "skill.proto": PROTO.replace("double counted = 3; ", "Poze counted = 3; ") },
      /skill\.proto: no such Type or Enum 'Poze'/,
    ],
    [
      "a status that does not exist",
      { ...FILES, "skill.proto": PROTO.replace('"not_found"', '"lost"') },
      /no status code lost/,
    ],
    [
      "a name of the contract's own types",
      { ...FILES, "skill.proto": `${PROTO}// A place.\nmessage Pose {}\n` },
      /Pose is the name of a type of robot_api\.proto/,
    ],
    [
      "a module without functions",
      { ...FILES, "index.ts": "export const other = {};" },
      /index\.ts:1:1: .*no exported member 'functions'/,
    ],
    [
      "a type error in its code",
      { ...FILES, "index.ts": MODULE.replace("n + context.time_s()", "String(n)") },
      /index\.ts:3:3: .*|index\.ts:6:\d+: Type 'string' is not assignable to type 'number'/,
    ],
    [
      "a status that it does not document",
      {
        ...FILES,
        "index.ts": MODULE.replace("n + context.time_s()", "n }; return { status: 'ambiguous', message: ''"),
      },
      /index\.ts:\d+:\d+: /,
    ],
    [
      "a request that is not its own",
      { ...FILES, "index.ts": MODULE.replace("{ n }) =>", "{ m }) =>") },
      /index\.ts:3:\d+: Property 'm' does not exist on type 'CountToRequest'/,
    ],
    [
      "a manifest that lists what skill.proto lacks",
      { ...FILES, "skill.toml": MANIFEST.replace('"count_to"', '"count_to", "count_down"') },
      /exports count_down by its manifest/,
    ],
    [
      "a manifest that does not list it",
      { ...FILES, "skill.toml": MANIFEST.replace('"count_to"', "") },
      /declares count_to/,
    ],
    ["an export that hides an operation", renamed("count_to", "goto_pose"), /goto_pose/],
    [
      "a module that does not run",
      { ...FILES, "index.ts": `${MODULE}throw new Error('broken at its start');` },
      /broken at its start/,
    ],
  ];
  it.each(wrong)("refuses a skill with %s", { timeout: 60_000 }, async (_, files, words) => {
    const attempt = load(skill(files));
    await expect(attempt).rejects.toThrow(words);
    await expect(attempt).rejects.toMatchObject({ code: "bad_config" });
  });

  it("refuses a path and a name that do not exist, with a suggestion", async () => {
    await expect(load(join(root, "none"))).rejects.toMatchObject({ code: "bad_config" });
    await expect(load(root, { enable: ["pointin"] })).rejects.toThrow(/"pointin", which is no skill\..*"pointing"/);
  });

  it("refuses the name of a skill to come", async () => {
    const files = { ...FILES, "skill.toml": MANIFEST.replace('"counting"', '"reflexes"') };
    await expect(load(skill(files))).rejects.toThrow(/"reflexes" is reserved/);
  });

  it("finds each operation in the manifest of the skill that the contract names", async () => {
    const { resolved } = await loadSkills({ paths: [], enable: [], disable: [] });
    for (const { skill: owner, name } of OPERATIONS)
      expect(resolved.enabled.find((one) => one.name === owner)?.exports).toContain(name);
    expect(resolved.enabled.flatMap(({ exports }) => exports)).toHaveLength(OPERATIONS.length);
  });

  it("refuses two skills of one name or with one export, and one that needs what is off", async () => {
    const folder = skill(FILES);
    const again = join(folder, "again");
    mkdirSync(again);
    writeFileSync(join(again, "index.ts"), MODULE);
    writeFileSync(join(again, "skill.proto"), PROTO.replaceAll("counting", "again"));
    writeFileSync(join(again, "skill.toml"), MANIFEST.replace('"counting"', '"again"'));
    await expect(load(folder)).rejects.toThrow(/the skills "again" and "counting" both export count_to/);
    writeFileSync(join(again, "skill.toml"), MANIFEST.replace("count_to", "count_up"));
    await expect(load(folder)).rejects.toThrow(/two skills named "counting"/);
    writeFileSync(
      join(again, "skill.toml"),
      `${MANIFEST.replaceAll("count", "recount")}requires = ["core", "pointing"]\n`,
    );
    const { names, resolved } = await load(again);
    expect(names).toEqual([]);
    expect(resolved.off).toContainEqual({ name: "recounting", drop: { reason: "requires_off", names: ["pointing"] } });
  });
});
