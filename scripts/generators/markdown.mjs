/** Writes the API as Markdown: robot-api.md and robot-api-text.ts for prompts and commands, docs/api.md for people. */
import { messageOf } from "./model.mjs";
import { baseName, fieldDoc, fieldType, signature, statusLine } from "./typescript.mjs";

const code = (text) => `\`${text}\``;

function fieldLine(field, direction, indent = "") {
  const mark = field.optional ? "?" : "";
  return `${indent}- ${code(`${field.name}${mark}: ${fieldType(field, direction)}`)} ${fieldDoc(field)}`;
}

const payload = (message) => message.fields.filter(({ name }) => name !== "status" && name !== "message");

function fieldList(model, message) {
  if (!message.variants) return payload(message).map((field) => fieldLine(field, message.direction));
  return message.variants.flatMap(({ value, documentation, ref }) => [
    `- ${code(`${message.discriminator}: "${value}"`)} ${documentation}, with:`,
    ...messageOf(model, ref, message.direction).fields.map((field) => fieldLine(field, message.direction, "  ")),
  ]);
}

function givenLines(model, operation) {
  const message = messageOf(model, operation.response, "response");
  if (operation.returnsString) return [`Gives a string: ${message.fields[0].documentation}.`];
  const status = message.fields.find(({ name }) => name === "status").documentation;
  const kept = payload(message)
    .filter(({ onFailure }) => onFailure)
    .map(({ name }) => code(name));
  const lines = [
    `Gives (${code(`${baseName(operation.response)}Result`)}; status ${status}):`,
    "",
    ...fieldList(model, message),
  ];
  if (kept.length > 0) lines.push("", `A failed result may also hold ${kept.join(", ")}.`);
  return lines;
}

export function operationSection(model, operation) {
  const request = fieldList(model, messageOf(model, operation.request, "request"));
  const facts = [
    `Skill ${code(operation.skill)}.`,
    operation.moves ? "**Moves the arm or the gripper.**" : "Moves nothing.",
  ];
  return [
    operation.number === undefined ? `### ${operation.name}` : `### ${operation.number}. ${operation.name}`,
    "",
    code(signature(model, operation)),
    "",
    operation.documentation,
    "",
    ...(request.length > 0 ? ["Takes:", "", ...request] : ["Takes nothing."]),
    "",
    ...givenLines(model, operation),
    "",
    `${facts.join(" ")} ${statusLine(operation)}`,
    "",
    "```ts",
    operation.example,
    "```",
    "",
  ];
}

/** One shared message or enum. */
export function typeLines({ name, documentation, fields, values, direction }) {
  const members = fields
    ? fields.map((field) => fieldLine(field, direction))
    : values.map((value) => `- ${code(`"${value.name}"`)} ${value.documentation}`);
  return [`**${name}**: ${documentation}`, "", ...members, ""];
}

function sharedSections(model) {
  const roots = new Set(model.operations.flatMap(({ request, response }) => [request, response]));
  const variants = new Set(model.messages.flatMap((message) => (message.variants ?? []).map(({ ref }) => ref)));
  const seen = new Set([...roots, ...variants]);
  const lines = [];
  for (const message of model.messages) {
    if (seen.has(message.name)) continue;
    seen.add(message.name);
    lines.push(...typeLines(message));
  }
  for (const type of model.enums) lines.push(...typeLines(type));
  return lines;
}

function statusSection(model) {
  const rows = model.statusCodes.map(
    ({ name, common, documentation }) => `- ${code(name)}${common ? " (every operation)" : ""} ${documentation}`,
  );
  return [model.status.documentation.replace(/ COMMON.*/, ""), "", ...rows, ""];
}

const SCOPE = [
  "A program is the body of one async function in TypeScript. In scope: `robot`, `console.log`, `sleep(seconds)` (device time) and ES2022;",
  "no files, no network, no imports. What it returns (JSON) is kept for the next stage.",
];

const body = (model) => [
  "## Conventions",
  "",
  ...SCOPE,
  "",
  model.overview,
  "",
  "## Operations",
  "",
  ...model.operations.flatMap((operation) => operationSection(model, operation)),
  "## Types",
  "",
  ...sharedSections(model),
];

const textOf = (lines) => JSON.stringify(`${lines.join("\n").trimEnd()}\n`);

/** The same text in pieces, as a module, for those who show one operation or only some. */
export function writeMarkdownModule(model, banner) {
  const operations = model.operations.map(
    (operation) => `    ${operation.name}: ${textOf(operationSection(model, operation))},\n`,
  );
  return `${banner}
import type { OperationName } from "./robot-api.js";

/** The API text (Markdown) in pieces; all of it in one is robot-api.md. */
export const ROBOT_API_TEXT: {
  readonly conventions: string;
  readonly operations: { readonly [N in OperationName]: string };
  readonly types: string;
  readonly statuses: string;
} = {
  conventions: ${textOf([...SCOPE, "", model.overview])},
  operations: {
${operations.join("")}  },
  types: ${textOf(sharedSections(model))},
  statuses: ${textOf(statusSection(model))},
};
`;
}

export function writePromptMarkdown(model) {
  const lines = ["# Robot API", "", ...body(model), "## Status codes", "", ...statusSection(model)];
  return `${lines.join("\n").trimEnd()}\n`;
}

const cell = (text) => text.replaceAll("|", "\\|").replaceAll("\n", " ");

function inventoryTable(model) {
  const rows = model.operations.map(({ number, name, skill, moves, summary }) => {
    const anchor = `[${name}](#${number}-${name})`;
    return `| ${number} | ${anchor} | ${skill} | ${moves ? "yes" : ""} | ${cell(summary)} |`;
  });
  return ["| number | operation | skill | moves | what it does |", "| --- | --- | --- | --- | --- |", ...rows, ""];
}

function statusTable(model) {
  const rows = model.statusCodes.map(({ name, number, common, documentation }) => {
    const from = common
      ? "every operation"
      : model.operations
          .filter((o) => o.ownStatuses.includes(name))
          .map((o) => o.name)
          .join(", ");
    return `| ${number} | ${code(name)} | ${cell(documentation)} | ${name === "ok" ? "every operation" : from} |`;
  });
  return ["| number | code | meaning | given by |", "| --- | --- | --- | --- |", ...rows, ""];
}

export function writeDocsMarkdown(model) {
  const lines = [
    "<!-- Generated from src/contract/robot_api.proto by scripts/generate.mjs. Edit the .proto, then run `npm run generate`. -->",
    "# What can a program ask of the robot?",
    "",
    `The ${model.operations.length} operations below are all of it. They are declared in \`src/contract/robot_api.proto\`, whose comments this page is made of;`,
    "`skill2real api [operation]` prints the same on the command line.",
    "",
    ...inventoryTable(model),
    ...body(model),
    "## Status codes",
    "",
    model.status.documentation.replace(/ COMMON.*/, ""),
    "",
    ...statusTable(model),
  ];
  return `${lines.join("\n").trimEnd()}\n`;
}
