import type { Capabilities } from "../../contract/generated/device.js";
import type { OperationName } from "../../contract/generated/robot-api.js";
import { ROBOT_API_TEXT } from "../../contract/generated/robot-api-text.js";
import type { ResolvedSkills } from "../skills/resolve.js";
import { capabilityFacts, PROMPT_FEATURES, promptFeatures } from "./capability-facts.js";
import type { PromptPack } from "./pack.js";
import { renderSection, type SectionScope } from "./render-section.js";
import { type DirectPrompt, directText } from "./texts.js";

/** What a prompt depends on beside its own files. */
export type PromptContext = {
  resolved: ResolvedSkills;
  capabilities: Capabilities;
  /** Documentation of each function of an optional skill, by its name. */
  functionTexts: ReadonlyMap<string, string>;
};

export type AssembledPrompt = {
  text: string;
  sections: { file: string; characters: number }[];
};

/** The system text of a pack for one set of skills and one robot. Throws Skill2RealError `bad_config` with file and line. */
export function assemblePrompt(pack: PromptPack, context: PromptContext): AssembledPrompt {
  const scope = scopeOf(
    context,
    pack.sections.map(({ text }) => text ?? ""),
  );
  const sections: { file: string; text: string }[] = [];
  for (const { file, skills, text } of pack.sections) {
    if (text === null) continue;
    const path = `${pack.name}/${file}`;
    // Rendered also where it is left out, so that a wrong marker shows on every machine.
    const rendered = renderSection(text, path, scope);
    const wanted = !skills || skills.some((name) => scope.enabled.has(name));
    if (wanted && rendered.trim() !== "") sections.push({ file, text: rendered });
  }
  return {
    text: sections.map(({ text }) => text).join("\n"),
    sections: sections.map(({ file, text }) => ({ file, characters: text.length })),
  };
}

/** The system text of a mode without programs. */
export const assembleDirect = (prompt: DirectPrompt, context: PromptContext): AssembledPrompt => {
  const source = directText(prompt);
  const text = renderSection(source, `${prompt}.md`, scopeOf(context, [source]));
  return { text, sections: [{ file: `${prompt}.md`, characters: text.length }] };
};

/** Skills that a text shows by name; `api: others` stands for all the rest, as those of a user. */
const shownIn = (texts: readonly string[]): Set<string> =>
  new Set(texts.flatMap((text) => [...text.matchAll(/<!--\s*api:\s*(\w+)\s*-->/g)].map(([, name]) => name ?? "")));

function scopeOf({ resolved, capabilities, functionTexts }: PromptContext, texts: readonly string[]): SectionScope {
  const shown = shownIn(texts);
  const others = resolved.enabled.filter(({ name }) => !shown.has(name)).flatMap(({ exports }) => exports);
  const api = new Map<string, string>([
    ["others", others.map((entry) => textOf(entry, functionTexts)).join("\n")],
    ["conventions", ROBOT_API_TEXT.conventions],
    ["types", ROBOT_API_TEXT.types],
    ["statuses", ROBOT_API_TEXT.statuses],
    ...resolved.off.map(({ name }): [string, string] => [name, ""]),
    ...resolved.enabled.map(({ name, exports }): [string, string] => [
      name,
      exports.map((entry) => textOf(entry, functionTexts)).join("\n"),
    ]),
  ]);
  return {
    skills: [...resolved.enabled, ...resolved.off].map(({ name }) => name),
    enabled: new Set(resolved.enabled.map(({ name }) => name)),
    features: PROMPT_FEATURES,
    present: promptFeatures(capabilities),
    api,
    values: capabilityFacts(capabilities),
  };
}

function textOf(name: string, functionTexts: ReadonlyMap<string, string>): string {
  const own = functionTexts.get(name) ?? ROBOT_API_TEXT.operations[name as OperationName];
  return own ?? `### ${name}\n`;
}
