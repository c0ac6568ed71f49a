import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parse } from "smol-toml";
import tsBlankSpace from "ts-blank-space";
import { z } from "zod";
import { describeIssues } from "../contract/describe-issues.js";
import { Skill2RealError } from "../contract/errors.js";
import { compiledModule, PACKAGE_ROOT } from "../contract/package-root.js";
import { suggest } from "../contract/suggest.js";
import type { OperationTable } from "../runtime/operation.js";
import type { SkillSettings } from "./load-skills.js";

export type OptionalSkill = { name: string; functions: OperationTable; declarations: string };

const manifestSchema = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9_]*$/),
  summary: z.string().min(1),
  layer: z.enum(["base", "learned", "reactive", "handlers"]).default("base"),
  exports: z.array(z.string().regex(/^[a-z][a-z0-9_]*$/)).min(1),
  requires: z.array(z.string()).default([]),
  optional: z.boolean().default(true),
  order: z.number().int().default(50),
});
type Manifest = z.infer<typeof manifestSchema>;
type Found = { manifest: Manifest; folder: string };

function readManifest(folder: string): Found {
  const path = join(folder, "skill.toml");
  let value: unknown;
  try {
    value = parse(readFileSync(path, "utf8"));
  } catch (cause) {
    throw new Skill2RealError("bad_config", `${path} cannot be read: ${(cause as Error).message}`, { cause });
  }
  const parsed = manifestSchema.safeParse(value);
  if (!parsed.success)
    throw new Skill2RealError(
      "bad_config",
      `${path}: ${describeIssues(manifestSchema, value, parsed.error.issues, "the manifest")}`,
    );
  return { manifest: parsed.data, folder };
}

/** Skill folders right below a folder: those that hold a manifest. */
const skillsIn = (folder: string): Found[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(folder, entry.name, "skill.toml")))
    .map((entry) => readManifest(join(folder, entry.name)));

/** The skill's module: ours as compiled, a user's index.js as it is, a user's index.ts (one file) with its types blanked out. */
async function importModule({
  folder,
  manifest,
}: Found): Promise<{ functions?: OperationTable; declarations?: string }> {
  const script = ["index.js", "index.mjs"].map((name) => join(folder, name)).find((path) => existsSync(path));
  const source = join(folder, "index.ts");
  if (folder.startsWith(join(PACKAGE_ROOT, "skills"))) {
    const path = import.meta.url.endsWith(".ts") ? source : compiledModule(`skills/${manifest.name}/index.ts`);
    return import(pathToFileURL(path).href);
  }
  if (script) return import(pathToFileURL(script).href);
  if (!existsSync(source))
    throw new Skill2RealError("bad_config", `${folder} has a skill.toml but neither index.ts nor index.js`);
  return import(
    `data:text/javascript;base64,${Buffer.from(tsBlankSpace(readFileSync(source, "utf8"))).toString("base64")}`
  );
}

/** The optional skills that are on: ours by name in `enable`, all of the user's folders; minus `disable`. */
export async function loadOptionalSkills(settings: SkillSettings): Promise<OptionalSkill[]> {
  const own = skillsIn(join(PACKAGE_ROOT, "skills"));
  const known = own.map(({ manifest }) => manifest.name);
  for (const name of settings.enable)
    if (!known.includes(name))
      throw new Skill2RealError(
        "bad_config",
        `skills.enable names "${name}", which is no skill of this package.${suggest(name, known)}`,
      );
  const users = settings.paths.flatMap((path) => {
    if (!existsSync(path)) throw new Skill2RealError("bad_config", `skills.paths names ${path}, which does not exist`);
    return existsSync(join(path, "skill.toml")) ? [readManifest(path)] : skillsIn(path);
  });
  const on = [...own.filter(({ manifest }) => settings.enable.includes(manifest.name)), ...users].filter(
    ({ manifest }) => !settings.disable.includes(manifest.name),
  );
  const loaded: OptionalSkill[] = [];
  for (const found of on.toSorted((a, b) => a.manifest.order - b.manifest.order)) {
    const { functions, declarations } = await importModule(found);
    const { name, exports } = found.manifest;
    if (!functions || typeof declarations !== "string")
      throw new Skill2RealError(
        "bad_config",
        `skill "${name}" must export "functions" (name to function) and "declarations" (their TypeScript declarations)`,
      );
    const missing = exports.filter((entry) => !functions[entry]);
    if (missing.length > 0)
      throw new Skill2RealError(
        "bad_config",
        `skill "${name}" exports ${missing.join(", ")} by its manifest, but its module has no such function`,
      );
    loaded.push({
      name,
      functions: Object.fromEntries(exports.map((entry) => [entry, functions[entry]!])),
      declarations,
    });
  }
  return loaded;
}
