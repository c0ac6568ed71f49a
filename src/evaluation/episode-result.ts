import type { EpisodeOutcome } from "../agents/episode.js";
import type { Claim } from "../agents/proposer.js";

/** One played and judged episode, as the index of runs keeps it. */
export type EpisodeResult = {
  run: string;
  /** Null for an episode that was given by words alone, which nobody can judge. */
  task: string | null;
  seed: number | null;
  instruction: string;
  backend: string;
  proposer: string;
  started_at: string;
  outcome: EpisodeOutcome | "failed";
  claim: Claim | null;
  evidence: string;
  /** Null where it was not judged. */
  success: boolean | null;
  /** Why the task failed, or null. */
  failure_kind: string | null;
  /** Why the episode does not count (the backend was lost, a process died), or null. */
  infrastructure: string | null;
  predicates: { name: string; holds: boolean; measure: number; unit: string; limit: number }[];
  stages: number;
  calls: number;
  device_time_s: number;
  wall_s: number;
};

/** What became of an episode, in words for a person. */
export function outcomeWords({ infrastructure, success, failure_kind }: EpisodeResult): string {
  if (infrastructure !== null) return infrastructure;
  if (success === null) return "not judged";
  return success ? "success" : `failure (${failure_kind})`;
}

/** Said to be done, and was not. */
export const isFalseClaim = (result: EpisodeResult): boolean =>
  result.success === false && result.claim === "supported";
