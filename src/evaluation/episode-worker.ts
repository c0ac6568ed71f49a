import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { SimSpawnOptions } from "../../backends/sim/sim-backend.js";
import { DEFAULT_BUDGETS, type EpisodeReport } from "../agents/episode.js";
import { CASSETTE_FILE } from "../agents/exchanges/cassette.js";
import { AgentHost, type AgentHostOptions } from "../agents/host/agent-host.js";
import type { EpisodeRequest } from "../agents/host/messages.js";
import type { EpisodeAccounts } from "../agents/llm/model-account.js";
import type { CallRecord, StageRecord } from "../agents/proposer.js";
import { diffLocks, type Lock, type LockPart } from "../config/lock/lock.js";
import { isSkill2RealError, Skill2RealError } from "../contract/errors.js";
import type { EvaluateReply } from "../contract/generated/privileged.js";
import type { DeviceAddresses } from "../runtime/device/device.js";
import { DeviceClient } from "../runtime/device/device-client.js";
import { StopChannel } from "../runtime/device/stop-channel.js";
import { newRefKey } from "../runtime/refs.js";
import { type EpisodeResult, proposerName } from "./episode-result.js";
import type { EpisodeWorld } from "./episode-world.js";
import { gatherLock } from "./gather-lock.js";
import type { KeptRun, KeptStage } from "./kept-stages.js";
import { evaluatorFolder, newRunName, writeLock, writeRunFile } from "./run-folder.js";
import { SimWorld } from "./sim-world.js";
import { putBack, StageKeeper } from "./stage-keeper.js";

/** How long a stop may take to be answered. */
const STOP_ANSWER_MS = 1000;
/** How long after its own wall time a host that does not come to an end is left alone. */
const HOST_OVERTIME_S = 60;
/** Codes with which an episode does not count: nothing that the Proposer did. */
const NOT_THE_PROPOSER: readonly string[] = [
  "backend_lost",
  "backend_unreachable",
  "guest_failed",
  "internal",
  "storage_failed",
  "protocol_mismatch",
  "deadline_exceeded",
  "addon_missing",
  "addon_failed",
  "diverged",
  "model_unreachable",
  "model_timeout",
  "model_stream_cut",
  "model_unauthorized",
  "model_rate_limited",
  "model_server_error",
  "model_bad_reply",
  "model_reply_too_large",
  "model_refused_request",
  "model_image_refused",
  "model_context_overflow",
];

export type EpisodeSpec = {
  /** A task with its seed, which can be judged; or words alone on the world of a task and seed. */
  task: string;
  seed: number;
  /** Replaces the task's own words; the episode is then not judged. */
  instruction?: string;
  proposer: EpisodeRequest["proposer"];
  settings: EpisodeRequest["settings"];
  /** For tests of the wall: changes hidden names only. */
  hidden_salt?: string;
  /** Key of the refs; the same key gives the same refs. Default: a new one. */
  refKey?: string;
  evidence?: boolean;
  /** Content of a cassette that answers in place of models and services. */
  replay?: EpisodeRequest["replay"];
  /** Refuses to play where anything differs from it. */
  locked?: Lock;
  /** What of `locked` has to hold. Default: all of it. */
  lockedParts?: readonly LockPart[];
  /**
   * Keeps what was played and, where the world can be put back, the end of each stage, so that a later run can go on with it;
   * `proposer` is how a person names the Proposer.
   */
  keep?: { proposer: string | null };
  /** Goes on with an earlier run at the end of one of its stages, in place of the beginning. */
  resume?: { kept: KeptRun; stage: KeptStage };
};

export type EpisodeWorkerOptions = {
  runsFolder: string;
  /** 0: simulated clock. */
  realtime?: number;
  /** Gets each episode's name before it is played. */
  onRun?: (run: string) => void;
  onStage?: (stage: StageRecord) => void;
  onCall?: (call: CallRecord) => void;
  onLog?: (line: string) => void;
  /** Sees every message to the agent host and from it (for tests of the wall). */
  onMessage?: AgentHostOptions["onMessage"];
  /** Another simulated world or server module (for tests). */
  simulator?: Pick<SimSpawnOptions, "world" | "module">;
  /** What episodes are played on. Default: a simulator, by the options above. */
  world?: () => EpisodeWorld;
  /** The public addresses of each backend that an episode is played on, once it answers. */
  onBackend?: (addresses: DeviceAddresses, world: EpisodeWorld) => void;
};

/**
 * One world (a simulator, a rig) and one agent host, kept from episode to episode. The worker holds the seed and what the world
 * is judged by; the host gets an instruction, the public addresses and an opaque name.
 */
export class EpisodeWorker {
  readonly #options: EpisodeWorkerOptions;
  #world: EpisodeWorld | null = null;
  #host: AgentHost | null = null;
  #stopper: { address: string; channel: StopChannel } | null = null;
  #interrupted: string | null = null;
  /** The episode under way, where the ends of its stages are kept. */
  #keeper: StageKeeper | null = null;

  constructor(options: EpisodeWorkerOptions) {
    this.#options = options;
  }

  /** The running backend's public addresses; null where none runs. */
  get addresses(): DeviceAddresses | null {
    return this.#world?.addresses ?? null;
  }

  /** The process of the backend that is played on; null where none runs. */
  get backendPid(): number | null {
    return this.#world?.pid ?? null;
  }

  get hostPid(): number | null {
    return this.#host?.pid ?? null;
  }

  /** What this machine does not permit of the agent host's isolation, in words; empty when nothing. */
  get isolationNotes(): readonly string[] {
    return this.#host?.isolation.notes ?? [];
  }

  /** Starts the processes, where they are not running. `play` does it too. */
  async start(): Promise<void> {
    await this.#ready();
  }

  /** Plays and judges one episode. Never rejects for what goes wrong in it: that is in the result. */
  async play(spec: EpisodeSpec): Promise<EpisodeResult> {
    const run = newRunName();
    this.#options.onRun?.(run);
    const began = performance.now();
    const result: EpisodeResult = {
      run,
      task: spec.task,
      seed: spec.seed,
      instruction: spec.instruction ?? "",
      backend: "",
      proposer: proposerName(spec.proposer),
      started_at: new Date().toISOString(),
      outcome: "failed",
      claim: null,
      evidence: "",
      success: null,
      failure_kind: null,
      infrastructure: null,
      predicates: [],
      stages: 0,
      calls: 0,
      device_time_s: 0,
      wall_s: 0,
    };
    try {
      this.#world ??= this.#makeWorld();
      const world = this.#world;
      result.backend = world.backend;
      await this.#ready();
      const { instruction } = await world.begin({
        task: spec.task,
        seed: spec.seed,
        ...(spec.hidden_salt ? { hidden_salt: spec.hidden_salt } : {}),
      });
      result.instruction = spec.instruction ?? instruction ?? "";
      const lock = await this.#lock(spec, world);
      result.policy = lock.policy_hash;
      result.environment = lock.environment_hash;
      await writeLock(this.#options.runsFolder, run, lock);
      const refKey = spec.resume?.kept.episode.ref_key ?? spec.refKey ?? newRefKey();
      if (spec.keep)
        this.#keeper = await StageKeeper.begin({
          world,
          runsFolder: this.#options.runsFolder,
          run,
          realtime: this.#options.realtime ?? 0,
          episode: {
            task: spec.task,
            seed: spec.seed,
            instruction: spec.instruction ?? null,
            proposer: spec.keep.proposer,
            ref_key: refKey,
            resumed: spec.resume?.kept.run ?? null,
          },
        });
      if (spec.resume) await putBack(world, spec.resume.kept, spec.resume.stage);
      if (spec.resume) result.resumed = { run: spec.resume.kept.run, stage: spec.resume.stage.stage };
      const { report } = await this.#playOn(this.#host!, {
        episode: run,
        folder: run,
        instruction: result.instruction,
        addresses: this.#meet(world),
        proposer: spec.proposer,
        policy: lock.policy_hash,
        ...(spec.replay ? { replay: spec.replay } : {}),
        settings: spec.settings,
        randomSeed: 1,
        leaseMs: world.leaseMs,
        refKey,
        ...(this.#keeper?.keeps ? { keep: true } : {}),
        ...(spec.resume ? await this.#resumption(spec.resume) : {}),
      });
      if (this.#keeper?.failed) throw this.#keeper.failed;
      this.#take(result, report);
      const verdict = report.outcome !== "lost" && spec.instruction === undefined ? await world.judge() : null;
      if (verdict) this.#judge(result, verdict);
      await writeRunFile(this.#options.runsFolder, run, "stages.json", JSON.stringify(report.stages, null, 1));
    } catch (error) {
      this.#failed(result, error);
    }
    this.#keeper = null;
    result.wall_s = (performance.now() - began) / 1e3;
    if (result.infrastructure !== null) await this.#restart(result.outcome === "lost");
    else await this.#world?.end();
    return result;
  }

  /** Stops the arm now (on a session of its own), then ends the episode. */
  async stop(reason: string): Promise<void> {
    this.#interrupted = reason;
    try {
      await this.#stopper?.channel.stop("", reason);
    } finally {
      this.#host?.stop(reason);
    }
  }

  /** A host that is still busy long after the episode's budget (code of a skill may loop) is ended; that reads as `guest_failed`. */
  async #playOn(host: AgentHost, request: Parameters<AgentHost["play"]>[0]): ReturnType<AgentHost["play"]> {
    const limit_s = (request.settings.budgets.max_wall_s ?? DEFAULT_BUDGETS.max_wall_s) + HOST_OVERTIME_S;
    const timer = setTimeout(() => void host.kill(`it did not end within ${limit_s} s`), limit_s * 1e3);
    try {
      return await host.play(request);
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    await this.#host?.close();
    this.#host = null;
    this.#stopper?.channel.close();
    this.#stopper = null;
    await this.#world?.close();
    this.#world = null;
  }

  async #ready(): Promise<void> {
    if (this.#interrupted !== null) throw new Skill2RealError("stopped", this.#interrupted);
    this.#world ??= this.#makeWorld();
    // Each is kept as soon as it runs, so that `close` ends it where the other cannot start.
    const started = await Promise.allSettled([this.#world.start(), this.#startHost()]);
    for (const one of started) if (one.status === "rejected") throw one.reason;
    if (this.#world.addresses) this.#meet(this.#world);
  }

  #makeWorld(): EpisodeWorld {
    const { realtime = 0, onLog, simulator = {}, world } = this.#options;
    return world?.() ?? new SimWorld({ ...simulator, realtime, ...(onLog ? { onLog } : {}) });
  }

  /** The backend's public addresses; its stop socket is at hand from here on. */
  #meet(world: EpisodeWorld): DeviceAddresses {
    const { addresses } = world;
    if (!addresses) throw new Skill2RealError("internal", `the ${world.backend} backend was not started`);
    if (this.#stopper?.address !== addresses.stop) {
      this.#stopper?.channel.close();
      const channel = new StopChannel({ address: addresses.stop, lostAfterMs: STOP_ANSWER_MS });
      this.#stopper = { address: addresses.stop, channel };
      this.#options.onBackend?.(addresses, world);
    }
    if (this.#interrupted !== null) throw new Skill2RealError("stopped", this.#interrupted);
    return addresses;
  }

  /** The identity of the episode that is about to be played; throws `diverged` where it is not the one asked for. */
  async #lock(spec: EpisodeSpec, world: EpisodeWorld): Promise<Lock> {
    const observer = await DeviceClient.connect({
      ...this.#meet(world),
      role: "OBSERVER",
      client: "skill2real/evaluator",
    });
    const { capabilities } = observer;
    observer.close();
    const { realtime = 0 } = this.#options;
    const task = spec.instruction === undefined ? spec.task : null;
    const lock = gatherLock({ proposer: spec.proposer, settings: spec.settings, capabilities, task, realtime });
    const differences = spec.locked ? diffLocks(spec.locked, lock, spec.lockedParts) : [];
    if (differences.length === 0) return lock;
    const what = spec.resume ? `run ${spec.resume.kept.run} cannot be resumed: its lock` : "the lock";
    throw new Skill2RealError("diverged", `${what} does not hold: ${differences.slice(0, 5).join("; ")}`);
  }

  /** What the host needs to go on: the trace is in its folder of runs; models are answered from the cassette first. */
  async #resumption({ kept, stage }: NonNullable<EpisodeSpec["resume"]>): Promise<Partial<EpisodeRequest>> {
    const path = runPath(this.#options.runsFolder, kept.run, CASSETTE_FILE);
    const cassette = existsSync(path) ? await readFile(path, "utf8") : null;
    return {
      resume: { folder: kept.run, stage: stage.stage, wall_s: stage.wall_s },
      ...(cassette === null ? {} : { replay: { cassette, strict: true, onward: true } }),
    };
  }

  async #keepStage(stage: number, wall_s: number): Promise<void> {
    try {
      await this.#keeper?.keep(stage, wall_s, () => this.#interrupted !== null);
    } catch (error) {
      this.#host?.stop("the end of a stage cannot be kept");
      throw error;
    }
  }

  async #startHost(): Promise<void> {
    if (this.#host && !this.#host.gone) return;
    const { runsFolder, onStage, onCall, onMessage } = this.#options;
    this.#host = await AgentHost.spawn({
      runsFolder,
      evaluatorFolder: evaluatorFolder(runsFolder),
      ...(onStage ? { onStage } : {}),
      ...(onCall ? { onCall } : {}),
      ...(onMessage ? { onMessage } : {}),
      onStageEnd: (stage, wall_s) => this.#keepStage(stage, wall_s),
    });
  }

  /** A backend or host that failed is not trusted with the next episode. What still moves is stopped before it ends. */
  async #restart(lost: boolean): Promise<void> {
    // One that answers nothing any more is not waited for.
    if (lost) await this.#world?.kill();
    else await this.#stopper?.channel.stop("", "the episode failed").catch(() => {});
    await this.close();
  }

  #take(result: EpisodeResult, report: EpisodeReport): void {
    result.outcome = report.outcome;
    result.claim = report.claim;
    result.evidence = report.evidence;
    result.stages = report.stages.length - 1;
    result.calls = report.stages.reduce((sum, stage) => sum + stage.calls.length, 0);
    result.device_time_s = report.device_time_s;
    result.model = report.model;
    result.services = report.services;
    if (report.outcome === "lost") result.infrastructure = "lost: the backend stopped answering";
  }

  #judge(result: EpisodeResult, { success, predicates, failure_kind }: EvaluateReply): void {
    result.success = success;
    result.predicates = predicates;
    result.failure_kind = success
      ? null
      : result.outcome === "finished"
        ? failure_kind
        : `${result.outcome}: ${failure_kind}`;
  }

  #failed(result: EpisodeResult, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    result.evidence = message;
    // What was asked before it failed was paid for all the same.
    const accounts = isSkill2RealError(error) ? (error.details.accounts as EpisodeAccounts | undefined) : undefined;
    if (accounts) Object.assign(result, { model: accounts.model, services: accounts.services });
    if (this.#interrupted !== null) {
      result.outcome = "stopped";
      return;
    }
    const code = isSkill2RealError(error) ? error.code : "internal";
    const words = this.#world?.lastWords().trim();
    if (NOT_THE_PROPOSER.includes(code))
      result.infrastructure = `${code === "backend_lost" ? "lost" : code}: ${message}${code === "backend_lost" && words ? ` (the backend's last words: ${words.split("\n").at(-1)})` : ""}`;
    else result.failure_kind = code;
    if (code === "backend_lost") result.outcome = "lost";
  }
}

/** Where a run's files are. */
export const runPath = (runsFolder: string, run: string, ...names: string[]): string => join(runsFolder, run, ...names);
