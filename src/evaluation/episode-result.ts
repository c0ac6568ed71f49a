import type { EpisodeOutcome } from "../agents/episode.js";
import type { EpisodeRequest } from "../agents/host/messages.js";
import type { ModelAccount } from "../agents/llm/model-account.js";
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
  /** Digests of the lock: what decided, and what it decided about. */
  policy?: string;
  environment?: string;
  /** The run that this one went on with, and the stage at whose end. */
  resumed?: { run: string; stage: number };
  /** What the language model took, where there was one. */
  model?: ModelAccount | null;
  /** What the vision model behind services took, where there was one. */
  services?: ModelAccount | null;
};

/** It came to its end by itself: nobody stopped it, and nothing failed that it stands on. */
export const endedByItself = ({ outcome, infrastructure }: EpisodeResult): boolean =>
  infrastructure === null && (outcome === "finished" || outcome === "budget" || outcome === "fault");

/** What became of an episode, in words for a person. */
export function outcomeWords({ infrastructure, success, failure_kind, outcome }: EpisodeResult): string {
  if (infrastructure !== null) return infrastructure;
  if (success === null) return `${outcome}; not judged`;
  return success ? "success" : `failure (${failure_kind})`;
}

/** Said to be done, and was not. */
export const isFalseClaim = (result: EpisodeResult): boolean =>
  result.success === false && result.claim === "supported";

/** A Proposer as results and tables name it. */
export function proposerName(proposer: EpisodeRequest["proposer"]): string {
  if (proposer.kind === "script") return `script:${proposer.fileName}`;
  return proposer.kind === "library" ? `library:${proposer.library}` : `llm:${proposer.model.model}`;
}

/** What models took, a line each: the one that decided, and the one that answered for services. */
export function accountLines({ model, services }: EpisodeResult): string[] {
  return [
    ...(model ? [`model          ${accountWords(model)}`] : []),
    ...(services ? [`services       ${accountWords(services)}`] : []),
  ];
}

function accountWords(model: ModelAccount): string {
  const about = model.counted ? "" : "about ";
  const cost = model.cost === null ? "" : `, cost ${model.cost.toFixed(4)}`;
  const troubles = Object.entries(model.troubles).map(([code, times]) => `${code} ${times}`);
  return (
    `${model.model}: ${model.calls} replies in ${(model.latency_ms / 1e3).toFixed(1)} s, ${about}${model.tokens_in} tokens read and ` +
    `${model.tokens_out} written${cost}${troubles.length > 0 ? `; ${troubles.join(", ")}` : ""}`
  );
}
