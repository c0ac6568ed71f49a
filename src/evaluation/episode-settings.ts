import type { EpisodeRequest } from "../agents/host/messages.js";
import { type Config, quotasOf } from "../config/index.js";

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
