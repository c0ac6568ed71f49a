import { readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import type { EpisodeRequest } from "../agents/host/messages.js";
import { type Config, loadConfig, quotasOf } from "../config/index.js";
import { Skill2RealError } from "../contract/errors.js";
import { suggest } from "../contract/suggest.js";
import { readMemories } from "../memory/index.js";

const TASKS: readonly string[] = ["r1"];

export type CommonOptions = { config?: string; runs?: string; proposer?: string; backend?: string; realtime?: number };

/** Configuration with the flags that commands share on top. */
export function commandConfig(options: CommonOptions): Config {
  const { config } = loadConfig({
    ...(options.config ? { file: options.config } : {}),
    environment: process.env,
    flags: { "runs.folder": options.runs, "backend.kind": options.backend, "backend.realtime": options.realtime },
  });
  return config;
}

/** What the agent host is told of a configuration. */
export function episodeSettings(config: Config): EpisodeRequest["settings"] {
  return {
    motion: config.motion,
    perception: config.perception,
    path_length_m: config.program.path_length_m,
    quotas: quotasOf(config),
    budgets: config.episode,
    skills: config.skills,
  };
}

/** `library`, `library:PATH` or `script:FILE`; a script is read here, so is a library, so that no path reaches the agent host. */
export function proposerOf(words: string): EpisodeRequest["proposer"] {
  const [kind, ...rest] = words.split(":");
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
  throw new Skill2RealError("usage", `--proposer ${words}: give library, library:FOLDER or script:FILE`);
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
