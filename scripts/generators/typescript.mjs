/** How the model's fields, messages and operations are written in TypeScript. */
import { messageOf } from "./model.mjs";

export const quoted = (values) => values.map((value) => JSON.stringify(value)).join(" | ");

/** A documentation comment; several lines where it has paragraphs or is long. */
export function tsdoc(text, indent = "") {
  if (!text) return "";
  const lines = text.replaceAll("*/", "* /").split("\n");
  if (lines.length === 1 && lines[0].length < 140) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join("\n")}\n${indent} */\n`;
}

/** Limits of a field in words, or an empty string. */
export function limits(field) {
  const parts = [];
  if (field.min !== undefined && field.max !== undefined) parts.push(`${field.min} to ${field.max}`);
  else if (field.min !== undefined) parts.push(`at least ${field.min}`);
  else if (field.max !== undefined) parts.push(`at most ${field.max}`);
  if (field.repeated && field.length === undefined && (field.minLength ?? field.maxLength) !== undefined) {
    parts.push(`${field.minLength ?? 0} to ${field.maxLength ?? "any number of"} elements`);
  }
  return parts.join(", ");
}

export function fieldDoc(field) {
  const range = limits(field);
  const text = field.documentation;
  return range ? `${text}${/[.!?]$/.test(text) ? "" : "."} Range: ${range}.` : text;
}

const SCALARS = { number: "number", integer: "number", string: "string", boolean: "boolean", json: "JsonValue" };

/** The type of a field. Lists of a request are readonly: a program may hand over a constant. */
export function fieldType(field, direction) {
  const element = SCALARS[field.kind] ?? (field.kind === "values" ? quoted(field.values) : field.ref);
  let type = element;
  if (field.repeated) {
    const list = element.includes("|") ? `(${element})` : element;
    type = field.length === undefined ? `${list}[]` : `[${Array(field.length).fill(element).join(", ")}]`;
    if (direction === "request") type = `readonly ${type}`;
  }
  return field.nullable && field.kind !== "json" ? `${type} | null` : type;
}

const member = (field, direction, optional) =>
  `${tsdoc(fieldDoc(field), "  ")}  ${field.name}${optional ? "?" : ""}: ${fieldType(field, direction)};\n`;

const members = (message, optional = (field) => field.optional === true) =>
  message.fields.map((field) => member(field, message.direction, optional(field))).join("");

export const baseName = (response) => response.replace(/Response$/, "");

const isResult = (message) => message.fields.some(({ name, ref }) => name === "status" && ref === "StatusCode");
const payload = (message) => message.fields.filter(({ name }) => name !== "status" && name !== "message");
const envelope = (message) => Object.fromEntries(message.fields.map((field) => [field.name, field]));

function plainType(message, x) {
  if (message.fields.length === 0)
    return `${tsdoc(message.documentation)}${x}type ${message.name} = Record<string, never>;\n`;
  return `${tsdoc(message.documentation)}${x}type ${message.name} = {\n${members(message)}};\n`;
}

function variantTypes(model, message, x, head) {
  return message.variants.map(({ value, documentation, ref }) => {
    const variant = messageOf(model, ref, message.direction);
    const tag = `${tsdoc(documentation, "  ")}  ${message.discriminator}: ${JSON.stringify(value)};\n`;
    return `${tsdoc(variant.documentation)}${x}type ${ref} = {\n${head}${tag}${members(variant)}};\n`;
  });
}

function resultTypes(model, message, x) {
  const base = baseName(message.name);
  const { status, message: words } = envelope(message);
  const operation = model.operations.find(({ response }) => response === message.name);
  const head = `${tsdoc(status.documentation, "  ")}  status: "ok";\n${member(words, "response", false)}`;
  const codes = ["CommonFailure", ...operation.ownStatuses.map((code) => JSON.stringify(code))].join(" | ");
  const kept = payload(message).filter(({ onFailure }) => onFailure);
  const out = [];
  if (message.variants) {
    out.push(...variantTypes(model, message, x, head));
    const names = message.variants.map(({ ref }) => ref).join(" | ");
    out.push(`${tsdoc(message.documentation)}${x}type ${base}Ok = ${names};\n`);
  } else {
    const body = payload(message)
      .map((field) => member(field, "response", false))
      .join("");
    out.push(`${tsdoc(message.documentation)}${x}type ${base}Ok = {\n${head}${body}};\n`);
  }
  const failed =
    `${tsdoc("Why not.", "  ")}  status: ${codes};\n${tsdoc("What to mend, for a person.", "  ")}  message: string;\n` +
    kept.map((field) => member(field, "response", true)).join("");
  out.push(`${x}type ${base}Failed = {\n${failed}};\n`);
  out.push(`${x}type ${base}Result = ${base}Ok | ${base}Failed;\n`);
  return out;
}

function enumType({ name, documentation, values }, x) {
  const lines = values.map((value) => `${tsdoc(value.documentation, "  ")}  | ${JSON.stringify(value.name)}`);
  return `${tsdoc(documentation)}${x}type ${name} =\n${lines.join("\n")};\n`;
}

/**
 * All types of a model, each as one piece of text. `x` stands before each ("export " or nothing). They are type aliases,
 * not interfaces, so that a program may return a result as a JsonValue.
 */
export function typePieces(model, x) {
  const common = model.statusCodes.filter((code) => code.common).map(({ name }) => name);
  const pieces = [
    `${tsdoc("What JSON can hold.")}${x}type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };\n`,
    enumType({ name: "StatusCode", documentation: model.status.documentation, values: model.statusCodes }, x),
    `${tsdoc("Codes that every operation may give.")}${x}type CommonFailure = ${quoted(common)};\n`,
  ];
  return [...pieces, ...ownPieces(model, x)];
}

/** The types of a model beside those that every contract has; messages marked `shared` are declared elsewhere. */
export function ownPieces(model, x) {
  const pieces = model.enums.map((type) => enumType(type, x));
  const variants = new Set(model.messages.flatMap((message) => (message.variants ?? []).map(({ ref }) => ref)));
  const strings = new Set(
    model.operations.filter(({ returnsString }) => returnsString).map(({ response }) => response),
  );
  const written = new Map();
  for (const message of model.messages) {
    if (variants.has(message.name) || strings.has(message.name) || message.shared) continue;
    let texts;
    if (isResult(message)) texts = resultTypes(model, message, x);
    else if (message.variants) {
      const names = message.variants.map(({ ref }) => ref).join(" | ");
      texts = [
        ...variantTypes(model, message, x, ""),
        `${tsdoc(message.documentation)}${x}type ${message.name} = ${names};\n`,
      ];
    } else texts = [plainType(message, x)];
    const before = written.get(message.name);
    if (before === undefined) pieces.push(...texts);
    else if (before !== texts.join(""))
      throw new Error(`${message.name} is not the same type in requests and in results`);
    written.set(message.name, texts.join(""));
  }
  return pieces;
}

export const resultType = ({ returnsString, response }) => (returnsString ? "string" : `${baseName(response)}Result`);

/** Whether a call may leave out its request. */
export function requestIsOptional(model, operation) {
  const message = messageOf(model, operation.request, "request");
  return !message.variants && message.fields.every(({ optional }) => optional);
}

export function signature(model, operation) {
  const mark = requestIsOptional(model, operation) ? "?" : "";
  return `${operation.name}(request${mark}: ${operation.request}): Promise<${resultType(operation)}>`;
}

export function statusLine(operation) {
  const own = operation.ownStatuses.join(", ");
  const given = operation.returnsString ? "Throws RobotError with a code" : "Statuses: ok";
  const list = operation.returnsString ? ` of: ${own}` : own ? `, ${own}` : "";
  return `${given}${list}, and those that every operation may give.`;
}

/** One method of the interface RobotApi with its documentation. */
export function apiMember(model, operation) {
  const notes = [operation.moves ? "Moves the arm or the gripper." : "", statusLine(operation)]
    .filter(Boolean)
    .join(" ");
  const text = `${operation.documentation}\n\n${notes}\n\n@example\n\`\`\`ts\n${operation.example}\n\`\`\``;
  return `${tsdoc(text, "  ")}  ${signature(model, operation)};\n`;
}

/** The interface RobotApi, an async method for each operation. */
export function apiInterface(model, x, about = "Everything that a program may ask of the robot.") {
  const methods = model.operations.map((operation) => apiMember(model, operation));
  return `${tsdoc(about)}${x}interface RobotApi {\n${methods.join("\n")}}\n`;
}
