import type { Service } from "../config/skills/manifest.js";
import type { ResolvedSkills } from "../config/skills/resolve.js";
import { ROBOT_API_DECLARATIONS } from "../contract/generated/robot-api-declarations.js";
import { OPERATIONS } from "../contract/generated/robot-api-dispatch.js";
import type { FunctionInfo } from "../contract/operation-info.js";
import type { OperationTable, SkillServices } from "../runtime/operation.js";
import { loadOperations, REQUIRED_SKILLS } from "../runtime/required-skills.js";
import { loadOptionalSkills, type OptionalSkill } from "./optional-skills.js";
import type { ForeignTool } from "./tools/settings.js";
import type { ToolCaller } from "./tools/tool-caller.js";

export type SkillSettings = {
  /** Folders of skills outside the package. */
  paths: readonly string[];
  enable: readonly string[];
  disable: readonly string[];
  /** Services at hand; left out: those that the package brings along. */
  services?: readonly Service[];
  /** Tools of foreign servers, which the skill "mcp" gives programs. */
  tools?: readonly ForeignTool[] | undefined;
};

/** Everything that a program can call, and what it is told of it. */
export type LoadedSkills = {
  /** Optional skills that are on. */
  names: string[];
  /** Code by name: the 18 operations and the functions of optional skills. */
  operations: OperationTable;
  /** The .d.ts text that programs are checked against. */
  declarations: string;
  functionNames: string[];
  /** Those whose results carry a `status`. */
  statusNames: string[];
  /** Documentation of each function of an optional skill, for prompts. */
  functionTexts: ReadonlyMap<string, string>;
  /** What is known of each function of an optional skill. */
  functionInfos: ReadonlyMap<string, FunctionInfo>;
  /** What is on, and why the rest is off. */
  resolved: ResolvedSkills;
};

/**
 * `services` are what functions of skills may ask; left out: nothing beside the built-in pointer. `caller` asks the servers of
 * foreign tools; left out: their functions fail.
 */
export async function loadSkills(
  settings: SkillSettings,
  services?: SkillServices,
  caller: ToolCaller | null = null,
): Promise<LoadedSkills> {
  const operations = await loadOperations();
  const { resolved, loaded: optional } = await loadOptionalSkills(settings, services, caller);
  const functions = Object.assign({}, ...optional.map((skill) => skill.functions)) as OperationTable;
  const strings = OPERATIONS.filter((operation) => operation.returnsString).map(
    (operation) => operation.name as string,
  );
  const functionNames = [...Object.keys(operations), ...Object.keys(functions)];
  return {
    names: optional.map((skill) => skill.name).filter((name) => !REQUIRED_SKILLS.includes(name)),
    operations: { ...operations, ...functions },
    declarations: [ROBOT_API_DECLARATIONS, ...optional.map(declarationsOf)].join("\n"),
    functionNames,
    functionTexts: new Map(optional.flatMap(documentation)),
    functionInfos: new Map(
      optional.flatMap(({ data, exports }) => exports.map((name) => [name, data.functions[name]!.info] as const)),
    ),
    resolved,
    statusNames: functionNames.filter((name) => !strings.includes(name)),
  };
}

/** The declarations of a skill without the functions of it that are off. */
function declarationsOf({ data, exports }: OptionalSkill): string {
  const off = Object.keys(data.functions).filter((name) => !exports.includes(name));
  return off.reduce((text, name) => text.replace(data.functions[name]!.member, ""), data.declarations);
}

/** Each function's documentation; a type that several share is shown with the first of them that is on. */
function documentation({ data, exports }: OptionalSkill): [string, string][] {
  return exports.map((name) => {
    const types = data.types.filter(({ functions }) => functions.find((one) => exports.includes(one)) === name);
    return [name, [data.functions[name]!.text, ...types.map(({ text }) => text)].join("\n")];
  });
}
