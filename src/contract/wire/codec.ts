import { readFileSync } from "node:fs";
import protobuf from "protobufjs";
import { Skill2RealError } from "../errors.js";
import { packageFile } from "../package-root.js";
import { suggest } from "../suggest.js";
import type { Init } from "./init.js";

/** Encoder and decoder of one message type; `T` is its generated interface. */
export type Codec<T> = {
  /** Throws `bad_argument` for an unknown field, a value of another type, or one out of its range. */
  encode(message: Init<T>): Buffer;
  /**
   * Throws `protocol_mismatch` for bytes that are not this message, an enum value that this version does not know, and a
   * 64-bit number above 2^53 - 1. Fields of type `bytes` are views of the input.
   */
  decode(bytes: Uint8Array): T;
};

type FieldPlan = {
  name: string;
  list: boolean;
  map: boolean;
  check: (value: unknown, path: string) => unknown;
  /** Checks a decoded value; null where nothing can be wrong with it. */
  inspect: ((value: unknown, path: string) => void) | null;
};

const RANGES: Record<string, readonly [number, number]> = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  sint32: [-(2 ** 31), 2 ** 31 - 1],
  uint32: [0, 2 ** 32 - 1],
  int64: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  uint64: [0, Number.MAX_SAFE_INTEGER],
};

function refuse(path: string, value: unknown, expected: string): never {
  const shown = typeof value === "string" ? JSON.stringify(value) : String(value);
  throw new Skill2RealError("bad_argument", `${path} is ${shown.slice(0, 80)}; it must be ${expected}`);
}

function scalarCheck(type: string): (value: unknown, path: string) => unknown {
  const range = RANGES[type];
  if (range) {
    const [low, high] = range;
    return (value, path) =>
      typeof value === "number" && Number.isInteger(value) && value >= low && value <= high
        ? value
        : refuse(path, value, `a whole number from ${low} to ${high}`);
  }
  // NaN and infinities pass: whether they make sense is for the receiver to say, and it must be able to be asked.
  if (type === "double") return (value, path) => (typeof value === "number" ? value : refuse(path, value, "a number"));
  if (type === "bool") return (value, path) => (typeof value === "boolean" ? value : refuse(path, value, "a boolean"));
  if (type === "string") return (value, path) => (typeof value === "string" ? value : refuse(path, value, "a string"));
  if (type === "bytes")
    return (value, path) => (value instanceof Uint8Array ? value : refuse(path, value, "a Uint8Array"));
  throw new Skill2RealError("internal", `the protocols use the protobuf type "${type}", which the codec does not know`);
}

function enumCheck(type: protobuf.Enum): (value: unknown, path: string) => number {
  const names = Object.keys(type.values);
  return (value, path) => {
    const number = typeof value === "string" && Object.hasOwn(type.values, value) ? type.values[value] : undefined;
    if (number !== undefined) return number;
    return refuse(path, value, `a name of ${type.name}.${suggest(String(value), names)}`);
  };
}

const is_wide = (type: string): boolean => type === "int64" || type === "uint64";

function scalarInspect(type: string): FieldPlan["inspect"] {
  if (!is_wide(type)) return null;
  return (value, path) => {
    if (!Number.isSafeInteger(value)) throw new Skill2RealError("protocol_mismatch", `${path} is above 2^53 - 1`);
  };
}

/** A message of the protocols as a list of fields, each with its checks. The protocols have no recursive message. */
class MessagePlan {
  readonly #fields = new Map<string, FieldPlan>();
  readonly #inspected: FieldPlan[];
  readonly #oneofs: { name: string; members: string[] }[];
  readonly #name: string;

  constructor(type: protobuf.Type, plans: Map<protobuf.Type, MessagePlan>) {
    this.#name = type.name;
    for (const field of type.fieldsArray) this.#fields.set(field.name, planField(field, plans));
    this.#inspected = [...this.#fields.values()].filter((field) => field.inspect !== null);
    this.#oneofs = type.oneofsArray.map((oneof) => ({ name: oneof.name, members: [...oneof.oneof] }));
  }

  get inspects(): boolean {
    return this.#inspected.length > 0;
  }

  toWire(value: unknown, path: string): Record<string, unknown> {
    if (typeof value !== "object" || value === null || Array.isArray(value)) refuse(path, value, `a ${this.#name}`);
    const out: Record<string, unknown> = {};
    for (const [key, given] of Object.entries(value)) {
      if (given === undefined || given === null) continue;
      const field = this.#fields.get(key);
      const at = `${path}.${key}`;
      if (!field) {
        // The field that names a oneof's member is there to read; the members themselves are what is sent.
        if (this.#oneofs.some((oneof) => oneof.name === key)) continue;
        throw new Skill2RealError("bad_argument", `${at} is unknown.${suggest(key, [...this.#fields.keys()])}`);
      }
      if (field.list) {
        if (!Array.isArray(given) && !ArrayBuffer.isView(given)) refuse(at, given, "a list");
        out[key] = Array.from(given as ArrayLike<unknown>, (item, index) => field.check(item, `${at}[${index}]`));
      } else if (field.map) {
        const entries = Object.entries(given as Record<string, unknown>);
        out[key] = Object.fromEntries(entries.map(([name, item]) => [name, field.check(item, `${at}.${name}`)]));
      } else {
        out[key] = field.check(given, at);
      }
    }
    for (const oneof of this.#oneofs) {
      const set = oneof.members.filter((member) => out[member] !== undefined);
      if (set.length > 1)
        throw new Skill2RealError("bad_argument", `${path} sets ${set.join(" and ")}; only one of them can be sent`);
    }
    return out;
  }

  inspect(value: Record<string, unknown>, path: string): void {
    for (const field of this.#inspected) {
      const found = value[field.name];
      if (found === undefined || found === null) continue;
      const at = `${path}.${field.name}`;
      if (field.list || field.map) {
        for (const item of Object.values(found as object)) field.inspect?.(item, at);
      } else field.inspect?.(found, at);
    }
  }
}

function planField(field: protobuf.Field, plans: Map<protobuf.Type, MessagePlan>): FieldPlan {
  const common = { name: field.name, list: field.repeated, map: field.map };
  const resolved = field.resolvedType;
  if (resolved instanceof protobuf.Enum) {
    return {
      ...common,
      check: enumCheck(resolved),
      inspect: (value, path) => {
        if (typeof value === "string") return;
        throw new Skill2RealError(
          "protocol_mismatch",
          `${path} is ${String(value)}, which ${resolved.name} does not know`,
        );
      },
    };
  }
  if (resolved) {
    const plan = planOf(resolved, plans);
    return {
      ...common,
      check: (value, path) => plan.toWire(value, path),
      inspect: plan.inspects ? (value, path) => plan.inspect(value as Record<string, unknown>, path) : null,
    };
  }
  return { ...common, check: scalarCheck(field.type), inspect: scalarInspect(field.type) };
}

function planOf(type: protobuf.Type, plans: Map<protobuf.Type, MessagePlan>): MessagePlan {
  const known = plans.get(type);
  if (known) return known;
  const plan = new MessagePlan(type, plans);
  plans.set(type, plan);
  return plan;
}

const AS_PLAIN: protobuf.IConversionOptions = { enums: String, longs: Number, defaults: true, oneofs: true };

/** Codecs over one of the .proto files in src/contract, read by reflection, so that its text is the only schema. */
export class ProtocolFile {
  readonly #root = new protobuf.Root();
  readonly #package: string;
  readonly #plans = new Map<protobuf.Type, MessagePlan>();

  constructor(file: string) {
    const text = readFileSync(packageFile("src", "contract", file), "utf8");
    this.#package = protobuf.parse(text, this.#root, { keepCase: true }).package ?? "";
    this.#root.resolveAll();
  }

  codec<T>(message: string): Codec<T> {
    const type = this.#root.lookupType(`${this.#package}.${message}`);
    const plan = planOf(type, this.#plans);
    return {
      encode: (value) => {
        const bytes = type.encode(plan.toWire(value, message)).finish();
        return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      },
      decode: (bytes) => {
        let plain: Record<string, unknown>;
        try {
          plain = type.toObject(type.decode(bytes), AS_PLAIN);
        } catch (cause) {
          throw new Skill2RealError("protocol_mismatch", `${bytes.byteLength} bytes are not a ${message}`, { cause });
        }
        if (plan.inspects) plan.inspect(plain, message);
        return plain as T;
      },
    };
  }
}
