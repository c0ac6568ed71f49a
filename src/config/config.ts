import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describeIssues } from "../contract/describe-issues.js";
import { Skill2RealError } from "../contract/errors.js";
import { keyLines } from "./key-lines.js";
import { CONFIG_KEYS } from "./keys.js";
import { environmentLayer, flagLayer, type Layer, parseToml } from "./layers.js";
import { checkRigs } from "./rig.js";
import type { Rig } from "./rig-schema.js";
import { type Config, configFileSchema, configSchema } from "./schema.js";

/** Name of the configuration file that is looked for in the working folder. */
export const CONFIG_FILE = "skill2real.toml";

export type ConfigOrigin = "default" | "file" | "environment" | "flag";

export type LoadConfigOptions = {
  /** The configuration file; left out: skill2real.toml in `cwd`, where there is one. */
  file?: string;
  environment?: Readonly<Record<string, string | undefined>>;
  /** Values by dotted key (`motion.speed_m_s`); undefined ones count as not given. */
  flags?: Readonly<Record<string, unknown>>;
  /** Folder that relative paths of flags and environment start from. */
  cwd?: string;
};

export type LoadedConfig = {
  config: Config;
  /** Where the value of each dotted key comes from. */
  origins: ReadonlyMap<string, ConfigOrigin>;
  /** The rigs that the file describes, by name; the built-in one is not among them. */
  rigs: ReadonlyMap<string, Rig>;
  /** The file that was read; undefined where there was none. */
  file?: string;
  /** Line of the file on which each key is that comes from there. */
  lines: ReadonlyMap<string, number>;
};

/** The configuration without any file, variable or flag. */
export const DEFAULT_CONFIG: Config = configSchema.parse({});

/** Checks one layer or all of them together; throws `bad_config` naming key, value, limit and the nearest known key. */
export function checkConfig(value: unknown, label: string): Config {
  const parsed = configSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const message = describeIssues(configSchema, value, parsed.error.issues, "the configuration");
  throw new Skill2RealError("bad_config", `${label}: ${message}`);
}

function readFile(file: string): string {
  if (!existsSync(file)) throw new Skill2RealError("not_found", `there is no configuration file ${file}`);
  let bytes: Buffer;
  try {
    // A link counts as what it leads to. A pipe or a device might never end.
    if (!statSync(file).isFile())
      throw new Skill2RealError(
        "bad_config",
        `${file} is no regular file: give a configuration file, or a link to one`,
      );
    bytes = readFileSync(file);
  } catch (cause) {
    if (cause instanceof Skill2RealError) throw cause;
    const why = (cause as NodeJS.ErrnoException).code;
    throw new Skill2RealError("not_found", `the configuration file ${file} cannot be read (${why})`, { cause });
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new Skill2RealError("bad_config", `${file} is no text in UTF-8, as TOML has to be: save it as UTF-8`, {
      cause,
    });
  }
}

function absolute(value: unknown, folder: string): unknown {
  if (Array.isArray(value)) return value.map((one) => absolute(one, folder));
  return typeof value === "string" ? resolve(folder, value) : value;
}

type Named = { origin: ConfigOrigin; layer: Layer; label: string; folder: string };

const sectionOf = (layer: Layer, section: string): Record<string, unknown> | undefined => {
  const found = layer[section];
  return typeof found === "object" && found !== null ? (found as Record<string, unknown>) : undefined;
};

/** Refuses what a layer says that no schema allows, naming the layer. What a section needs as a whole is checked at the end. */
function checkLayer({ origin, layer, label }: Named): void {
  const schema = origin === "file" ? configFileSchema : configSchema;
  const parsed = schema.safeParse(layer);
  const issues = parsed.error?.issues.filter(({ code }) => code !== "custom") ?? [];
  if (issues.length === 0) return;
  throw new Skill2RealError("bad_config", `${label}: ${describeIssues(schema, layer, issues, "the configuration")}`);
}

/** Loads the configuration: defaults, then the file, then the environment, then flags, each over the one before. */
export function loadConfig(options: LoadConfigOptions = {}): LoadedConfig {
  const { environment = {}, flags = {}, cwd = process.cwd() } = options;
  const beside = join(cwd, CONFIG_FILE);
  const file = options.file === undefined ? (existsSync(beside) ? beside : undefined) : resolve(cwd, options.file);
  const text = file === undefined ? "" : readFile(file);
  const layers: Named[] = [
    ...(file === undefined
      ? []
      : [{ origin: "file" as const, layer: parseToml(text, file), label: file, folder: dirname(file) }]),
    { origin: "environment", layer: environmentLayer(environment), label: "environment", folder: cwd },
    { origin: "flag", layer: flagLayer(flags), label: "flags", folder: cwd },
  ];
  for (const named of layers) checkLayer(named);

  const merged: Record<string, Record<string, unknown>> = {};
  const origins = new Map<string, ConfigOrigin>();
  for (const key of CONFIG_KEYS) {
    const last = layers.findLast(({ layer }) => sectionOf(layer, key.section)?.[key.name] !== undefined);
    origins.set(key.dotted, last?.origin ?? "default");
    const value = last ? sectionOf(last.layer, key.section)?.[key.name] : key.default;
    if (value === undefined) continue;
    merged[key.section] = {
      ...merged[key.section],
      [key.name]: key.isPath ? absolute(value, last?.folder ?? cwd) : value,
    };
  }
  const config = checkConfig(merged, layers.map(({ label }) => label).join(", "));
  for (const server of Object.values(config.mcp.servers))
    if (server.command !== undefined) server.cwd = resolve(file === undefined ? cwd : dirname(file), server.cwd ?? ".");
  const own = layers.find(({ origin }) => origin === "file");
  const rigs = own ? checkRigs(own.layer.rig, own.label, own.folder) : new Map<string, Rig>();
  const lines = keyLines(text);
  return file === undefined ? { config, origins, rigs, lines } : { config, origins, rigs, lines, file };
}
