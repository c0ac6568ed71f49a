import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compiledModule } from "../../contract/package-root.js";
import { loadSkills } from "../load-skills.js";
import { newSkill, writeSkillTypes } from "./new-skill.js";

const hook = compiledModule("src/agents/skills/package-hook.ts");

describe("a new skill", { timeout: 60_000 }, () => {
  let parent: string;
  let folder: string;
  beforeAll(async () => {
    parent = mkdtempSync(join(tmpdir(), "s2r-new-skill-"));
    ({ folder } = await newSkill("altitude", parent));
  });
  afterAll(() => rmSync(parent, { recursive: true, force: true }));
  const load = () => loadSkills({ paths: [parent], enable: [], disable: [] });

  it("passes its check, is on where its folder is named, and is documented", async () => {
    const skills = await load();
    expect(skills.names).toEqual(["altitude"]);
    expect(skills.functionTexts.get("altitude_height")).toMatch(/`height_m: number` of the TCP above the table/);
    expect(skills.declarations).toContain("altitude_height(request?: AltitudeHeightRequest)");
  });

  it.skipIf(!existsSync(hook))("passes the test that comes with it", () => {
    const args = ["--import", pathToFileURL(hook).href, "--test", "altitude.test.mjs"];
    const run = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
    expect(run.stdout).toMatch(/# pass 2\n# fail 0/);
  });

  it("is checked against its skill.proto as it is, not against types of before", async () => {
    const types = readFileSync(join(folder, "skill.gen.d.ts"), "utf8");
    expect(types).toContain('from "skill2real"');
    const proto = readFileSync(join(folder, "skill.proto"), "utf8");
    writeFileSync(join(folder, "skill.proto"), proto.replaceAll("height_m", "height_above_table_m"));
    await expect(load()).rejects.toThrow(/index\.ts:4:\d+: .*is not assignable/);
    await writeSkillTypes(folder, "altitude");
    expect(readFileSync(join(folder, "skill.gen.d.ts"), "utf8")).toContain("height_above_table_m");
    writeFileSync(join(folder, "skill.proto"), proto);
  });

  it("is not written over another, nor under a name that is none", async () => {
    await expect(newSkill("altitude", parent)).rejects.toThrow(/exists already/);
    await expect(newSkill("Al titude", parent)).rejects.toThrow(/name is "Al titude"/);
  });
});
