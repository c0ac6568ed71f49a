/** Every generated file of the public contract: where it goes and what it holds. */
import { join } from "node:path";
import { writeDeclarations } from "./declarations.mjs";
import { writeDigests, writeImplementationDigest } from "./digests.mjs";
import { writeDispatch } from "./dispatch.mjs";
import { writeDocsMarkdown, writeMarkdownModule, writePromptMarkdown } from "./markdown.mjs";
import { readContract } from "./model.mjs";
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
