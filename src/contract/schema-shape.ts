import type { z } from "zod";

type Schema = z.core.$ZodType;
/** The definitions of zod's schemas, told apart by `type`. */
type Def = z.core.$ZodTypes["_zod"]["def"];

const defOf = (schema: Schema): Def => (schema as z.core.$ZodTypes)._zod.def;

/** The schema inside optional, nullable, default and the like. */
export function unwrap(schema: Schema): Schema {
  const def = defOf(schema);
  switch (def.type) {
    case "optional":
    case "nullable":
    case "readonly":
    case "default":
    case "prefault":
    case "nonoptional":
    case "catch":
      return unwrap(def.innerType);
    case "pipe":
      return unwrap(def.in);
    case "lazy":
      return unwrap(def.getter());
    default:
      return schema;
  }
}

/** Of a union by discriminator, the option that a value chooses; undefined where it chooses none. */
function chosen(schema: Schema, value: unknown): Schema | undefined {
  const def = defOf(schema);
  if (def.type !== "union") return schema;
  const discriminator = (def as Partial<z.core.$ZodDiscriminatedUnionDef>).discriminator;
  if (discriminator === undefined || typeof value !== "object" || value === null) return undefined;
  const tag = (value as Record<string, unknown>)[discriminator];
  const option = def.options.find((one) => one._zod.propValues?.[discriminator]?.has(tag as z.core.util.Primitive));
  return option && chosen(unwrap(option), value);
}

/** The schema of one part of a value. */
export function childSchema(outer: Schema, part: PropertyKey, value: unknown): Schema | undefined {
  const schema = unwrap(outer);
  const def = defOf(schema);
  if (def.type === "union") {
    const discriminator = (def as Partial<z.core.$ZodDiscriminatedUnionDef>).discriminator;
    const option = chosen(schema, value);
    if (option) return childSchema(option, part, value);
    return part === discriminator ? schema : undefined;
  }
  let child: Schema | undefined;
  if (def.type === "object") child = def.shape[String(part)];
  else if (def.type === "array") child = def.element;
  else if (def.type === "tuple") child = def.items[Number(part)];
  else if (def.type === "record") child = def.valueType;
  return child;
}

/** The keys that an object may have. */
export function knownKeys(schema: Schema, value: unknown): string[] {
  const option = chosen(unwrap(schema), value);
  const def = option && defOf(option);
  return def?.type === "object" ? Object.keys(def.shape) : [];
}

type Bounds = { least?: number; above?: number; most?: number; below?: number };

function boundsOf(checks: readonly z.core.$ZodCheck<never>[] | undefined): Bounds {
  const bounds: Bounds = {};
  for (const check of checks ?? []) {
    const def = (check as unknown as z.core.$ZodChecks)._zod.def;
    if (def.check === "greater_than") bounds[def.inclusive ? "least" : "above"] = Number(def.value);
    else if (def.check === "less_than") bounds[def.inclusive ? "most" : "below"] = Number(def.value);
    else if (def.check === "min_length") bounds.least = def.minimum;
    else if (def.check === "max_length") bounds.most = def.maximum;
    else if (def.check === "length_equals") bounds.least = bounds.most = def.length;
  }
  return bounds;
}

function range(checks: readonly z.core.$ZodCheck<never>[] | undefined, unit: string): string {
  const { least, above, most, below } = boundsOf(checks);
  if (least !== undefined && most !== undefined) {
    return least === most
      ? ` of exactly ${least}${unit}`
      : ` ${unit === "" ? "from" : "of"} ${least} to ${most}${unit}`;
  }
  const parts = [
    least !== undefined ? `at least ${least}` : above !== undefined ? `above ${above}` : "",
    most !== undefined ? `at most ${most}` : below !== undefined ? `below ${below}` : "",
  ].filter((part) => part !== "");
  return parts.length === 0 ? "" : `${unit === "" ? "," : " of"} ${parts.join(" and ")}${unit}`;
}

const list = (values: readonly unknown[]): string => values.map((value) => JSON.stringify(value)).join(", ");

/** Whether a schema takes a text as it is. */
export function isText(schema: Schema): boolean {
  const { type } = defOf(unwrap(schema));
  return type === "string" || type === "enum";
}

/** Whether null is allowed. */
function isNullable(schema: Schema): boolean {
  const def = defOf(schema);
  return def.type === "nullable" || ("innerType" in def && isNullable(def.innerType));
}

export type Expected = { text: string; values?: string[] };

/** What a schema wants, in words; for a choice also its values. */
export function expectedOf(schema: Schema): Expected {
  const expected = expectedInside(unwrap(schema));
  return isNullable(schema) ? { ...expected, text: `${expected.text}, or null` } : expected;
}

function expectedInside(schema: Schema): Expected {
  const def = defOf(schema);
  switch (def.type) {
    case "number": {
      const format = (def as Partial<z.core.$ZodNumberFormatDef>).format;
      const text = range(def.checks, "");
      if (format?.includes("int"))
        return { text: `a whole number${text === "" && format === "uint32" ? ", at least 0" : text}` };
      return { text: `a finite number${text}` };
    }
    case "string":
      return { text: `a string${range(def.checks, " characters")}` };
    case "boolean":
      return { text: "true or false" };
    case "enum":
    case "literal": {
      const values = [...(schema._zod.values ?? [])];
      return { text: values.length === 1 ? list(values) : `one of ${list(values)}`, values: values.map(String) };
    }
    case "array":
      return { text: `a list${range(def.checks, " elements")}` };
    case "tuple":
      return { text: `a list of exactly ${def.items.length} elements` };
    case "object":
      return { text: `an object with the keys ${Object.keys(def.shape).join(", ")}` };
    case "record":
      return { text: "tables by name" };
    case "union": {
      const discriminator = (def as Partial<z.core.$ZodDiscriminatedUnionDef>).discriminator;
      if (discriminator === undefined)
        return { text: def.options.map((option) => expectedOf(option).text).join(", or ") };
      const values = def.options.flatMap((option) => [...(option._zod.propValues?.[discriminator] ?? [])]);
      return { text: `one of ${list(values)}`, values: values.map(String) };
    }
    default:
      return { text: `a ${def.type}` };
  }
}
