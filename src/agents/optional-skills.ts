import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { parse } from "smol-toml";
import tsBlankSpace from "ts-blank-space";
import { z } from "zod";
import { describeIssues } from "../contract/describe-issues.js";
import { isSkill2RealError, Skill2RealError } from "../contract/errors.js";
import { OPERATIONS } from "../contract/generated/robot-api-dispatch.js";
import { compiledModule, PACKAGE_ROOT } from "../contract/package-root.js";
import { suggest } from "../contract/suggest.js";
import type { OperationTable } from "../runtime/operation.js";
import { REQUIRED_SKILLS } from "../runtime/required-skills.js";
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
  if (folder.startsWith(join(PACKAGE_ROOT, "skills", sep))) {
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
  checkTogether(on.map(({ manifest }) => manifest));
  const loaded: OptionalSkill[] = [];
  for (const found of on.toSorted((a, b) => a.manifest.order - b.manifest.order)) loaded.push(await loadOne(found));
  return loaded;
}

async function loadOne(found: Found): Promise<OptionalSkill> {
  const { name, exports } = found.manifest;
  const { functions, declarations } = await importModule(found).catch((cause: unknown) => {
    if (isSkill2RealError(cause)) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Skill2RealError("bad_config", `skill "${name}" cannot be loaded: ${why}`, { cause });
  });
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
  // Of another kind it would be given what lies below the operations.
  const deeper = exports.find((entry) => functions[entry]?.kind !== "function");
  if (deeper !== undefined)
    throw new Skill2RealError(
      "bad_config",
      `skill "${name}": ${deeper} must be of kind "function", with check and run`,
    );
  return { name, functions: Object.fromEntries(exports.map((entry) => [entry, functions[entry]!])), declarations };
}

/** Names of skills and of what they export belong to one skill each, and never to an operation; what a skill needs is on. */
function checkTogether(manifests: readonly Manifest[]): void {
  const owners = new Map<string, string>(OPERATIONS.map(({ name }) => [name, "the contract"]));
  const names = new Set<string>();
  for (const { name, exports } of manifests) {
    if (names.has(name) || REQUIRED_SKILLS.includes(name))
      throw new Skill2RealError("bad_config", `there are two skills named "${name}": rename one, or disable both`);
    names.add(name);
    for (const entry of exports) {
      const owner = owners.get(entry);
      if (owner !== undefined)
        throw new Skill2RealError(
          "bad_config",
          `skill "${name}" exports ${entry}, which is already there from ${owner}`,
        );
      owners.set(entry, `skill "${name}"`);
    }
  }
  for (const { name, requires } of manifests) {
    const off = requires.find((needed) => !names.has(needed) && !REQUIRED_SKILLS.includes(needed));
    if (off !== undefined)
      throw new Skill2RealError("bad_config", `skill "${name}" requires the skill "${off}", which is off or unknown`);
  }
}
