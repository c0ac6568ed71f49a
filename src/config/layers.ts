import { parse, TomlError } from "smol-toml";
import { Skill2RealError } from "../contract/errors.js";
import { isText } from "../contract/schema-shape.js";
import { suggest } from "../contract/suggest.js";
import { CONFIG_KEYS, type ConfigKey } from "./keys.js";

export const ENVIRONMENT_PREFIX = "SKILL2REAL__";

/** Values of one source by section and key. */
export type Layer = { [section: string]: unknown };

/** Parses the text of a configuration file; throws `bad_config` with line and column. */
export function parseToml(text: string, label: string): Layer {
  try {
    return parse(text) as Layer;
  } catch (cause) {
    const words =
      cause instanceof TomlError ? cause.message.trim().replace(/^Invalid TOML document: /, "") : String(cause);
    const at = cause instanceof TomlError ? `:${cause.line}:${cause.column}` : "";
    throw new Skill2RealError("bad_config", `${label}${at} is not valid TOML: ${words}`, { cause });
  }
}

/** A value given as text: taken as it is where the key is a string, else read as TOML. */
function readText(key: ConfigKey, text: string, label: string): unknown {
  if (isText(key.schema)) return text;
  try {
    return parse(`value = ${text}`).value;
  } catch (cause) {
    throw new Skill2RealError("bad_config", `${label} is ${JSON.stringify(text)}; it must be ${key.expected}`, {
      cause,
    });
  }
}

function findKey(dotted: string, label: string, spell: (dotted: string) => string): ConfigKey {
  const found = CONFIG_KEYS.find((key) => key.dotted === dotted);
  if (found) return found;
  const known = CONFIG_KEYS.map((key) => spell(key.dotted));
  throw new Skill2RealError("bad_config", `${label} names no configuration key.${suggest(spell(dotted), known)}`);
}

function put(layer: Layer, key: ConfigKey, value: unknown): void {
  const section = layer[key.section] as Record<string, unknown> | undefined;
  layer[key.section] = { ...section, [key.name]: value };
}

const spellVariable = (dotted: string): string => ENVIRONMENT_PREFIX + dotted.toUpperCase().replace(".", "__");

/** The layer of variables such as SKILL2REAL__MOTION__SPEED_M_S. */
export function environmentLayer(environment: Readonly<Record<string, string | undefined>>): Layer {
  const layer: Layer = {};
  for (const [variable, text] of Object.entries(environment)) {
    if (!variable.startsWith(ENVIRONMENT_PREFIX) || text === undefined) continue;
    const dotted = variable.slice(ENVIRONMENT_PREFIX.length).toLowerCase().replace("__", ".");
    const key = findKey(dotted, variable, spellVariable);
    put(layer, key, readText(key, text, variable));
  }
  return layer;
}

/** The layer of flags, by dotted key. A text is read as in the environment; undefined means that the flag was not given. */
export function flagLayer(flags: Readonly<Record<string, unknown>>): Layer {
  const layer: Layer = {};
  for (const [dotted, value] of Object.entries(flags)) {
    if (value === undefined) continue;
    const key = findKey(dotted, `flag "${dotted}"`, (name) => name);
    put(layer, key, typeof value === "string" ? readText(key, value, `flag "${dotted}"`) : value);
  }
  return layer;
}
