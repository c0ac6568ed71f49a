import type { OperationTable } from "../runtime/operation.js";
import type { SkillSettings } from "./load-skills.js";

export type OptionalSkill = { name: string; functions: OperationTable; declarations: string };

export async function loadOptionalSkills(_settings: SkillSettings): Promise<OptionalSkill[]> {
  return [];
}
