import { createRequire } from "node:module";
import protobuf from "protobufjs";
import { packageFile } from "../../contract/package-root.js";

/** The slices of two packages' untyped interfaces that are used here. */
type FoxgloveSchema = { name: string; fields: { type: { type: string; schema?: { name: string } } }[] };
type FoxgloveInternals = {
  foxgloveMessageSchemas: Record<string, FoxgloveSchema>;
  foxgloveEnumSchemas: Record<string, { parentSchemaName: string }>;
  generateProto(schema: FoxgloveSchema, enums: unknown[]): string;
};
type FileDescriptor = {
  name: string;
  package: string;
  syntax: string;
  messageType: { name: string }[];
  dependency?: string[];
};
type DescriptorModule = { FileDescriptorSet: { encode(set: unknown): { finish(): Uint8Array } } };

const require = createRequire(import.meta.url);
const foxglove = require("@foxglove/schemas/internal") as FoxgloveInternals;
const descriptor = require("protobufjs/ext/descriptor") as DescriptorModule;

export type TraceSchema = {
  name: string;
  /** Encoded FileDescriptorSet, for readers. */
  data: Uint8Array;
  encode(message: Record<string, unknown>): Uint8Array;
  decode(bytes: Uint8Array): Record<string, unknown>;
};

function toDescriptorSet(root: protobuf.Root): { file: FileDescriptor[] } {
  return (root as unknown as { toDescriptor(syntax: string): { file: FileDescriptor[] } }).toDescriptor("proto3");
}

function schemaOf(root: protobuf.Root, name: string, set: { file: FileDescriptor[] }): TraceSchema {
  const type = root.lookupType(name);
  return {
    name,
    data: descriptor.FileDescriptorSet.encode(set).finish(),
    encode: (message) => type.encode(type.fromObject(message)).finish(),
    decode: (bytes) => type.toObject(type.decode(bytes), { longs: Number, defaults: true }),
  };
}

/** Text of a Foxglove schema and of all that it nests. */
function closure(name: string, seen = new Map<string, string>()): Map<string, string> {
  const schema = foxglove.foxgloveMessageSchemas[name];
  if (!schema || seen.has(name)) return seen;
  const enums = Object.values(foxglove.foxgloveEnumSchemas).filter((entry) => entry.parentSchemaName === name);
  seen.set(name, foxglove.generateProto(schema, enums));
  for (const field of schema.fields)
    if (field.type.type === "nested" && field.type.schema) closure(field.type.schema.name, seen);
  return seen;
}

/**
 * A schema of the Foxglove package as protobuf. protobufjs merges files by package and writes no dependencies between
 * them, which other readers refuse: well-known types go into files of their own, and are named as dependencies.
 */
export function foxgloveSchema(name: string): TraceSchema {
  const root = new protobuf.Root();
  for (const file of ["google/protobuf/timestamp.proto", "google/protobuf/duration.proto"])
    root.addJSON(protobuf.common.get(file)?.nested ?? {});
  for (const [, text] of closure(name)) protobuf.parse(text, root, { keepCase: true });
  root.resolveAll();
  const files = toDescriptorSet(root).file;
  const wellKnown = files
    .filter((file) => file.package === "google.protobuf")
    .flatMap((file) =>
      file.messageType.map((message) => ({
        name: `google/protobuf/${message.name.toLowerCase()}.proto`,
        package: file.package,
        syntax: "proto3",
        messageType: [message],
      })),
    );
  const others = files.filter((file) => file.package !== "google.protobuf");
  for (const file of others) file.dependency = wellKnown.map((entry) => entry.name);
  return schemaOf(root, `foxglove.${name}`, { file: [...wellKnown, ...others] });
}

/** A message of trace.proto. */
export function traceSchema(name: "Exchange" | "Call" | "Program" | "Event"): TraceSchema {
  const root = new protobuf.Root();
  root.loadSync(packageFile("src", "contract", "trace.proto"), { keepCase: true });
  root.resolveAll();
  return schemaOf(root, `skill2real.trace.v1.${name}`, toDescriptorSet(root));
}
