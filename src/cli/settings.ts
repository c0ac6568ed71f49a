import { readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import type { CassetteHeader } from "../agents/exchanges/cassette.js";
import type { EpisodeRequest } from "../agents/host/messages.js";
import { type ModelSettings, modelSettingsSchema } from "../agents/llm/settings.js";
import { TOOLS_SKILL } from "../agents/optional-skills.js";
import { probeServices, type ServiceReport, servicesBy } from "../agents/services/probe-services.js";
import { type ServiceSettings, serviceSettingsSchema } from "../agents/services/settings.js";
import type { ProbedTools } from "../agents/tools/probe-tools.js";
import { toolServer } from "../agents/tools/tool-server.js";
import { type Config, type LoadConfigOptions, loadConfig } from "../config/index.js";
import { Skill2RealError } from "../contract/errors.js";
import { suggest } from "../contract/suggest.js";
import { episodeSettings } from "../evaluation/episode-settings.js";
import { evaluatorFolder } from "../evaluation/run-folder.js";
import { readMemories } from "../memory/index.js";

const TASKS: readonly string[] = ["r1"];

export type CommonOptions = {
  config?: string;
  runs?: string;
  proposer?: string;
  backend?: string;
  rig?: string;
  realtime?: number;
};

/** Where the configuration of a command comes from: its file, the environment, and the flags that commands share on top. */
export const configSources = (options: CommonOptions): LoadConfigOptions => ({
  ...(options.config ? { file: options.config } : {}),
  environment: process.env,
  flags: {
    "runs.folder": options.runs,
    "backend.kind": options.backend,
    "backend.rig": options.rig,
    "backend.realtime": options.realtime,
  },
});

export function commandConfig(options: CommonOptions): Config {
  return loadConfig(configSources(options)).config;
}

/** Who answers for the services of a configuration; the key of a vision model comes from the environment alone. */
export function serviceSettings(
  { services }: Config,
  environment: Readonly<Record<string, string | undefined>>,
): ServiceSettings {
  const { base_url, name, api_key_env, probe_s: _probe, pointer, segmenter, verifier, ...rest } = services;
  const key = environment[api_key_env]?.trim();
  const model =
    base_url === undefined || name === undefined
      ? {}
      : { model: { ...rest, base_url, model: name, ...(key ? { api_key: key } : {}) } };
  const parsed = serviceSettingsSchema.safeParse({ pointer, segmenter, verifier, ...model });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Skill2RealError("bad_config", `services.${issue?.path.at(-1)?.toString()}: ${issue?.message}`);
}

/**
 * The same as `episodeSettings`, with the services that are really at hand: their endpoints are asked, within a deadline. Where a
 * recording answers (`recorded`), those are at hand that it holds answers of, and nobody is asked.
 */
export const probedSettings = async (config: Config, recorded?: Recorded): Promise<EpisodeRequest["settings"]> =>
  (await probe(config, recorded)).settings;

type Recorded = Pick<CassetteHeader, "models" | "tools">;
export type ProbedSettings = { settings: EpisodeRequest["settings"]; report: ServiceReport[] };

/** `probedSettings`, with what was said by whoever was asked. */
export async function probe(config: Config, recorded?: Recorded): Promise<ProbedSettings> {
  const settings = episodeSettings(config);
  const services = serviceSettings(config, process.env);
  const asked = recorded ? recordedTools(recorded) : await askedTools(config);
  const { at_hand, report } = recorded
    ? servicesBy(services, recorded.models.services === undefined ? UNRECORDED : null, asked)
    : await probeServices(services, config.services.probe_s, asked);
  const skills = { ...settings.skills, services: at_hand };
  if ("unasked" in asked) return { settings: { ...settings, skills, services }, report };
  const tools = { skills: { ...skills, tools: asked.tools }, tool_servers: asked.servers };
  return { settings: { ...settings, services, ...tools }, report };
}

const UNRECORDED = "the recording is of an episode without it";

/** The tools that a recording has answers of. */
function recordedTools({ tools = [] }: Recorded): ProbedTools | { unasked: string } {
  if (tools.length === 0) return { unasked: UNRECORDED };
  return { tools, servers: [], report: [{ server: "recording", tools: tools.length, why: "" }] };
}

/** What the servers of [mcp] say; none is started for programs that may not call it. */
async function askedTools({ mcp, skills, runs }: Config): Promise<ProbedTools | { unasked: string }> {
  const servers = Object.entries(mcp.servers);
  if (servers.length === 0) return { unasked: "there is no [mcp.servers.NAME]" };
  if (!skills.enable.includes(TOOLS_SKILL) || skills.disable.includes(TOOLS_SKILL))
    return { unasked: `the skill "${TOOLS_SKILL}" is not enabled, so that no server was asked` };
  const { probeToolsApart } = await import("../agents/host/tool-prober.js");
  return probeToolsApart(
    servers.map(([name, server]) => toolServer(name, server, process.env)),
    mcp.probe_s,
    evaluatorFolder(runs.folder),
  );
}

/**
 * `library`, `library:PATH`, `script:FILE` or `llm`; a script is read here, so is a library, so that no path reaches the agent
 * host. Left out: what the configuration says.
 */
export function proposerOf(words: string | undefined, config: Config): EpisodeRequest["proposer"] {
  if (words === undefined) return configuredProposer(config);
  const [kind, ...rest] = words.split(":");
  if (words === "llm") return llmProposer(config, process.env);
  const tail = rest.join(":");
  if (kind === "library" && tail === "") return { kind: "library", library: "starter" };
  if (kind === "library") return { kind: "library", library: basename(tail), memories: readMemories(resolve(tail)) };
  if (kind === "script" && tail) {
    try {
      return { kind: "script", source: readFileSync(resolve(tail), "utf8"), fileName: basename(tail) };
    } catch (cause) {
      throw new Skill2RealError(
        "not_found",
        `the program ${tail} cannot be read (${(cause as NodeJS.ErrnoException).code})`,
        { cause },
      );
    }
  }
  throw new Skill2RealError("usage", `--proposer ${words}: give library, library:FOLDER, script:FILE or llm`);
}

function configuredProposer(config: Config): EpisodeRequest["proposer"] {
  const { kind, library, script } = config.proposer;
  if (kind === "script") return proposerOf(`script:${script}`, config);
  if (kind === "llm") return llmProposer(config, process.env);
  return proposerOf(library === undefined ? "library" : `library:${library}`, config);
}

/** The language model of a configuration; its key comes from the environment alone. */
export function llmProposer(
  config: Config,
  environment: Readonly<Record<string, string | undefined>>,
): Extract<EpisodeRequest["proposer"], { kind: "llm" }> {
  const { library } = config.proposer;
  return {
    kind: "llm",
    model: modelSettings(config, environment),
    task_text: "",
    ...(library === undefined ? {} : { memories: readMemories(resolve(library)) }),
  };
}

/** Settings of the configured model; throws `bad_config` saying which key is missing. */
export function modelSettings(
  config: Config,
  environment: Readonly<Record<string, string | undefined>>,
): ModelSettings {
  const { name, base_url, api_key_env, ...rest } = config.model;
  for (const [key, value] of [
    ["base_url", base_url],
    ["name", name],
  ])
    if (value === undefined)
      throw new Skill2RealError(
        "bad_config",
        `model.${key} is missing: set it in [model] of skill2real.toml, or as SKILL2REAL__MODEL__${key?.toUpperCase()}`,
      );
  const key = environment[api_key_env]?.trim();
  const parsed = modelSettingsSchema.safeParse({ ...rest, base_url, model: name, ...(key ? { api_key: key } : {}) });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Skill2RealError("bad_config", `model.${issue?.path.join(".")}: ${issue?.message}`, { cause: parsed.error });
}

/** A task family that there is; throws `usage` with the nearest one for any other. */
export function taskOf(name: string): string {
  if (TASKS.includes(name)) return name;
  throw new Skill2RealError("usage", `there is no task "${name}".${suggest(name, TASKS)} Tasks: ${TASKS.join(", ")}`);
}

/** "7", or "1000..1099" for a range with both ends. */
export function seedRange(words: string): { from: number; to: number } {
  const match = /^(\d+)(?:\.\.(\d+))?$/.exec(words);
  if (!match) throw new Skill2RealError("usage", `seeds "${words}": give one number, or a range A..B with both ends`);
  const from = Number(match[1]);
  return { from, to: match[2] === undefined ? from : Number(match[2]) };
}
