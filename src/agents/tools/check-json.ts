import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv";
import { isObject, type JsonSchema } from "./json-schema.js";

/** What is wrong with a value, or null. */
export type JsonCheck = (value: unknown) => string | null;

/** Keywords that hold schemas by a name that a server chose, those that hold one, and those that hold a list of them. */
const BY_NAME = new Set(["properties", "$defs", "definitions", "dependentSchemas"]);
const ONE = new Set(["additionalProperties", "items", "contains", "not", "if", "then", "else", "propertyNames"]);
const MANY = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
/** Taken as they are. */
const PLAIN = new Set(
  "type enum const required minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems uniqueItems minProperties maxProperties".split(
    " ",
  ),
);

/**
 * A schema of a foreign server with what is safe to compile here: regular expressions, which can run without end, and formats
 * stay with the server, which checks its arguments anyway; so do references to other documents.
 */
export function safeSchema(schema: unknown): unknown {
  if (!isObject(schema)) return typeof schema === "boolean" ? schema : true;
  const kept: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (PLAIN.has(key)) kept[key] = value;
    else if (key === "$ref" && typeof value === "string" && /^#(\/|$)/.test(value)) kept[key] = value;
    else if (ONE.has(key)) kept[key] = Array.isArray(value) ? value.map(safeSchema) : safeSchema(value);
    else if (MANY.has(key) && Array.isArray(value)) kept[key] = value.map(safeSchema);
    else if (BY_NAME.has(key) && isObject(value))
      kept[key] = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, safeSchema(one)]));
  }
  return kept;
}

/** A check of values by a schema of a foreign server. Throws an Error where the schema is none. */
export function jsonCheck(schema: JsonSchema): JsonCheck {
  const validate = new AjvJsonSchemaValidator().getValidator(safeSchema(schema) as never);
  return (value) => {
    const checked = validate(value);
    return checked.valid ? null : checked.errorMessage.slice(0, 500);
  };
}
