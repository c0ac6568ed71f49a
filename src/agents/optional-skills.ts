import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { folderDigest } from "../config/lock/folder-digest.js";
import { parseManifest, RESERVED_SKILLS, type Service, type SkillManifest } from "../config/skills/manifest.js";
import { type ResolvedSkills, resolveSkills } from "../config/skills/resolve.js";
import { isSkill2RealError, Skill2RealError } from "../contract/errors.js";
import { ROBOT_API_DECLARATIONS } from "../contract/generated/robot-api-declarations.js";
import { functionChecks } from "../contract/info-schemas.js";
import type { FunctionInfo } from "../contract/operation-info.js";
import { PACKAGE_ROOT } from "../contract/package-root.js";
import { isOperationName } from "../contract/validate-request.js";
import { OperationFailure, type OperationTable, type SkillFunction, type SkillServices } from "../runtime/operation.js";
import { REQUIRED_SKILLS } from "../runtime/required-skills.js";
import type { SkillSettings } from "./load-skills.js";
import { isOurs, type SkillData, shippedSkillData, skillDataOf, skillFolder } from "./skills/skill-data.js";
import { type SkillRun, skillModule } from "./skills/skill-module.js";
import type { ForeignTool } from "./tools/settings.js";
import type { ToolCaller } from "./tools/tool-caller.js";
import { toolData } from "./tools/tool-data.js";

/** Services that this package brings along: a pointer that tells colours and shapes. */
const BUILT_IN_SERVICES: readonly Service[] = ["pointer"];
/** The skill whose functions are the tools of foreign servers. */
export const TOOLS_SKILL = "mcp";
const NO_SERVICES: SkillServices = { pointer: null, segmenter: null, verifier: null };

export type OptionalSkill = { name: string; functions: OperationTable; data: SkillData; exports: string[] };

const bad = (message: string, cause?: unknown): Skill2RealError =>
  new Skill2RealError("bad_config", message, cause === undefined ? {} : { cause });

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

/** Every skill that is there: ours, then those in the user's folders, each folder a skill or a folder of skills. */
function findSkills(paths: readonly string[]): Found[] {
  const users = paths.flatMap((path) => {
    if (!existsSync(path)) throw new Skill2RealError("bad_config", `skills.paths names ${path}, which does not exist`);
    return existsSync(join(path, "skill.toml")) ? [readManifest(path, false)] : skillsIn(path, false);
  });
  return [...skillsIn(join(PACKAGE_ROOT, "skills"), true), ...users];
}

/** What the skill "mcp" exports is what servers have. */
const withTools = (found: Found[], tools: readonly ForeignTool[]): Found[] =>
  found.map(({ manifest, folder }) =>
    manifest.name === TOOLS_SKILL
      ? { manifest: { ...manifest, exports: tools.map(({ function_name }) => function_name) }, folder }
      : { manifest, folder },
  );

/** Which skills are on, without their code: what a lock and a table need. */
export function resolveSettings(settings: SkillSettings): { resolved: ResolvedSkills; found: Found[] } {
  const found = withTools(findSkills(settings.paths), settings.tools ?? []);
  const catalogue = { manifests: found.map(({ manifest }) => manifest), required: REQUIRED_SKILLS };
  const resolved = resolveSkills(catalogue, settings, "robot", settings.services ?? BUILT_IN_SERVICES);
  return { resolved, found };
}

/** Which skills are on, and the code of what they add to the operations of the contract. */
export async function loadOptionalSkills(
  settings: SkillSettings,
  services: SkillServices = NO_SERVICES,
  caller: ToolCaller | null = null,
): Promise<{ resolved: ResolvedSkills; loaded: OptionalSkill[] }> {
  const { resolved, found } = resolveSettings(settings);
  const loaded: OptionalSkill[] = [];
  for (const { name, exports } of resolved.enabled) {
    const added = exports.filter((entry) => !isOperationName(entry));
    if (name === TOOLS_SKILL) {
      const tools = settings.tools ?? [];
      // Only here: it brings a validator of JSON schemas along, which most runs do not need.
      const { toolFunctions } = await import("./tools/tool-functions.js");
      loaded.push({ name, functions: toolFunctions(tools, caller), data: toolData(tools), exports: added });
      continue;
    }
    if (added.length > 0 || !REQUIRED_SKILLS.includes(name))
      loaded.push(await loadOne(found.find(({ manifest }) => manifest.name === name)!, added, services));
  }
  checkTypeNames(loaded);
  return { resolved, loaded };
}

/** The declarations of all skills are joined: a type may be declared by one of them only. */
function checkTypeNames(loaded: readonly OptionalSkill[]): void {
  const owners = new Map<string, string>(
    [...ROBOT_API_DECLARATIONS.matchAll(/^type (\w+)/gm)].map(([, type]) => [type!, "the contract"]),
  );
  for (const { name, data } of loaded)
    for (const type of data.type_names) {
      const owner = owners.get(type);
      if (owner !== undefined)
        throw bad(`skill "${name}" declares the type ${type}, as ${owner} does: rename the message in its skill.proto`);
      owners.set(type, `skill "${name}"`);
    }
}

/** Digests of what the shipped optional skills that are on declare, by name. */
export const functionDigests = (resolved: ResolvedSkills): Record<string, string> =>
  Object.fromEntries(
    resolved.enabled
      .filter(
        ({ name, exports }) =>
          name !== TOOLS_SKILL && isOurs(skillFolder(name)) && exports.some((entry) => !isOperationName(entry)),
      )
      .map(({ name }) => [name, shippedSkillData(name).digest]),
  );

/** SHA-256 over the files of each skill that is not ours, by its name: their names and content, whatever folder they lie in. */
export function userSkillDigests(found: readonly Found[]): Record<string, string> {
  const digests: Record<string, string> = {};
  for (const { manifest, folder } of found) {
    if (isOurs(folder)) continue;
    digests[manifest.name] = folderDigest(folder);
  }
  return digests;
}

/** Code of the functions of one skill that are on, with checks of what they take and give as its skill.proto says. */
async function loadOne(found: Found, exports: readonly string[], services: SkillServices): Promise<OptionalSkill> {
  const { manifest, folder } = found;
  const { name } = manifest;
  const own = isOurs(folder);
  const data = own ? shippedSkillData(name) : await skillDataOf(folder, name);
  const undeclared = exports.filter((entry) => !data.functions[entry]);
  if (undeclared.length > 0)
    throw bad(`skill "${name}" exports ${undeclared.join(", ")} by its manifest, but its skill.proto has no such rpc`);
  const extra = Object.keys(data.functions).find((entry) => !manifest.exports.includes(entry));
  if (extra !== undefined)
    throw bad(`skill "${name}": its skill.proto declares ${extra}, which exports in its skill.toml does not list`);
  const functions = await skillModule(found, data).catch((cause: unknown) => {
    if (isSkill2RealError(cause)) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw bad(`skill "${name}" cannot be loaded: ${why}`, cause);
  });
  const table: OperationTable = {};
  for (const entry of exports) {
    const run = functions?.[entry];
    if (typeof run !== "function")
      throw bad(`skill "${name}" must export "functions" with ${entry}: async (context, request) => result`);
    table[entry] = skillFunction(data.functions[entry]!.info, run, services);
  }
  return { name, functions: table, data, exports: [...exports] };
}

/** A function with the checks of its documentation around it. */
function skillFunction(info: FunctionInfo, run: SkillRun, services: SkillServices): SkillFunction {
  const checks = functionChecks(info);
  return {
    kind: "function",
    moves: info.moves,
    check: (value) => {
      const checked = checks.request(value);
      if (!checked.ok) throw new OperationFailure("invalid_argument", checked.message);
      return checked.request;
    },
    conform: (value) => checks.result(value),
    run: async (context, request) => {
      const result: unknown = await run({ ...context, services }, request);
      if (typeof result !== "object" || result === null)
        throw new OperationFailure("internal_error", `${info.name} gave ${String(result)} instead of its fields`);
      return result as Record<string, unknown>;
    },
  };
}
