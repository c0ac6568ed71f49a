import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { SkillManifest } from "../../config/skills/manifest.js";
import { Skill2RealError } from "../../contract/errors.js";
import { compiledModule } from "../../contract/package-root.js";
import type { SkillContext } from "../../runtime/operation.js";
import { checkSkillTypes } from "./check-skill-types.js";
import { isOurs, type SkillData } from "./skill-data.js";

export type SkillRun = (context: SkillContext, request: never) => Promise<unknown>;
type Module = { functions?: Record<string, SkillRun> };

/** `functions` of a skill's module: ours as compiled, a user's index.js as it is, a user's index.ts (one file) once its types hold. */
export async function skillModule(
  { manifest, folder }: { manifest: SkillManifest; folder: string },
  data: SkillData,
): Promise<Module["functions"]> {
  const source = join(folder, "index.ts");
  if (isOurs(folder)) {
    if (Object.keys(data.functions).length === 0) return {};
    const path = import.meta.url.endsWith(".ts") ? source : compiledModule(`skills/${manifest.name}/index.ts`);
    return ((await import(pathToFileURL(path).href)) as Module).functions;
  }
  const script = ["index.js", "index.mjs"].map((name) => join(folder, name)).find((path) => existsSync(path));
  if (script) return ((await import(pathToFileURL(script).href)) as Module).functions;
  if (!existsSync(source))
    throw new Skill2RealError("bad_config", `${folder} has a skill.toml but neither index.ts nor index.js`);
  const text = readFileSync(source, "utf8");
  await checkSkillTypes(folder, manifest.name, data);
  // Only here, for it brings the whole TypeScript compiler along.
  const { default: tsBlankSpace } = await import("ts-blank-space");
  const url = `data:text/javascript;base64,${Buffer.from(tsBlankSpace(text)).toString("base64")}`;
  return ((await import(url)) as Module).functions;
}
