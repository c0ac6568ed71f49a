import type { EpisodeRequest } from "../../agents/host/messages.js";
import { DEFAULT_CONFIG, quotasOf } from "../../config/index.js";

/** Settings of an episode as they are without any configuration. */
export function defaultEpisodeSettings(): EpisodeRequest["settings"] {
  const config = DEFAULT_CONFIG;
  return {
    motion: config.motion,
    perception: config.perception,
    path_length_m: config.program.path_length_m,
    quotas: quotasOf(config),
    budgets: config.episode,
    skills: config.skills,
  };
}
