import type { EpisodeResult } from "./episode-result.js";

/** A result for tests: a success, save for `changes`. */
export function episodeResult(changes: Partial<EpisodeResult>): EpisodeResult {
  return {
    run: "20260101-000000-abcdef",
    task: "r1",
    seed: 0,
    instruction: "Put the red can into the blue tray.",
    backend: "sim",
    proposer: "library:starter",
    started_at: "2026-01-01T00:00:00.000Z",
    outcome: "finished",
    claim: "supported",
    evidence: "",
    success: true,
    failure_kind: null,
    infrastructure: null,
    predicates: [],
    stages: 4,
    calls: 30,
    device_time_s: 8,
    wall_s: 2,
    ...changes,
  };
}
