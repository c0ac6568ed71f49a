import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { parseManifest, RESERVED_SKILLS, type Service, type SkillManifest } from "../config/skills/manifest.js";
import { type ResolvedSkills, resolveSkills } from "../config/skills/resolve.js";
import { isSkill2RealError, Skill2RealError } from "../contract/errors.js";
import { compiledModule, PACKAGE_ROOT } from "../contract/package-root.js";
import type { OperationTable } from "../runtime/operation.js";
import { REQUIRED_SKILLS } from "../runtime/required-skills.js";
import type { SkillSettings } from "./load-skills.js";

/** Services that this package brings along: a pointer that tells colours and shapes. */
const BUILT_IN_SERVICES: readonly Service[] = ["pointer"];

export type OptionalSkill = { name: string; functions: OperationTable; declarations: string };

export type Found = { manifest: SkillManifest; folder: string };

/** Skills of a user that bear the name of one to come would change their meaning later. */
function readManifest(folder: string, own: boolean): Found {
  const path = join(folder, "skill.toml");
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new Skill2RealError("bad_config", `${path} cannot be read: ${(cause as Error).message}`, { cause });
  }
  const manifest = parseManifest(text, path);
  if (!own && (RESERVED_SKILLS as readonly string[]).includes(manifest.name))
    throw new Skill2RealError("bad_config", `${path}: the name "${manifest.name}" is reserved; choose another`);
  return { manifest, folder };
}

/** Skill folders right below a folder: those that hold a manifest. */
const skillsIn = (folder: string, own: boolean): Found[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(folder, entry.name, "skill.toml")))
    .map((entry) => readManifest(join(folder, entry.name), own));

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
  // Only here, for it brings the whole TypeScript compiler along.
  const { default: tsBlankSpace } = await import("ts-blank-space");
  return import(
    `data:text/javascript;base64,${Buffer.from(tsBlankSpace(readFileSync(source, "utf8"))).toString("base64")}`
  );
}

/** Every skill that is there: ours, then those in the user's folders, each folder a skill or a folder of skills. */
function findSkills(paths: readonly string[]): Found[] {
  const users = paths.flatMap((path) => {
    if (!existsSync(path)) throw new Skill2RealError("bad_config", `skills.paths names ${path}, which does not exist`);
    return existsSync(join(path, "skill.toml")) ? [readManifest(path, false)] : skillsIn(path, false);
  });
  return [...skillsIn(join(PACKAGE_ROOT, "skills"), true), ...users];
}

/** Which skills are on, without their code: what a lock and a table need. */
export function resolveSettings(settings: SkillSettings): { resolved: ResolvedSkills; found: Found[] } {
  const found = findSkills(settings.paths);
  const catalogue = { manifests: found.map(({ manifest }) => manifest), required: REQUIRED_SKILLS };
  const resolved = resolveSkills(catalogue, settings, "robot", settings.services ?? BUILT_IN_SERVICES);
  return { resolved, found };
}

/** Which skills are on, and the code of those beside the required ones. */
export async function loadOptionalSkills(
  settings: SkillSettings,
): Promise<{ resolved: ResolvedSkills; loaded: OptionalSkill[] }> {
  const { resolved, found } = resolveSettings(settings);
  const loaded: OptionalSkill[] = [];
  for (const { name, exports } of resolved.enabled) {
    if (REQUIRED_SKILLS.includes(name)) continue;
    loaded.push(await loadOne(found.find(({ manifest }) => manifest.name === name)!, exports));
  }
  return { resolved, loaded };
}

/** SHA-256 over the files of each skill that is not ours, by its name: their names and content, whatever folder they lie in. */
export function userSkillDigests(found: readonly Found[]): Record<string, string> {
  const ours = join(PACKAGE_ROOT, "skills", sep);
  const digests: Record<string, string> = {};
  for (const { manifest, folder } of found) {
    if (folder.startsWith(ours)) continue;
    const hash = createHash("sha256");
    for (const file of filesBelow(folder))
      hash
        .update(`${file}\0`)
        .update(readFileSync(join(folder, file)))
        .update("\0");
    digests[manifest.name] = hash.digest("hex");
  }
  return digests;
}

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();

async function loadOne(found: Found, exports: readonly string[]): Promise<OptionalSkill> {
  const { name } = found.manifest;
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
