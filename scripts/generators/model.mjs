/**
 * Reads a .proto that declares program-facing operations into a plain model that the writers of this folder print.
 * Refuses what would generate a wrong or undocumented API: missing comments, unknown status codes, double numbers.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import protobuf from "protobufjs";

const DESCRIPTOR = join(
  dirname(fileURLToPath(import.meta.resolve("protobufjs/package.json"))),
  "google/protobuf/descriptor.proto",
);
const PARSE = { keepCase: true, alternateCommentMode: true, preferTrailingComment: false };
const INTEGERS = new Set(["int32", "uint32"]);

/** Strings of a request are this long unless their field says otherwise. */
export const REQUEST_STRING = { minLength: 1, maxLength: 200 };

const words = (text) => (text ?? "").split(/\s+/).filter(Boolean);

/** Joins the lines of a comment paragraph by paragraph. */
export function flow(comment) {
  return (comment ?? "")
    .split(/\n\s*\n/)
    .map((paragraph) =>
      paragraph
        .split("\n")
        .map((line) => line.trim())
        .join(" ")
        .trim(),
    )
    .filter(Boolean)
    .join("\n\n");
}

export const firstSentence = (text) => /^(.*?[.!?])(\s|$)/s.exec(text)?.[1] ?? text;

/** The paragraphs of the comment that opens the file, without the first, which speaks of the file itself. */
function overviewOf(source) {
  const lines = source.slice(0, source.indexOf("\nsyntax")).split("\n");
  return flow(lines.map((line) => line.replace(/^\/\/ ?/, "")).join("\n"))
    .split("\n\n")
    .slice(1)
    .join("\n\n");
}

function scalarKind(type, where) {
  if (type === "double" || type === "float") return { kind: "number" };
  if (INTEGERS.has(type)) return { kind: "integer", unsigned: type === "uint32" };
  if (type === "string") return { kind: "string" };
  if (type === "bool") return { kind: "boolean" };
  throw new Error(`${where}: the type ${type} has no place in a program-facing message`);
}

function readField(field, direction, messageName) {
  const where = `${messageName}.${field.name}`;
  const option = (name) => field.options?.[`(${name})`];
  if (!field.comment) throw new Error(`${where} has no comment: every field says its unit, frame or meaning`);
  const out = { name: field.name, documentation: flow(field.comment), repeated: field.repeated === true };
  if (field.resolvedType instanceof protobuf.Enum) Object.assign(out, { kind: "enum", ref: field.resolvedType.name });
  else if (field.resolvedType) Object.assign(out, { kind: "message", ref: field.resolvedType.name });
  else if (option("json")) out.kind = "json";
  else if (option("values")) Object.assign(out, { kind: "values", values: words(option("values")) });
  else Object.assign(out, scalarKind(field.type, where));
  for (const name of ["length", "min", "max", "above", "needs", "nonzero", "nullable"]) {
    if (option(name) !== undefined) out[name] = option(name);
  }
  if (option("min_length") !== undefined) out.minLength = option("min_length");
  if (option("max_length") !== undefined) out.maxLength = option("max_length");
  if (direction === "response") {
    if (option("on_failure")) out.onFailure = true;
    if (field.options?.proto3_optional) throw new Error(`${where}: a result's field is always there; use (nullable)`);
    return out;
  }
  const message = out.kind === "message" && !out.repeated;
  out.optional =
    field.options?.proto3_optional === true || option("may_omit") === true || (message && !option("required"));
  if (message && out.optional && field.options?.proto3_optional !== true) {
    throw new Error(`${where}: say either optional or (required)`);
  }
  if (out.kind === "string" && !out.repeated) {
    out.minLength ??= REQUEST_STRING.minLength;
    out.maxLength ??= REQUEST_STRING.maxLength;
  }
  return out;
}

function readMessage(type, direction) {
  if (!type.comment) throw new Error(`message ${type.name} has no comment`);
  const union = type.oneofsArray.find((oneof) => !oneof.name.startsWith("_"));
  const plain = type.fieldsArray.filter((field) => !field.partOf || field.partOf.name.startsWith("_"));
  const out = {
    name: type.name,
    direction,
    documentation: flow(type.comment),
    unitQuaternion: type.options?.["(unit_quaternion)"] === true,
    fields: plain.map((field) => readField(field, direction, type.name)),
  };
  if (union) {
    out.discriminator = union.name;
    out.variants = union.fieldsArray.map((field) => {
      if (!field.comment) throw new Error(`${type.name}.${field.name} has no comment`);
      return { value: field.name, documentation: flow(field.comment), ref: field.resolvedType.name };
    });
  }
  for (const field of out.fields) {
    for (const other of [field.above, field.needs].filter(Boolean)) {
      if (!out.fields.some(({ name }) => name === other))
        throw new Error(`${type.name}.${field.name}: no field ${other}`);
    }
  }
  return out;
}

/** Every message that one is made of, itself last, so that definitions precede their uses. */
export function reach(type, direction, found) {
  const key = `${direction} ${type.name}`;
  if (found.has(key)) return;
  for (const field of type.fieldsArray) {
    if (field.resolvedType instanceof protobuf.Type) reach(field.resolvedType, direction, found);
  }
  found.set(key, readMessage(type, direction));
}

export function readEnum(type) {
  if (!type.comment) throw new Error(`enum ${type.name} has no comment`);
  const values = Object.entries(type.values).map(([name, number]) => {
    if (!type.comments[name]) throw new Error(`${type.name}.${name} has no comment`);
    return { name, number, documentation: flow(type.comments[name]) };
  });
  return { name: type.name, documentation: flow(type.comment), values };
}

export function readStatusCodes(type) {
  return readEnum(type).values.map(({ documentation, ...rest }) => ({
    ...rest,
    common: documentation.startsWith("COMMON. "),
    documentation: documentation.replace(/^COMMON\. /, ""),
  }));
}

export function readOperation(method, statusCodes, options = ["number", "skill", "statuses", "example"]) {
  const option = (name) => method.options?.[`(${name})`];
  if (!method.comment) throw new Error(`rpc ${method.name} has no comment`);
  for (const name of options) {
    if (option(name) === undefined) throw new Error(`rpc ${method.name} lacks option (${name})`);
  }
  const own = words(option("statuses"));
  for (const code of own) {
    const known = statusCodes.find(({ name }) => name === code);
    if (!known) throw new Error(`rpc ${method.name}: no status code ${code}`);
    if (known.common) throw new Error(`rpc ${method.name}: ${code} is common and need not be named`);
  }
  const documentation = flow(method.comment);
  return {
    name: method.name,
    number: option("number"),
    skill: option("skill"),
    moves: option("moves") === true,
    returnsString: option("returns_string") === true,
    ownStatuses: own,
    // In the order of StatusCode; without "ok", which every operation may give.
    failures: statusCodes.filter(({ name, common }) => common || own.includes(name)).map(({ name }) => name),
    example: option("example"),
    documentation,
    summary: firstSentence(documentation),
    request: method.resolvedRequestType.name,
    response: method.resolvedResponseType.name,
  };
}

function checkNumbers(operations) {
  operations.forEach(({ name, number }, index) => {
    if (number !== index + 1) throw new Error(`rpc ${name} has number ${number}; numbers rise from 1 in file order`);
  });
}

/** Operations with one type of result must fail in the same ways: the type says how. */
export function checkShared(operations) {
  for (const one of operations) {
    const other = operations.find((o) => o.response === one.response && o.failures.join() !== one.failures.join());
    if (other) throw new Error(`${one.name} and ${other.name} share ${one.response} but not their statuses`);
  }
}

/** Parses .proto texts into one namespace tree, after protobuf's own options. Gives the tree and the last text's head. */
export function parseProtos(...sources) {
  const root = new protobuf.Root();
  protobuf.parse(readFileSync(DESCRIPTOR, "utf8"), root, PARSE);
  const heads = sources.map((source) => protobuf.parse(source, root, PARSE));
  root.resolveAll();
  return { root, head: heads.at(-1) };
}

export const readSource = (path) => readFileSync(path, "utf8").replaceAll("\r\n", "\n");

/** The model of one .proto file; see the fields that it fills above. */
export function readContract(path) {
  const source = readSource(path);
  const { root, head: parsed } = parseProtos(source);
  const namespace = root.lookup(parsed.package);
  const service = namespace.nestedArray.find((nested) => nested instanceof protobuf.Service);
  const statusCodes = readStatusCodes(namespace.lookupEnum("StatusCode"));
  if (statusCodes[0].name !== "ok" || statusCodes[0].number !== 0) throw new Error("StatusCode begins with ok = 0");
  const operations = service.methodsArray.map((method) => readOperation(method, statusCodes));
  checkNumbers(operations);
  checkShared(operations);

  const found = new Map();
  for (const method of service.methodsArray) {
    reach(method.resolvedRequestType, "request", found);
    reach(method.resolvedResponseType, "response", found);
  }
  const messages = [...found.values()];
  for (const type of namespace.nestedArray) {
    if (type instanceof protobuf.Type && !messages.some(({ name }) => name === type.name)) {
      throw new Error(`message ${type.name} is used by no operation`);
    }
  }
  const enums = namespace.nestedArray
    .filter((type) => type instanceof protobuf.Enum && type.name !== "StatusCode")
    .map(readEnum);
  const status = { documentation: flow(namespace.lookupEnum("StatusCode").comment) };
  return { package: parsed.package, overview: overviewOf(source), operations, statusCodes, status, enums, messages };
}

/** One message of a model in a direction. */
export function messageOf(model, name, direction) {
  const found = model.messages.find((message) => message.name === name && message.direction === direction);
  if (!found) throw new Error(`no ${direction} message ${name}`);
  return found;
}
