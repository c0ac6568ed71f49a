import type { ModelAccount } from "../agents/llm/model-account.js";
import { type EpisodeResult, isFalseClaim } from "./episode-result.js";
import { wilson95 } from "./wilson.js";

/** What `eval --json` prints. Infrastructure failures are counted apart: they say nothing of the Proposer. */
export type EvalSummary = {
  task: string;
  backend: string;
  proposer: string;
  seeds: { from: number; to: number; count: number };
  success: { count: number; rate: number; wilson95: [number, number] };
  false_claims: number;
  failures: Record<string, number>;
  infrastructure: { count: number; kinds: Record<string, number> };
  wall_s: { mean: number; p95: number };
  /** Of all episodes with a language model, also those that do not count; null where there was none. */
  model: ModelTotals | null;
  /** The same of the vision model behind services. */
  services: ModelTotals | null;
};
export type ModelTotals = {
  calls: number;
  tokens_in: number;
  tokens_out: number;
  /** Null where one of the episodes had no prices. */
  cost: number | null;
  /** How often each trouble came, by code. */
  troubles: Record<string, number>;
};

const repeated = ([code, times]: [string, number]): string[] => Array.from({ length: times }, () => code);

function tally(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

/** Value below which 95 % of the sample lies (nearest rank); 0 for none. */
function percentile95(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * 0.95) - 1)] ?? 0;
}

export function summarize(
  task: string,
  backend: string,
  proposer: string,
  seeds: { from: number; to: number },
  results: readonly EpisodeResult[],
): EvalSummary {
  const judged = results.filter((result) => result.infrastructure === null);
  const successes = judged.filter((result) => result.success === true).length;
  const broken = results.filter((result) => result.infrastructure !== null);
  const walls = judged.map((result) => result.wall_s);
  return {
    task,
    backend,
    proposer,
    seeds: { ...seeds, count: judged.length },
    success: {
      count: successes,
      rate: judged.length === 0 ? 0 : successes / judged.length,
      wilson95: wilson95(successes, judged.length),
    },
    false_claims: judged.filter(isFalseClaim).length,
    failures: tally(
      judged.filter((result) => result.success !== true).map((result) => result.failure_kind ?? result.outcome),
    ),
    infrastructure: {
      count: broken.length,
      kinds: tally(broken.map((result) => result.infrastructure?.split(":")[0] ?? "unknown")),
    },
    wall_s: {
      mean: walls.length === 0 ? 0 : walls.reduce((sum, value) => sum + value, 0) / walls.length,
      p95: percentile95(walls),
    },
    model: modelTotals(results.map(({ model }) => model)),
    services: modelTotals(results.map(({ services }) => services)),
  };
}

function modelTotals(every: readonly (ModelAccount | null | undefined)[]): ModelTotals | null {
  const accounts = every.flatMap((account) => (account ? [account] : []));
  if (accounts.length === 0) return null;
  const sum = (pick: (account: ModelAccount) => number): number =>
    accounts.reduce((total, account) => total + pick(account), 0);
  return {
    calls: sum(({ calls }) => calls),
    tokens_in: sum(({ tokens_in }) => tokens_in),
    tokens_out: sum(({ tokens_out }) => tokens_out),
    cost: accounts.some(({ cost }) => cost === null) ? null : sum(({ cost }) => cost ?? 0),
    troubles: tally(accounts.flatMap(({ troubles }) => Object.entries(troubles).flatMap(repeated))),
  };
}
