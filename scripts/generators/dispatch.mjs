/** Writes robot-api-dispatch.ts: the table of operations, and zod schemas of their requests and results. */
import { messageOf } from "./model.mjs";
import { baseName, fieldType, signature } from "./typescript.mjs";

const schemaName = (name, direction) =>
  `${name[0].toLowerCase()}${name.slice(1)}${direction === "request" ? "In" : "Out"}`;

function elementSchema(model, field, direction) {
  const range =
    (field.min === undefined ? "" : `.min(${field.min})`) + (field.max === undefined ? "" : `.max(${field.max})`);
  switch (field.kind) {
    case "number":
      return `z.number()${range}`;
    case "integer":
      return `z.${field.unsigned ? "uint32" : "int32"}()${range}`;
    case "boolean":
      return "z.boolean()";
    case "json":
      return "jsonValue";
    case "values":
      return `z.enum(${JSON.stringify(field.values)})`;
    case "enum": {
      const { values } = model.enums.find(({ name }) => name === field.ref);
      return `z.enum(${JSON.stringify(values.map(({ name }) => name))})`;
    }
    case "message":
      return schemaName(field.ref, direction);
    case "string": {
      const least = field.minLength === undefined ? "" : `.min(${field.minLength})`;
      return `z.string()${field.repeated ? "" : least + (field.maxLength === undefined ? "" : `.max(${field.maxLength})`)}`;
    }
    default:
      throw new Error(`${field.name}: no schema for ${field.kind}`);
  }
}

function fieldSchema(model, field, direction) {
  let schema = elementSchema(model, field, direction);
  if (field.repeated && field.length !== undefined) {
    schema = `z.tuple([${Array(field.length).fill(schema).join(", ")}])`;
  } else if (field.repeated) {
    const least = field.minLength === undefined ? "" : `.min(${field.minLength})`;
    schema = `z.array(${schema})${least}${field.maxLength === undefined ? "" : `.max(${field.maxLength})`}`;
  }
  if (field.nonzero) schema += ".check(nonzero)";
  if (field.repeated && direction === "request") schema += ".readonly()";
  if (field.nullable && field.kind !== "json") schema += ".nullable()";
  return field.optional ? `${schema}.optional()` : schema;
}

function objectSchema(model, message, head = "", fields = message.fields) {
  const body = fields.map((field) => `  ${field.name}: ${fieldSchema(model, field, message.direction)},\n`).join("");
  let schema = `z.strictObject({\n${head}${body}})`;
  for (const field of fields) {
    if (field.above) schema += `.check(above("${field.name}", "${field.above}"))`;
    if (field.needs) schema += `.check(needs("${field.name}", "${field.needs}"))`;
  }
  if (message.unitQuaternion) {
    schema += ".check(unitQuaternion)";
    if (message.direction === "request") schema += ".overwrite(normalised)";
  }
  return schema;
}

function variantSchemas(model, message, head) {
  const options = message.variants.map(({ value, ref }) => {
    const tag = `${head}  ${message.discriminator}: z.literal(${JSON.stringify(value)}),\n`;
    return objectSchema(model, messageOf(model, ref, message.direction), tag);
  });
  return `z.discriminatedUnion("${message.discriminator}", [${options.join(", ")}])`;
}

function resultSchema(model, operation) {
  const message = messageOf(model, operation.response, "response");
  if (operation.returnsString) return "z.string().min(1)";
  const head = `  status: z.literal("ok"),\n  message: z.string(),\n`;
  const payload = message.fields.filter(({ name }) => name !== "status" && name !== "message");
  const ok = message.variants ? variantSchemas(model, message, head) : objectSchema(model, message, head, payload);
  const kept = payload.filter(({ onFailure }) => onFailure).map((field) => ({ ...field, optional: true }));
  const codes = `  status: z.enum(${JSON.stringify(operation.failures)}),\n  message: z.string(),\n`;
  return `z.discriminatedUnion("status", [${ok}, ${objectSchema(model, message, codes, kept)}])`;
}

function messageSchemas(model) {
  const roots = new Set(model.operations.flatMap(({ request, response }) => [request, response]));
  const variants = new Set(model.messages.flatMap((message) => (message.variants ?? []).map(({ ref }) => ref)));
  return model.messages
    .filter(({ name }) => !roots.has(name) && !variants.has(name))
    .map((message) => `const ${schemaName(message.name, message.direction)} = ${objectSchema(model, message)};\n`);
}

function fieldInfo(model, field, direction) {
  const info = {
    name: field.name,
    kind: { values: "choice", enum: "choice", message: "object" }[field.kind] ?? field.kind,
    type: fieldType(field, direction),
    documentation: field.documentation,
    optional: field.optional === true,
    repeated: field.repeated,
  };
  const rules = [
    "length",
    "min",
    "max",
    "minLength",
    "maxLength",
    "values",
    "unsigned",
    "nonzero",
    "nullable",
    "above",
  ];
  for (const name of [...rules, "needs", "onFailure"]) {
    if (field[name] !== undefined && field[name] !== false) info[name] = field[name];
  }
  if (field.kind === "enum") {
    info.values = model.enums.find(({ name }) => name === field.ref).values.map(({ name }) => name);
  }
  if (field.kind === "message") {
    const message = messageOf(model, field.ref, direction);
    info.fields = fieldInfos(model, message);
    if (message.unitQuaternion) info.unitQuaternion = true;
  }
  return info;
}

const ENVELOPE = new Set(["status", "message"]);
const fieldInfos = (model, message) => message.fields.map((field) => fieldInfo(model, field, message.direction));

/** The fields of a message, or its sets of fields; of a result those beside status and message. */
export function messageInfo(model, name, direction) {
  const message = messageOf(model, name, direction);
  if (!message.variants) {
    const inner = message.fields.filter((field) => direction === "request" || !ENVELOPE.has(field.name));
    return { name, fields: fieldInfos(model, { ...message, fields: inner }) };
  }
  const variants = message.variants.map(({ value, ref }) => ({
    value,
    fields: fieldInfos(model, messageOf(model, ref, direction)),
  }));
  return { name, discriminator: message.discriminator, variants };
}

function operationEntry(model, operation) {
  const { name, number, skill, moves, returnsString, failures, summary, documentation, example } = operation;
  const info = { name, number, skill, moves, returnsString, statuses: failures };
  Object.assign(info, { signature: signature(model, operation), summary, documentation, example });
  info.request = messageInfo(model, operation.request, "request");
  return `  ${JSON.stringify(info, null, 2).replaceAll("\n", "\n  ")},\n`;
}

export function writeDispatch(model, banner) {
  const requests = model.operations.map(({ name, request }) => {
    const message = messageOf(model, request, "request");
    const schema = message.variants ? variantSchemas(model, message, "") : objectSchema(model, message);
    return `  ${name}: ${schema},\n`;
  });
  const done = new Map();
  const shared = [];
  const results = model.operations.map((operation) => {
    const name = operation.returnsString
      ? "text"
      : schemaName(baseName(operation.response), "result").replace(/Out$/, "Result");
    if (!done.has(name)) shared.push(`const ${name} = ${resultSchema(model, operation)};\n`);
    done.set(name, true);
    return `  ${operation.name}: ${name},\n`;
  });
  const entries = model.operations.map((operation) => operationEntry(model, operation));
  const text = `import { z } from "zod";
import type { OperationInfo } from "../operation-info.js";
import { above, jsonValue, needs, nonzero, normalised, unitQuaternion } from "../schema-rules.js";
import type { OperationName, RobotApiRequests, RobotApiResults } from "./robot-api.js";

${messageSchemas(model).join("\n")}
${shared.join("\n")}
/** Schemas of the requests: unknown keys, values out of range and numbers that are not finite are refused. */
export const REQUEST_SCHEMAS = {
${requests.join("")}} as const satisfies { [N in OperationName]: z.ZodType<RobotApiRequests[N]> };

/** Schemas of what the operations give; strict as well, so that no implementation says more or less than the contract. */
export const RESULT_SCHEMAS = {
${results.join("")}} as const satisfies { [N in OperationName]: z.ZodType<RobotApiResults[N]> };

/** The dispatch table: what is known of each operation, in the order of their numbers. */
export const OPERATIONS: readonly OperationInfo[] = [
${entries.join("")}];

/** The names of the operations, in the order of their numbers. */
export const OPERATION_NAMES = ${JSON.stringify(model.operations.map(({ name }) => name))} as const satisfies readonly OperationName[];
`;
  return `${banner}\n${text}`;
}
