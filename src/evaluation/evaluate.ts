import { Skill2RealError } from "../contract/errors.js";
import { sha256 } from "../contract/sha256.js";
import type { EpisodeResult } from "./episode-result.js";
import { type EpisodeSpec, EpisodeWorker, type EpisodeWorkerOptions } from "./episode-worker.js";
import { RunsIndex } from "./runs-index.js";

export type EvaluateOptions = Omit<EpisodeWorkerOptions, "onStage" | "onCall"> & {
  spec: Omit<EpisodeSpec, "seed">;
  seeds: { from: number; to: number };
  workers: number;
  /** Names the campaign; a campaign of the same name goes on where it was left. Default: from what is played. */
  campaign?: string;
  /** Play every seed again, also those already played. */
  again?: boolean;
  onResult?: (result: EpisodeResult, done: number, total: number) => void;
  signal?: AbortSignal;
};

/** The same spec, code and settings give the same name, so that an evaluation that was cut short goes on. */
export function campaignName(
  spec: Omit<EpisodeSpec, "seed">,
  /** Of the simulator, or the backend's name. */
  realtime: number | string,
  implementation: string,
): string {
  return `${spec.task}-${sha256(
    JSON.stringify([spec, realtime, implementation], (key, value) => (key === "api_key" ? undefined : value)),
  ).slice(0, 12)}`;
}

/** Plays a range of seeds on some workers and gives the results by seed. Seeds that the campaign has already are not
 * played again, save those that the infrastructure failed. */
export async function evaluateSeeds(options: EvaluateOptions & { campaign: string }): Promise<EpisodeResult[]> {
  const { seeds, workers, campaign, runsFolder } = options;
  if (!(seeds.from <= seeds.to))
    throw new Skill2RealError(
      "bad_argument",
      `seeds ${seeds.from}..${seeds.to} are no range: the first must not be above the last`,
    );
  const index = RunsIndex.open(runsFolder);
  const total = seeds.to - seeds.from + 1;
  const results = new Map<number, EpisodeResult>();
  if (!options.again)
    for (const [seed, result] of index.campaign(campaign))
      if (seed >= seeds.from && seed <= seeds.to && result.infrastructure === null) results.set(seed, result);
  const queue = Array.from({ length: total }, (_, i) => seeds.from + i).filter((seed) => !results.has(seed));
  for (const result of results.values()) options.onResult?.(result, results.size, total);

  const work = async (): Promise<void> => {
    const worker = new EpisodeWorker(options);
    const onAbort = (): void => void worker.stop("the evaluation was interrupted");
    options.signal?.addEventListener("abort", onAbort, { once: true });
    try {
      for (let seed = queue.shift(); seed !== undefined && !options.signal?.aborted; seed = queue.shift()) {
        const result = await worker.play({ ...options.spec, seed });
        if (options.signal?.aborted) return;
        index.add(result, campaign);
        results.set(seed, result);
        options.onResult?.(result, results.size, total);
      }
    } finally {
      options.signal?.removeEventListener("abort", onAbort);
      await worker.close();
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.max(1, Math.min(workers, queue.length)) }, work));
  } finally {
    index.close();
  }
  return [...results.values()].sort((a, b) => (a.seed ?? 0) - (b.seed ?? 0));
}
