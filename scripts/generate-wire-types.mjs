/**
 * Writes the TypeScript types of the device and privileged protocols from their .proto files:
 *
 *   node scripts/generate-wire-types.mjs           writes src/contract/generated/{device,privileged}.ts
 *   node scripts/generate-wire-types.mjs --check   exits 1 when a committed file is stale
 *
 * Messages become interfaces, enums string unions, the comments of the .proto their documentation. The types are
 * those of the decoders in src/contract/wire: every plain field is present with its proto3 default, a message field
 * outside a oneof is null when unset, and a oneof is its members as optional fields plus one field that names the
 * member which is set.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import protobuf from "protobufjs";

const root_dir = join(dirname(fileURLToPath(import.meta.url)), "..");

/** Names that would hide a global or say too little outside of their package. */
const FILES = [
  {
    name: "device",
    rename: {
      Error: "DeviceError",
      ErrorCode: "DeviceErrorCode",
      Event: "DeviceEvent",
      Request: "DeviceRequest",
      Reply: "DeviceReply",
    },
  },
  { name: "privileged", rename: {} },
];

const NUMBERS = new Set(
  "double float int32 uint32 sint32 fixed32 sfixed32 int64 uint64 sint64 fixed64 sfixed64".split(" "),
);

function scalar(type) {
  if (NUMBERS.has(type)) return "number";
  if (type === "bool") return "boolean";
  if (type === "string") return "string";
  if (type === "bytes") return "Uint8Array";
  throw new Error(`no TypeScript type for the protobuf type "${type}"`);
}

function doc(comment, indent) {
  if (!comment) return "";
  const lines = comment.replaceAll("*/", "* /").split("\n");
  if (lines.length === 1) return `${indent}/** ${lines[0].trim()} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join("\n")}\n${indent} */\n`;
}

function generate({ name, rename }) {
  const source = join(root_dir, "src", "contract", `${name}.proto`);
  const root = new protobuf.Root();
  const parsed = protobuf.parse(readFileSync(source, "utf8"), root, {
    keepCase: true,
    alternateCommentMode: true,
    preferTrailingComment: false,
  });
  root.resolveAll();
  const called = (type) => rename[type.name] ?? type.name;

  const fieldType = (field) => {
    const base = field.resolvedType ? called(field.resolvedType) : scalar(field.type);
    if (field.map) return `Record<string, ${base}>`;
    if (field.repeated) return `${base}[]`;
    return field.resolvedType instanceof protobuf.Type && !field.partOf ? `${base} | null` : base;
  };

  let out = `// Generated from src/contract/${name}.proto by scripts/generate-wire-types.mjs. Edit the .proto, then run "npm run generate".\n`;
  for (const type of root.lookup(parsed.package).nestedArray) {
    out += `\n${doc(type.comment, "")}`;
    if (type instanceof protobuf.Enum) {
      out += `export type ${called(type)} =\n`;
      const entries = Object.keys(type.values);
      out += entries.map((key) => `${doc(type.comments[key], "  ")}  | "${key}"`).join("\n");
      out += ";\n";
    } else if (type instanceof protobuf.Type) {
      if (type.fieldsArray.length === 0) {
        out += `export type ${called(type)} = Record<never, never>;\n`;
        continue;
      }
      out += `export interface ${called(type)} {\n`;
      for (const field of type.fieldsArray) {
        out += `${doc(field.comment, "  ")}  ${field.name}${field.partOf ? "?" : ""}: ${fieldType(field)};\n`;
      }
      for (const oneof of type.oneofsArray) {
        const members = oneof.fieldsArray.map((field) => `"${field.name}"`).join(" | ");
        out += `  /** Names the one of ${oneof.fieldsArray.map((field) => field.name).join(", ")} that is set. */\n`;
        out += `  ${oneof.name}?: ${members};\n`;
      }
      out += "}\n";
    } else {
      throw new Error(`${name}.proto: only messages and enums are expected, not ${type.constructor.name} ${type.name}`);
    }
  }
  return out;
}

const check = process.argv.includes("--check");
let stale = 0;
for (const file of FILES) {
  const target = join(root_dir, "src", "contract", "generated", `${file.name}.ts`);
  const text = generate(file);
  if (!check) {
    writeFileSync(target, text);
    continue;
  }
  let committed = "";
  try {
    committed = readFileSync(target, "utf8");
  } catch {}
  if (committed !== text) {
    stale += 1;
    console.error(
      `stale: src/contract/generated/${file.name}.ts is not what ${file.name}.proto says: run "npm run generate"`,
    );
  }
}
process.exit(stale > 0 ? 1 : 0);
