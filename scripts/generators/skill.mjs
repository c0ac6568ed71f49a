/**
 * Reads a skill.proto, which declares the functions of one optional skill, and gives what is made of it as plain data.
 *
 * Its package is `skill2real.robot.v1.<skill>`, so that the messages, options and status codes of robot_api.proto are in scope
 * by their plain names; that file is the only one it may import.
 */
import protobuf from "protobufjs";
import { modelDigest } from "./digests.mjs";
import { messageInfo } from "./dispatch.mjs";
import { operationSection, typeLines } from "./markdown.mjs";
import {
  checkShared,
  parseProtos,
  reach,
  readContract,
  readEnum,
  readOperation,
  readSource,
  readStatusCodes,
} from "./model.mjs";
import { apiInterface, apiMember, ownPieces, resultType, signature } from "./typescript.mjs";

const CONTRACT_PACKAGE = "skill2real.robot.v1";
const CONTRACT_FILE = "robot_api.proto";

/** How a type of the contract reads in TypeScript, by direction: a skill may use it only as the contract declares it. */
const declared = (contract, message) =>
  ownPieces({ ...contract, enums: [], messages: [{ ...message, shared: false }] }, "").join("");

function checkSharedMessage(contract, message) {
  const theirs = contract.messages.filter(({ name }) => name === message.name);
  const texts = theirs.map((one) => declared(contract, one));
  if (texts.length > 0 && !texts.includes(declared(contract, message)))
    throw new Error(
      `${message.name} of ${CONTRACT_FILE} is another type in a ${message.direction}: declare a message of your own`,
    );
}

function checkHead(head, skill) {
  const other = (head.imports ?? []).find((path) => path !== CONTRACT_FILE);
  if (other !== undefined) throw new Error(`import "${other}": a skill.proto imports ${CONTRACT_FILE} alone`);
  const wanted = `${CONTRACT_PACKAGE}.${skill}`;
  if (head.package !== wanted) throw new Error(`its package is ${head.package ?? "missing"}; it must be ${wanted}`);
}

/** What a skill.proto says, in the form that the writers of this folder print. */
export function readSkill(source, skill, contractPath) {
  const contract = readContract(contractPath);
  const { root, head } = parseProtos(readSource(contractPath), source.replaceAll("\r\n", "\n"));
  checkHead(head, skill);
  const own = root.lookup(head.package);
  const services = own.nestedArray.filter((nested) => nested instanceof protobuf.Service);
  if (services.length !== 1) throw new Error(`it holds ${services.length} services; it must hold one`);
  const methods = services[0].methodsArray;
  if (methods.length === 0) throw new Error(`service ${services[0].name} has no rpc`);
  const statusCodes = readStatusCodes(root.lookup(CONTRACT_PACKAGE).lookupEnum("StatusCode"));
  const operations = methods.map((method) => {
    const operation = readOperation(method, statusCodes, ["statuses", "example"]);
    if (operation.number !== undefined || operation.skill !== undefined || operation.returnsString)
      throw new Error(`rpc ${method.name}: number, skill and returns_string are for the operations of the contract`);
    if (contract.operations.some(({ name }) => name === method.name))
      throw new Error(`rpc ${method.name} has the name of an operation of the contract`);
    for (const type of [method.resolvedRequestType, method.resolvedResponseType])
      if (type.parent !== own) throw new Error(`rpc ${method.name}: declare its ${type.name} in this file`);
    return { ...operation, skill };
  });
  checkShared(operations);

  const found = new Map();
  for (const method of methods) {
    reach(method.resolvedRequestType, "request", found);
    reach(method.resolvedResponseType, "response", found);
  }
  const names = new Map(own.nestedArray.map((type) => [type.name, type]));
  const taken = new Set([...contract.messages, ...contract.enums].map(({ name }) => name));
  for (const name of names.keys())
    if (taken.has(name)) throw new Error(`${name} is the name of a type of ${CONTRACT_FILE}: choose another`);
  const messages = [...found.values()].map((message) => ({ ...message, shared: !names.has(message.name) }));
  for (const message of messages.filter(({ shared }) => shared)) checkSharedMessage(contract, message);
  for (const [name, type] of names)
    if (type instanceof protobuf.Type && !messages.some((message) => message.name === name))
      throw new Error(`message ${name} is used by no function`);
  for (const { request, response, name } of operations) {
    const given = messages.find((one) => one.name === response && one.direction === "response");
    if (!/Response$/.test(response) || !/Request$/.test(request))
      throw new Error(`rpc ${name}: its types end in Request and Response`);
    const [status, words] = ["status", "message"].map((field) => given.fields.find((one) => one.name === field));
    if (status?.ref !== "StatusCode" || words?.kind !== "string")
      throw new Error(`${response}: it must have the fields "StatusCode status" and "string message"`);
  }
  const enums = own.nestedArray.filter((type) => type instanceof protobuf.Enum).map(readEnum);
  // Enums of the contract are looked up for values, and not written again.
  const all = [...enums, ...contract.enums.map((type) => ({ ...type, shared: true }))];
  return { skill, operations, statusCodes, enums: all, messages };
}

/** Own types beside the requests and results, and the functions that use each. */
function ownTypes(model) {
  const roots = new Set(model.operations.flatMap(({ request, response }) => [request, response]));
  const variants = new Set(model.messages.flatMap((message) => (message.variants ?? []).map(({ ref }) => ref)));
  const uses = (name, direction, seen = new Set()) => {
    const message = model.messages.find((one) => one.name === name && one.direction === direction);
    for (const { ref, kind } of [...message.fields, ...(message.variants ?? [])]) {
      if (ref === undefined || seen.has(ref)) continue;
      seen.add(ref);
      if (kind !== "enum") uses(ref, direction, seen);
    }
    return seen;
  };
  const types = [
    ...model.messages.filter(({ name, shared }) => !shared && !roots.has(name) && !variants.has(name)),
    ...model.enums.filter(({ shared }) => !shared),
  ];
  const unique = types.filter((type, at) => types.findIndex(({ name }) => name === type.name) === at);
  return unique.map((type) => ({
    name: type.name,
    text: `${typeLines(type).join("\n").trimEnd()}\n`,
    functions: model.operations
      .filter(
        ({ request, response }) => uses(request, "request").has(type.name) || uses(response, "response").has(type.name),
      )
      .map(({ name }) => name),
  }));
}

const typesOf = (model) => ({ ...model, enums: model.enums.filter(({ shared }) => !shared) });

/** Names of all types that a model declares. */
const typeNames = (pieces) => [...pieces.join("\n").matchAll(/^(?:export )?type (\w+)/gm)].map(([, name]) => name);

/** {skill, declarations, types, functions: {name: {info, text}}, digest}: all that a runtime needs of a skill.proto. */
export function skillData(source, skill, contractPath) {
  const model = readSkill(source, skill, contractPath);
  const pieces = ownPieces(typesOf(model), "");
  const functions = model.operations.map((operation) => {
    const { name, moves, failures, summary, documentation, example } = operation;
    const info = { name, skill, moves, statuses: failures, signature: signature(model, operation) };
    Object.assign(info, { summary, documentation, example });
    info.request = messageInfo(model, operation.request, "request");
    info.result = messageInfo(model, operation.response, "response");
    return [
      name,
      {
        info,
        text: `${operationSection(model, operation).join("\n").trimEnd()}\n`,
        member: apiMember(model, operation),
      },
    ];
  });
  return {
    skill,
    declarations: [...pieces, apiInterface(model, "", "")].join("\n"),
    type_names: typeNames(pieces),
    types: ownTypes(model),
    functions: Object.fromEntries(functions),
    digest: modelDigest(model),
  };
}

/** The type of what a skill's module exports as `functions`. */
function functionTable(model, x) {
  const lines = model.operations.map(
    (operation) =>
      `  ${operation.name}: (context: SkillContext, request: ${operation.request}) => Promise<SkillResult<${resultType(operation)}>>;\n`,
  );
  return `/** What the skill's module exports as \`functions\`. */\n${x}type SkillFunctions = {\n${lines.join("")}};\n`;
}

const SHARED_TYPES = ["CommonFailure", "JsonValue", "StatusCode"];

/** The types of a skill's functions as a module: for skills that are compiled with the package. */
export function skillTypes(source, skill, contractPath) {
  const model = readSkill(source, skill, contractPath);
  const body = [...ownPieces(typesOf(model), "export "), functionTable(model, "export ")].join("\n");
  const shared = model.messages.filter((message) => message.shared).map(({ name }) => name);
  const enums = model.enums.filter((type) => type.shared).map(({ name }) => name);
  const used = [...new Set([...SHARED_TYPES, ...shared, ...enums])]
    .filter((name) => new RegExp(`\\b${name}\\b`).test(body.replace(/\/\*\*.*?\*\//gs, "")))
    .sort();
  return `// Generated from skills/${skill}/skill.proto by scripts/generate.mjs. Edit the .proto, then run "npm run generate".

import type { ${used.join(", ")} } from "../../src/contract/generated/robot-api.js";
import type { SkillContext, SkillResult } from "../../src/runtime/operation.js";

${body}`;
}

/** The same for a skill outside of the package: ambient, so that its index.ts needs no import at all. */
export function ambientSkillTypes(source, skill, contractPath) {
  return functionTable(readSkill(source, skill, contractPath), "declare ");
}
