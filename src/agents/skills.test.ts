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
const DECLARATIONS = `interface CountOk { status: "ok"; message: string; counted: number }
interface RobotApi {
  /** Counts. */
  count_to(request: { n: number }): Promise<CountOk>;
}`;
const MODULE = `
type Asked = { n: number };
export const declarations: string = ${JSON.stringify(DECLARATIONS)};
export const functions = {
  count_to: {
    kind: "function" as const,
    check: (request: unknown): Asked => request as Asked,
    run: async (context: { time_s(): number }, { n }: Asked) => ({ counted: n + context.time_s() }),
  },
};
`;

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
    const skills = await load(skill({ "skill.toml": MANIFEST, "index.ts": MODULE }));
    expect(skills.names).toEqual(["counting"]);
    expect(skills.statusNames).toContain("count_to");
    const { check, run } = skills.operations.count_to as SkillFunction;
    expect(await run({ time_s: () => 0.5 } as SkillContext, check({ n: 2 }) as never)).toEqual({ counted: 2.5 });

    const checker = await ProgramChecker.create({ declarations: skills.declarations, names: skills.functionNames });
    expect(await checker.check("return (await robot.count_to({ n: 3 })).counted;")).toMatchObject({ ok: true });
    expect(await checker.check('return (await robot.count_to({ n: "3" })).counted;')).toMatchObject({ ok: false });
    await checker.close();
  });

  it("takes plain JavaScript, one skill's own folder, and leaves out what is disabled", async () => {
    const script = MODULE.replace(/^type .*$/m, "")
      .replaceAll(": string =", " =")
      .replace(" as const", "")
      .replaceAll(/: (unknown|Asked|\{ time_s\(\): number \})/g, "")
      .replace(" as Asked", "");
    const folder = skill({ "skill.toml": MANIFEST, "index.mjs": script });
    expect((await load(join(folder, "counting"))).names).toEqual(["counting"]);
    expect((await load(folder, { disable: ["counting"] })).names).toEqual([]);
  });

  it("orders skills as their manifests say", async () => {
    const folder = skill({ "skill.toml": MANIFEST, "index.ts": MODULE });
    const second = join(folder, "first");
    mkdirSync(second);
    writeFileSync(join(second, "skill.toml"), 'name = "earlier"\nsummary = "x"\nexports = ["count_up"]\norder = 1\n');
    writeFileSync(join(second, "index.ts"), MODULE.replaceAll("count_to", "count_up"));
    expect((await load(folder)).names).toEqual(["earlier", "counting"]);
  });

  const wrong: readonly (readonly [string, Record<string, string>, RegExp])[] = [
    [
      "a manifest with an unknown key",
      { "skill.toml": `${MANIFEST}export = ["x"]\n`, "index.ts": MODULE },
      /export.*exports/,
    ],
    ["a manifest that is not TOML", { "skill.toml": "name = ", "index.ts": MODULE }, /skill\.toml is not TOML/],
    ["no module", { "skill.toml": MANIFEST }, /neither index\.ts nor index\.js/],
    [
      "a module without declarations",
      { "skill.toml": MANIFEST, "index.ts": "export const functions = {};" },
      /must export "functions".*and "declarations"/,
    ],
    [
      "a module that lacks what its manifest exports",
      { "skill.toml": MANIFEST.replace('"count_to"', '"count_to", "count_down"'), "index.ts": MODULE },
      /exports count_down by its manifest/,
    ],
    [
      "an export that hides an operation",
      {
        "skill.toml": MANIFEST.replace("count_to", "goto_pose"),
        "index.ts": MODULE.replaceAll("count_to", "goto_pose"),
      },
      /goto_pose/,
    ],
    [
      "a module that does not run",
      { "skill.toml": MANIFEST, "index.ts": "throw new Error('broken at its start');" },
      /broken at its start/,
    ],
  ];
  it.each(wrong)("refuses a skill with %s", async (_, files, words) => {
    const attempt = load(skill(files));
    await expect(attempt).rejects.toThrow(words);
    await expect(attempt).rejects.toMatchObject({ code: "bad_config" });
  });

  it("refuses a path and a name that do not exist, with a suggestion", async () => {
    await expect(load(join(root, "none"))).rejects.toMatchObject({ code: "bad_config" });
    await expect(load(root, { enable: ["pointin"] })).rejects.toThrow(/"pointin", which is no skill\..*"pointing"/);
  });

  it("refuses a function that would reach below the operations", async () => {
    const below = MODULE.replace('kind: "function"', 'kind: "plain"');
    await expect(load(skill({ "skill.toml": MANIFEST, "index.ts": below }))).rejects.toThrow(
      /must be of kind "function"/,
    );
  });

  it("refuses the name of a skill to come", async () => {
    const files = { "skill.toml": MANIFEST.replace('"counting"', '"reflexes"'), "index.ts": MODULE };
    await expect(load(skill(files))).rejects.toThrow(/"reflexes" is reserved/);
  });

  it("finds each operation in the manifest of the skill that the contract names", async () => {
    const { resolved } = await loadSkills({ paths: [], enable: [], disable: [] });
    for (const { skill: owner, name } of OPERATIONS)
      expect(resolved.enabled.find((one) => one.name === owner)?.exports).toContain(name);
    expect(resolved.enabled.flatMap(({ exports }) => exports)).toHaveLength(OPERATIONS.length);
  });

  it("refuses two skills of one name or with one export, and one that needs what is off", async () => {
    const folder = skill({ "skill.toml": MANIFEST, "index.ts": MODULE });
    const again = join(folder, "again");
    mkdirSync(again);
    writeFileSync(join(again, "index.ts"), MODULE);
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
