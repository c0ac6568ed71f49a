import { rm } from "node:fs/promises";
import { isSkill2RealError, Skill2RealError } from "../contract/errors.js";
import type { EpisodeWorld } from "./episode-world.js";
import { type KeptEpisode, KeptRun, type KeptStage } from "./kept-stages.js";

export type StageKeeperOptions = {
  world: EpisodeWorld;
  runsFolder: string;
  run: string;
  episode: Omit<KeptEpisode, "backend" | "keeps">;
  /** 0: simulated clock. */
  realtime: number;
};

/** Keeps the ends of one episode's stages, where its world can be put back. */
export class StageKeeper {
  /** Why a stage could not be kept; the episode is over then. */
  failed: Error | null = null;
  readonly keeps: boolean;
  readonly #world: EpisodeWorld;
  readonly #kept: KeptRun;

  private constructor(world: EpisodeWorld, kept: KeptRun) {
    this.#world = world;
    this.#kept = kept;
    this.keeps = kept.episode.keeps;
  }

  /** Notes what is played. Throws `storage_failed`. */
  static async begin({ world, runsFolder, run, episode, realtime }: StageKeeperOptions): Promise<StageKeeper> {
    // A wall clock runs on while a snapshot is taken, and never answers twice the same.
    const keeps = world.keep !== undefined && realtime === 0;
    return new StageKeeper(world, await KeptRun.begin(runsFolder, run, { ...episode, backend: world.backend, keeps }));
  }

  /** A stage's end, unless a stop came meanwhile: what is put back would be stopped too. Throws what it keeps in `failed`. */
  async keep(stage: number, wall_s: number, interrupted: () => boolean): Promise<void> {
    if (!this.keeps || !this.#world.keep || interrupted()) return;
    try {
      const path = this.#kept.snapshotPath(stage);
      const { state_hash, stop_latched } = await this.#world.keep(path);
      if (stop_latched || interrupted()) await rm(path, { force: true });
      else await this.#kept.add({ stage, state_hash, wall_s });
    } catch (cause) {
      this.failed = failureOf(stage, cause as Error);
      throw cause;
    }
  }
}

function failureOf(stage: number, cause: Error): Error {
  if (!isSkill2RealError(cause, "backend_refused") && !isSkill2RealError(cause, "storage_failed")) return cause;
  const from = stage === 0 ? "" : `; "skill2real run --resume" goes on from the end of stage ${stage - 1}`;
  return new Skill2RealError("storage_failed", `the end of stage ${stage} cannot be kept: ${cause.message}${from}`, {
    cause,
  });
}

/** Puts the world back as it was at a stage's end; throws `diverged` where it is not the same then. */
export async function putBack(world: EpisodeWorld, kept: KeptRun, stage: KeptStage): Promise<void> {
  if (!world.putBack)
    throw new Skill2RealError("bad_argument", `the world of the ${world.backend} backend cannot be put back`);
  const { state_hash } = await world.putBack(stage.snapshot);
  if (state_hash !== stage.state_hash)
    throw new Skill2RealError(
      "diverged",
      `the world at the end of stage ${stage.stage} of ${kept.run} is not the same when it is put back`,
    );
}
