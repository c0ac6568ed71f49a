import { existsSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { Skill2RealError } from "../../contract/errors.js";
import type { FunctionInfo } from "../../contract/operation-info.js";
import { PACKAGE_ROOT, packageFile } from "../../contract/package-root.js";

/** What is made of a skill.proto: everything but the code of the functions. */
export type SkillData = {
  skill: string;
  /** Ambient TypeScript declarations that are joined to those of the contract. */
  declarations: string;
  /** Types that the declarations declare. */
  type_names: string[];
  /** Documentation of types that requests and results are made of, and the functions that use each. */
  types: { name: string; text: string; functions: string[] }[];
  /** By name: what it takes and gives, its documentation for prompts, and its member of the declarations. */
  functions: Record<string, { info: FunctionInfo; text: string; member: string }>;
  /** SHA-256 of structure and words. */
  digest: string;
};

type Generator = {
  skillData(source: string, skill: string, contractPath: string): SkillData;
  ambientSkillTypes(source: string, skill: string, contractPath: string): string;
};

const CONTRACT = packageFile("src", "contract", "robot_api.proto");

export const skillFolder = (name: string): string => packageFile("skills", name);
/** Whether a folder is that of a skill that ships. */
export const isOurs = (folder: string): boolean => folder.startsWith(join(PACKAGE_ROOT, "skills", sep));

const shipped = new Map<string, SkillData>();

/** That of a skill that ships; a skill without a skill.proto has no functions of its own. */
export function shippedSkillData(name: string): SkillData {
  const known = shipped.get(name);
  if (known) return known;
  const file = join(skillFolder(name), "skill.gen.json");
  const data: SkillData = existsSync(file)
    ? (JSON.parse(readFileSync(file, "utf8")) as SkillData)
    : { skill: name, declarations: "", type_names: [], types: [], functions: {}, digest: "" };
  shipped.set(name, data);
  return data;
}

/** The generator is plain JavaScript that also runs before anything is compiled, hence not imported as a module of ours. */
const generator = async (): Promise<Generator> =>
  import(pathToFileURL(packageFile("scripts", "generators", "skill.mjs")).href) as Promise<Generator>;

function protoOf(folder: string): { path: string; source: string } {
  const path = join(folder, "skill.proto");
  if (!existsSync(path))
    throw new Skill2RealError(
      "bad_config",
      `${folder} has no skill.proto: declare there what its functions take and give ("skill2real skills new" writes one)`,
    );
  return { path, source: readFileSync(path, "utf8") };
}

/** "… (line 12)" of the parser becomes "file:12: …". */
function refused(path: string, cause: unknown): Skill2RealError {
  const words = cause instanceof Error ? cause.message : String(cause);
  const line = /\(line (\d+)\)/.exec(words)?.[1];
  const text = words.replace(/\s*\((?:[^()]*, )?line \d+\)/, "");
  return new Skill2RealError("bad_config", `${path}${line === undefined ? "" : `:${line}`}: ${text}`, { cause });
}

/** Made in memory from the skill.proto of a folder. Throws Skill2RealError `bad_config` naming file and line. */
export async function skillDataOf(folder: string, name: string): Promise<SkillData> {
  const { path, source } = protoOf(folder);
  const { skillData } = await generator();
  try {
    return skillData(source, name, CONTRACT);
  } catch (cause) {
    throw refused(path, cause);
  }
}

/** The ambient type `SkillFunctions`, which the index.ts of a skill outside the package is checked against. */
export async function ambientTypesOf(folder: string, name: string): Promise<string> {
  const { path, source } = protoOf(folder);
  const { ambientSkillTypes } = await generator();
  try {
    return ambientSkillTypes(source, name, CONTRACT);
  } catch (cause) {
    throw refused(path, cause);
  }
}
