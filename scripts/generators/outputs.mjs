/** Every generated file of the public contract: where it goes and what it holds. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { writeDeclarations } from "./declarations.mjs";
import { writeDigests, writeImplementationDigest } from "./digests.mjs";
import { writeDispatch } from "./dispatch.mjs";
import { writeDocsMarkdown, writeMarkdownModule, writePromptMarkdown } from "./markdown.mjs";
import { readContract, readSource } from "./model.mjs";
import { skillData, skillTypes } from "./skill.mjs";
import { writeStatuses } from "./statuses.mjs";
import { writeTypes } from "./types.mjs";

const SOURCE = "src/contract/robot_api.proto";
const GENERATED = "src/contract/generated";
const BANNER = `// Generated from ${SOURCE} by scripts/generate.mjs. Edit the .proto, then run "npm run generate".\n`;

function read(root) {
  try {
    return readContract(join(root, SOURCE));
  } catch (cause) {
    throw new Error(`${SOURCE}: ${cause.message}`, { cause });
  }
}

/** [path relative to the root, text] of each file. */
export function contractOutputs(root) {
  const model = read(root);
  return [
    [`${GENERATED}/robot-api.ts`, writeTypes(model, BANNER)],
    [`${GENERATED}/robot-api-declarations.ts`, writeDeclarations(model, BANNER)],
    [`${GENERATED}/robot-api-dispatch.ts`, writeDispatch(model, BANNER)],
    [`${GENERATED}/status-codes.ts`, writeStatuses(model, BANNER)],
    [`${GENERATED}/digests.ts`, writeDigests(model, BANNER)],
    [`${GENERATED}/implementation-digest.ts`, writeImplementationDigest(root)],
    [`${GENERATED}/robot-api-text.ts`, writeMarkdownModule(model, BANNER)],
    [`${GENERATED}/robot-api.md`, writePromptMarkdown(model)],
    ["docs/api.md", writeDocsMarkdown(model)],
  ];
}

/** [path, text] of what is made of the skill.proto of each skill that ships. */
export function skillOutputs(root) {
  const folder = join(root, "skills");
  const skills = existsSync(folder) ? readdirSync(folder).sort() : [];
  return skills
    .filter((skill) => existsSync(join(folder, skill, "skill.proto")))
    .flatMap((skill) => {
      const source = readSource(join(folder, skill, "skill.proto"));
      try {
        return [
          [
            `skills/${skill}/skill.gen.json`,
            `${JSON.stringify(skillData(source, skill, join(root, SOURCE)), null, 2)}\n`,
          ],
          [`skills/${skill}/skill.gen.ts`, skillTypes(source, skill, join(root, SOURCE))],
        ];
      } catch (cause) {
        throw new Error(`skills/${skill}/skill.proto: ${cause.message}`, { cause });
      }
    });
}
