import { isObject, type JsonSchema } from "./json-schema.js";

export type Direction = "request" | "response";

const MOST_DEPTH = 6;
const MOST_MEMBERS = 40;
const MOST_CHOICES = 40;
const MOST_LITERAL = 80;
/** Characters of one type; a schema that would need more is written as any JSON. */
const MOST_TEXT = 6_000;

/** Null for what is no literal type, or too long for one. */
const literal = (value: unknown): string | null => {
  const plain = value === null || typeof value === "boolean" || typeof value === "string" || Number.isFinite(value);
  const text = plain ? JSON.stringify(value) : "";
  return text === "" || text.length > MOST_LITERAL ? null : text;
};

class TooLarge extends Error {}

/**
 * The TypeScript type of what a JSON schema describes. What TypeScript cannot say (ranges, patterns, conditions) is left to the
 * check of values; what is too deep, recursive or of no known kind is `JsonValue`. `exact` is false where something was left out for
 * its size.
 */
export function writeType(schema: unknown, direction: Direction): { text: string; exact: boolean } {
  const writer = new TypeWriter(schema, direction);
  try {
    const text = writer.type(schema, 0);
    if (text.length <= MOST_TEXT) return { text, exact: writer.exact };
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error;
  }
  return { text: "{ readonly [key: string]: JsonValue }", exact: false };
}

class TypeWriter {
  exact = true;
  readonly #root: unknown;
  readonly #direction: Direction;
  #written = 0;

  constructor(root: unknown, direction: Direction) {
    this.#root = root;
    this.#direction = direction;
  }

  type(schema: unknown, depth: number): string {
    this.#written += 1;
    if (this.#written > 2000) throw new TooLarge();
    if (schema === false) return "never";
    if (!isObject(schema) || Object.keys(schema).length === 0) return "JsonValue";
    if (depth > MOST_DEPTH) {
      this.exact = false;
      return "JsonValue";
    }
    const parts = this.#parts(schema, depth).filter((part) => part !== "JsonValue");
    const [only] = parts;
    if (only === undefined) return "JsonValue";
    return parts.length === 1 ? only : parts.map((part) => `(${part})`).join(" & ");
  }

  #parts(schema: JsonSchema, depth: number): string[] {
    if (typeof schema.$ref === "string") return [this.type(this.#target(schema.$ref), depth + 1)];
    if ("const" in schema) return [this.#choices([schema.const])];
    if (Array.isArray(schema.enum)) return [this.#choices(schema.enum)];
    const parts: string[] = [];
    for (const key of ["anyOf", "oneOf"] as const)
      if (Array.isArray(schema[key])) parts.push(this.#union(schema[key], depth));
    if (Array.isArray(schema.allOf)) for (const one of schema.allOf) parts.push(this.type(one, depth + 1));
    const types = Array.isArray(schema.type)
      ? schema.type
      : [schema.type ?? (schema.properties ? "object" : undefined)];
    if (types.some((type) => type !== undefined))
      parts.push([...new Set(types.map((type) => this.#plain(type, schema, depth)))].join(" | "));
    return parts;
  }

  #target(ref: string): unknown {
    let at: unknown = this.#root;
    for (const step of ref.split("/").slice(1)) {
      if (!isObject(at)) return {};
      const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
      at = Object.hasOwn(at, key) ? at[key] : undefined;
    }
    return at;
  }

  #choices(values: unknown[]): string {
    const known = values.map(literal);
    const text = values.every((value) => typeof value === "string") ? "string" : "JsonValue";
    if (values.length === 0 || values.length > MOST_CHOICES || known.includes(null)) {
      this.exact = false;
      return text;
    }
    return known.join(" | ");
  }

  #union(options: unknown[], depth: number): string {
    if (options.length === 0 || options.length > MOST_CHOICES) {
      this.exact = false;
      return "JsonValue";
    }
    const texts = options.map((one) => this.type(one, depth + 1));
    return texts.includes("JsonValue") ? "JsonValue" : [...new Set(texts)].join(" | ");
  }

  #plain(type: unknown, schema: JsonSchema, depth: number): string {
    switch (type) {
      case "string":
      case "boolean":
      case "null":
        return type;
      case "number":
      case "integer":
        return "number";
      case "array":
        return this.#list(schema, depth);
      case "object":
        return this.#object(schema, depth);
      default:
        return "JsonValue";
    }
  }

  #list({ items, prefixItems }: JsonSchema, depth: number): string {
    const readonly = this.#direction === "request" ? "readonly " : "";
    const element = prefixItems === undefined && items !== undefined && !Array.isArray(items);
    const text = element ? this.type(items, depth + 1) : "JsonValue";
    return /^\w+$/.test(text) ? `${readonly}${text}[]` : `${readonly}(${text})[]`;
  }

  /** Members that are not listed are refused where the schema lists any, so that a misspelled one does not pass for one. */
  #object({ properties, required, additionalProperties }: JsonSchema, depth: number): string {
    const open = "{ readonly [key: string]: JsonValue }";
    const members = isObject(properties) ? Object.entries(properties) : [];
    if (members.length > MOST_MEMBERS) throw new TooLarge();
    if (members.length === 0) {
      if (additionalProperties === false) return "{ readonly [key: string]: never }";
      return isObject(additionalProperties)
        ? `{ readonly [key: string]: ${this.type(additionalProperties, depth + 1)} }`
        : open;
    }
    const needed = new Set(Array.isArray(required) ? required : []);
    const lines = members.map(([name, member]) => {
      const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
      return `${key}${needed.has(name) ? "" : "?"}: ${this.type(member, depth + 1)}`;
    });
    const text = `{ ${lines.join("; ")} }`;
    return additionalProperties === true || isObject(additionalProperties) ? `${text} & ${open}` : text;
  }
}
