import { existsSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { Skill2RealError } from "../contract/errors.js";
import { sha256 } from "../contract/sha256.js";
import { traceEventCodec } from "../contract/wire/trace-codec.js";
import { STAGE_END } from "../runtime/recording/recording.js";
import { TRACE_FILE } from "../runtime/trace/mcap-trace.js";
import { readTrace } from "../runtime/trace/read-trace.js";
import { evaluatorFolder, writeOwnFile } from "./run-folder.js";

const episodeSchema = z.strictObject({
  format: z.literal("skill2real-kept-1"),
  /** What was played, as it is asked for again. */
  task: z.string(),
  seed: z.number().int().nonnegative(),
  instruction: z.string().nullable(),
  /** As a person names it: "library:starter", "script:FILE", "llm"; null: as configured. */
  proposer: z.string().nullable(),
  backend: z.string(),
  /** False where no stage's end can be kept: a world that nobody can put back, or a clock that does not wait. */
  keeps: z.boolean(),
  /** Key of the session's refs, so that they are the same again. */
  ref_key: z.string(),
  /** The run that this one went on with. */
  resumed: z.string().nullable(),
});
const stageSchema = z.strictObject({
  format: z.literal("skill2real-kept-stage-1"),
  stage: z.number().int().nonnegative(),
  /** Of the simulator, at the snapshot. */
  state_hash: z.string(),
  snapshot_sha256: z.string(),
  /** Wall time of the episode until then. */
  wall_s: z.number().nonnegative(),
});
export type KeptEpisode = Omit<z.infer<typeof episodeSchema>, "format">;
export type KeptStage = Omit<z.infer<typeof stageSchema>, "format"> & { snapshot: string };

const keptFolder = (runsFolder: string): string => join(evaluatorFolder(runsFolder), "kept");
const STAGE_FILE = /^stage-(\d+)\.(json|snapshot)/;
const snapshotName = (stage: number): string => `stage-${stage}.snapshot`;
const stageName = (stage: number): string => `stage-${stage}.json`;

/**
 * What the evaluator keeps of a run so that a later one can go on with it: what was played, and for each stage's end the
 * simulator's snapshot. What the runtime and the Proposer knew is in the run's own trace and cassette. Seeds and true state are in
 * here: it is in the evaluator's folder, which no agent host sees.
 */
export class KeptRun {
  readonly run: string;
  readonly episode: KeptEpisode;
  readonly #folder: string;
  readonly #trace: string;

  private constructor(runsFolder: string, run: string, episode: KeptEpisode) {
    this.run = run;
    this.episode = episode;
    this.#folder = join(keptFolder(runsFolder), run);
    this.#trace = join(runsFolder, run, TRACE_FILE);
  }

  /** Throws `storage_failed`. */
  static async begin(runsFolder: string, run: string, episode: KeptEpisode): Promise<KeptRun> {
    const kept = new KeptRun(runsFolder, run, episode);
    await writeJson(join(kept.#folder, "episode.json"), { format: "skill2real-kept-1", ...episode });
    return kept;
  }

  /** `run` may be "last". Throws `not_found` for a run of which nothing is kept, `bad_config` for what this version does not read. */
  static async open(runsFolder: string, run: string): Promise<KeptRun> {
    const folder = keptFolder(runsFolder);
    const names = existsSync(folder) ? (await readdir(folder)).sort() : [];
    const name = run === "last" ? names.at(-1) : run;
    if (name === undefined || !names.includes(name) || !existsSync(join(folder, name, "episode.json")))
      throw new Skill2RealError(
        "not_found",
        `nothing is kept of a run "${run}" in ${runsFolder}: what "skill2real run" plays can be resumed, by the name of its folder`,
      );
    const { format: _, ...episode } = await readWhole(join(folder, name, "episode.json"), episodeSchema);
    return new KeptRun(runsFolder, name, episode);
  }

  /** Where the simulator puts the snapshot of a stage's end (absolute as the folder of runs is). */
  snapshotPath(stage: number): string {
    return join(this.#folder, snapshotName(stage));
  }

  /** Keeps a stage's end, whose snapshot and trace are on the disk; it is kept once this resolves. Throws `storage_failed`. */
  async add(stage: { stage: number; state_hash: string; wall_s: number }): Promise<void> {
    const snapshot_sha256 = await digestOfFile(this.snapshotPath(stage.stage));
    await writeJson(join(this.#folder, stageName(stage.stage)), {
      format: "skill2real-kept-stage-1",
      ...stage,
      snapshot_sha256,
    });
  }

  /** Removes what was kept of the stages: what was played stays known, and nothing can go on with it. Throws `storage_failed`. */
  async drop(): Promise<void> {
    try {
      for (const name of await readdir(this.#folder))
        if (STAGE_FILE.test(name)) await rm(join(this.#folder, name), { force: true });
    } catch (cause) {
      throw new Skill2RealError(
        "storage_failed",
        `what ${this.#folder} keeps of a finished run cannot be removed (${(cause as NodeJS.ErrnoException).code}): make the folder writable`,
        { cause },
      );
    }
  }

  /** The newest stage's end that is whole, and in words what newer one is not; null where there is none. */
  async newest(): Promise<{ newest: KeptStage | null; ignored: string[] }> {
    const numbers = (await readdir(this.#folder))
      .map((name) => STAGE_FILE.exec(name)?.[1])
      .filter((number) => number !== undefined)
      .map(Number);
    const marked = await this.#marked();
    const ignored: string[] = [];
    for (const stage of [...new Set(numbers)].sort((a, b) => b - a)) {
      const found = await this.#whole(stage, marked);
      if (typeof found !== "string") return { newest: found, ignored };
      ignored.push(`the end of stage ${stage} was not kept whole (${found}) and is left out`);
    }
    return { newest: null, ignored };
  }

  async #whole(stage: number, marked: ReadonlySet<number>): Promise<KeptStage | string> {
    const snapshot = this.snapshotPath(stage);
    if (!existsSync(join(this.#folder, stageName(stage)))) return "the run ended while it was being kept";
    try {
      const kept = await readWhole(join(this.#folder, stageName(stage)), stageSchema);
      if (kept.stage !== stage) return `its file speaks of stage ${kept.stage}`;
      if (!existsSync(snapshot)) return "its snapshot is missing";
      if ((await digestOfFile(snapshot)) !== kept.snapshot_sha256) return "its snapshot is not what was written";
      if (!marked.has(stage)) return "the trace does not reach it";
      return { ...kept, snapshot };
    } catch (error) {
      return (error as Error).message;
    }
  }

  /** Stages whose end the trace holds. */
  async #marked(): Promise<Set<number>> {
    const marked = new Set<number>();
    try {
      for await (const { data } of readTrace(this.#trace, { topics: ["/events"] })) {
        const { kind, details_json } = traceEventCodec.decode(data);
        if (kind === STAGE_END) marked.add((JSON.parse(details_json) as { stage: number }).stage);
      }
    } catch (error) {
      // What was read before the damage counts.
      if (!(error instanceof Skill2RealError)) throw error;
    }
    return marked;
  }
}

const writeJson = (path: string, content: unknown): Promise<string> =>
  writeOwnFile(path, `${JSON.stringify(content, null, 1)}\n`);

async function readWhole<T>(path: string, schema: z.ZodType<T>): Promise<T> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, "utf8"));
  } catch (cause) {
    throw new Skill2RealError("bad_config", `${path} cannot be read: ${(cause as Error).message}`, { cause });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new Skill2RealError("bad_config", `${path}: ${issue?.path.join(".") || "it"}: ${issue?.message}`);
}

const digestOfFile = async (path: string): Promise<string> => sha256(await readFile(path));
