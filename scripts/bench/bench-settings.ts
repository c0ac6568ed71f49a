import type { EpisodeRequest } from "../../src/agents/host/messages.js";
import { DEFAULT_CONFIG, quotasOf } from "../../src/config/index.js";

/** Settings of the benches' episodes: the defaults, with stereo on one thread, and no limit of a program's way. */
export function benchSettings(): EpisodeRequest["settings"] {
  const { motion, perception, episode, skills } = DEFAULT_CONFIG;
  return {
    motion,
    perception: { ...perception, threads: 1 },
    quotas: quotasOf(DEFAULT_CONFIG),
    budgets: episode,
    skills,
  };
}
