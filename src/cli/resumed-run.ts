import { existsSync, readFileSync } from "node:fs";
import { CASSETTE_FILE, isTorn } from "../agents/exchanges/cassette.js";
import type { Config } from "../config/index.js";
import { type Lock, parseLock } from "../config/lock/lock.js";
import { Skill2RealError } from "../contract/errors.js";
import { endedByItself, outcomeWords } from "../evaluation/episode-result.js";
import { type EpisodeSpec, runPath } from "../evaluation/episode-worker.js";
import { KeptRun } from "../evaluation/kept-stages.js";
import { lockPath } from "../evaluation/run-folder.js";
import { RunsIndex } from "../evaluation/runs-index.js";

/** What `run --resume` plays. */
export type ResumedRun = {
  /** What a person is told before it starts. */
  words: string[];
  /** As for --proposer; null: as configured. */
  proposer: string | null;
  /** Undefined where the run was given by words. */
  task: string | undefined;
  spec: Pick<EpisodeSpec, "task" | "seed" | "instruction" | "locked" | "lockedParts" | "resume">;
};

const OTHERS = ["task", "instruction", "seed", "replay", "locked"] as const;

/**
 * The run that is to be gone on with, under its own lock: at the end of its newest whole stage, or from the beginning where its
 * world cannot be put back; another world or clock is then no reason to refuse it. Throws `usage` beside flags that say what else to
 * play and for a run that came to its end by itself, `not_found` where nothing is kept.
 */
export async function resumedRun(
  run: string,
  options: { readonly [name in (typeof OTHERS)[number]]?: unknown },
  config: Config,
): Promise<ResumedRun> {
  const other = OTHERS.find((name) => options[name] !== undefined);
  if (other)
    throw new Skill2RealError("usage", `--resume plays what the run played, under its lock: leave --${other} out`);
  const folder = config.runs.folder;
  const kept = await KeptRun.open(folder, run);
  refuseFinished(folder, kept.run);
  const { task, seed, instruction, proposer, keeps, backend } = kept.episode;
  const spec = { task, seed, ...(instruction === null ? {} : { instruction }), locked: lockOf(folder, kept.run) };
  const found = { proposer, task: instruction === null ? task : undefined, spec };
  const elsewhere = backendWords(config, backend, keeps);
  if (elsewhere !== null)
    return {
      ...found,
      spec: { ...spec, lockedParts: ["policy"] },
      words: [
        `note: ${elsewhere}: a new session begins, and what run ${kept.run} was asked to do is done from the start`,
      ],
    };
  const { newest, ignored } = await kept.newest();
  const words = ignored.map((line) => `note: ${line}`);
  if (!newest)
    throw new Skill2RealError(
      "not_found",
      `no stage of run ${kept.run} was kept to its end${ignored.length > 0 ? ` (${ignored.join("; ")})` : ""}: play it again`,
    );
  return {
    ...found,
    words: [...words, ...tornWords(folder, kept.run), `run ${kept.run} goes on at the end of stage ${newest.stage}`],
    spec: { ...spec, resume: { kept, stage: newest } },
  };
}

function refuseFinished(folder: string, run: string): void {
  const index = RunsIndex.open(folder);
  const result = index.get(run);
  index.close();
  if (result && endedByItself(result))
    throw new Skill2RealError(
      "usage",
      `run ${run} came to its end (${outcomeWords(result)}): there is nothing to go on with. "skill2real runs" lists runs that were interrupted`,
    );
}

/** The model is asked again for a reply that was not written to its end. */
function tornWords(folder: string, run: string): string[] {
  const path = runPath(folder, run, CASSETTE_FILE);
  const torn = existsSync(path) && isTorn(readFileSync(path, "utf8"));
  return torn ? ["note: the last line of the cassette was not written to its end and is left out"] : [];
}

/** Why nothing can be put back, or null. */
function backendWords(config: Config, backend: string, keeps: boolean): string | null {
  if (config.backend.kind === "native") return "the world of a rig cannot be put back";
  if (backend === "sim" && config.backend.realtime !== 0) return "on a wall clock no world is put back";
  if (!keeps) return `the world that run ${backend === "sim" ? "had, on a wall clock," : "had"} was not kept`;
  return null;
}

function lockOf(folder: string, run: string): Lock {
  const path = lockPath(folder, run);
  if (!existsSync(path)) throw new Skill2RealError("not_found", `the lock of run ${run} is missing: ${path}`);
  return parseLock(readFileSync(path, "utf8"), path);
}
