import { z } from "zod";
import { expectedOf, isText, unwrap } from "../contract/schema-shape.js";
import { configSchema, type KeyNotes } from "./schema.js";

type Schema = z.core.$ZodType;

/** One key of the configuration. */
export type ConfigKey = {
  section: string;
  name: string;
  /** `section.name`. */
  dotted: string;
  description: string;
  /** What it must be, in words: its type and range. */
  expected: string;
  /** Absent where the key may be left out and has no default. */
  default?: unknown;
  isPath: boolean;
  schema: Schema;
};

function notesOf(schema: Schema, where: string): KeyNotes {
  const notes = z.globalRegistry.get(schema) as KeyNotes | undefined;
  if (!notes?.description) throw new Error(`${where} has no description`);
  return notes;
}

function shapeOf(schema: Schema): Readonly<Record<string, Schema>> {
  const { def } = (unwrap(schema) as z.core.$ZodObject)._zod;
  return def.shape;
}

export type ConfigSection = { name: string; description: string; keys: readonly ConfigKey[] };

function readSections(): ConfigSection[] {
  const defaults = configSchema.parse({}) as Record<string, Record<string, unknown>>;
  return Object.entries(configSchema.shape).map(([section, schema]) => ({
    name: section,
    description: notesOf(schema, section).description,
    keys: Object.entries(shapeOf(schema)).map(([name, key]) => {
      const dotted = `${section}.${name}`;
      const { description, path } = notesOf(key, dotted);
      const value = defaults[section]?.[name];
      const expected = path && isText(unwrap(key)) ? "a path" : expectedOf(key).text;
      const base = { section, name, dotted, description, expected, isPath: path === true, schema: unwrap(key) };
      return value === undefined ? base : { ...base, default: value };
    }),
  }));
}

/** The sections of the configuration in the order of the template. */
export const CONFIG_SECTIONS: readonly ConfigSection[] = readSections();

/** Every key of the configuration. */
export const CONFIG_KEYS: readonly ConfigKey[] = CONFIG_SECTIONS.flatMap(({ keys }) => keys);
