import { isSkill2RealError } from "../contract/errors.js";
import type { ProgramChecker, Quotas, RunResult, Sandbox } from "../program/index.js";
import type { Session } from "../runtime/session.js";
import type { TraceSink } from "../runtime/trace-sink.js";
import type { ModelAccount } from "./llm/model-account.js";
import { ProgramHost } from "./program-host.js";
import type { CallRecord, Claim, Proposer, StageEnd, StageRecord } from "./proposer.js";
import { type SeenView, stageImages } from "./stage-images.js";

export type EpisodeBudgets = { max_stages: number; max_device_time_s: number; max_wall_s: number };
export const DEFAULT_BUDGETS: EpisodeBudgets = { max_stages: 12, max_device_time_s: 300, max_wall_s: 600 };

export type EpisodeOptions = {
  session: Session;
  checker: ProgramChecker;
  sandbox: Sandbox;
  proposer: Proposer;
  instruction: string;
  /** Names on `robot`, and those of them whose results carry a status. */
  names: readonly string[];
  statusNames: readonly string[];
  /** Seed of `Math.random` in programs. */
  randomSeed: number;
  budgets?: Partial<EpisodeBudgets>;
  quotas?: Partial<Quotas>;
  /** Way of the TCP that one program may ask for. */
  pathLength_m?: number;
  trace: TraceSink;
  onStage?: (stage: StageRecord) => void;
  onCall?: (call: CallRecord) => void;
  /** Ends the episode as stopped; the backend is stopped first. */
  signal?: AbortSignal;
};

export type EpisodeOutcome = "finished" | "budget" | "stopped" | "lost" | "fault";
export type EpisodeReport = {
  outcome: EpisodeOutcome;
  /** What the Proposer claimed; null where it did not get to. */
  claim: Claim | null;
  evidence: string;
  stages: StageRecord[];
  device_time_s: number;
  wall_s: number;
  /** What the Proposer took of a language model; null where it has none. */
  model: ModelAccount | null;
};

/** Plays decision stages until the Proposer finishes, a budget ends, or the backend or a person ends it. The arm then holds. */
export async function playEpisode(options: EpisodeOptions): Promise<EpisodeReport> {
  const { session, proposer, instruction } = options;
  const budgets = { ...DEFAULT_BUDGETS, ...options.budgets };
  const began = performance.now();
  const start_s = session.time_s;
  const player = new StagePlayer(options);
  const stages: StageRecord[] = [];
  const add = (stage: StageRecord): void => {
    stages.push(stage);
    options.onStage?.(stage);
  };
  const wall = (): number => (performance.now() - began) / 1e3;
  const report = (outcome: EpisodeOutcome, claim: Claim | null, evidence: string): EpisodeReport => ({
    outcome,
    claim,
    evidence,
    stages,
    device_time_s: session.time_s - start_s,
    wall_s: wall(),
    model: proposer.account ?? null,
  });
  const onAbort = (): void => void session.stop("the episode was stopped").catch(() => {});
  options.signal?.addEventListener("abort", onAbort, { once: true });
  try {
    add(await player.look());
    for (;;) {
      if (session.device.lost) return report("lost", null, "the backend stopped answering");
      if (options.signal?.aborted || session.stopReason !== null)
        return report("stopped", null, session.stopReason ?? "stopped by a person");
      if (stages.length > budgets.max_stages) return report("budget", null, `${budgets.max_stages} stages are used up`);
      if (session.time_s - start_s > budgets.max_device_time_s)
        return report("budget", null, `${budgets.max_device_time_s} s of device time are used up`);
      if (wall() > budgets.max_wall_s)
        return report("budget", null, `${budgets.max_wall_s} s of wall time are used up`);
      const decision = await proposer.next({ instruction, stages });
      if ("budget" in decision) return report("budget", null, decision.budget);
      if ("finish" in decision) return report("finished", decision.finish, decision.evidence);
      const left = {
        deviceTime_s: Math.max(0.1, budgets.max_device_time_s - (session.time_s - start_s)),
        wallTime_s: Math.max(0.1, budgets.max_wall_s - wall()),
      };
      const stage = await player.play(stages.length, decision.program, decision.fileName, left);
      add(stage);
      if (await player.faulted()) return report("fault", null, "the arm has stopped itself; a person must look");
    }
  } catch (error) {
    if (isSkill2RealError(error, "backend_lost") || session.device.lost)
      return report("lost", null, error instanceof Error ? error.message : String(error));
    throw error;
  } finally {
    options.signal?.removeEventListener("abort", onAbort);
  }
}

class StagePlayer {
  readonly #options: EpisodeOptions;
  readonly #views = new Map<string, SeenView>();

  constructor(options: EpisodeOptions) {
    this.#options = options;
  }

  /** Stage 0: the top-down and scene views, before the first program. */
  async look(): Promise<StageRecord> {
    const { session } = this.#options;
    const start_s = session.time_s;
    let fail: (error: unknown) => void = () => {};
    const host = new ProgramHost(session, (error) => fail(error), this.#options.onCall);
    for (const [id, name] of ["get_topdown_stereo_view", "get_scene_stereo_view"].entries()) {
      await new Promise<void>((resolve, reject) => {
        fail = reject;
        host.onTurn(
          { index: id, calls: [{ id, name, args: [] }], sleeps: [], pending: [id], idle: true },
          { settle: () => resolve(), resolve: () => resolve(), reject: () => resolve() },
        );
      });
    }
    return this.#record(0, null, host, [], { kind: "looked" }, start_s);
  }

  /** Checks and runs one program as a stage. What it left in flight is stopped; what it returned is kept for the next stage. */
  async play(number: number, program: string, fileName: string, quotas: Partial<Quotas>): Promise<StageRecord> {
    const { session, checker, sandbox, trace } = this.#options;
    const start_s = session.time_s;
    session.context.stage.begin(number);
    session.context.path.begin(this.#options.pathLength_m ?? Number.POSITIVE_INFINITY);
    trace.program(number, program);
    let defect: unknown = null;
    const stop = new AbortController();
    const host = new ProgramHost(
      session,
      (error) => {
        defect = error;
        stop.abort();
      },
      this.#options.onCall,
    );
    const check = await checker.check(program, fileName);
    if (!check.ok)
      return this.#record(number, program, host, [], { kind: "refused", diagnostics: check.diagnostics }, start_s);

    const signals = [stop.signal, ...(this.#options.signal ? [this.#options.signal] : [])];
    const result = await sandbox.run({
      javascript: check.javascript,
      fileName,
      names: this.#options.names,
      statusNames: this.#options.statusNames,
      seed: (this.#options.randomSeed + number) >>> 0,
      startTime_s: session.time_s,
      quotas: { ...this.#options.quotas, ...quotas },
      host,
      onPrint: (line) => trace.log(line.level === "log" ? "info" : line.level, line.text),
      signal: AbortSignal.any(signals),
    });
    if (!session.device.lost && session.stopReason === null)
      await this.#halt(host, `the program has ended (${result.outcome === "killed" ? result.code : result.outcome})`);
    await host.idle();
    if (defect !== null) throw defect;
    const end = stageEnd(result);
    session.context.stage.finish(end.kind === "returned" ? end.working_state : null);
    return this.#record(number, program, host, result.printed, end, start_s);
  }

  /** Whether the arm has stopped itself, so that nothing can go on without a person. Takes note of a stop of somebody else too. */
  async faulted(): Promise<boolean> {
    const { session } = this.#options;
    if (session.device.lost) return false;
    const { arms } = await session.refresh();
    return arms.some((arm) => arm.mode === "PROTECTIVE_STOP" || arm.mode === "FAULT");
  }

  /** Nothing of a program outlives it. An arm that has stopped itself stays stopped: that is for a person. */
  async #halt(host: ProgramHost, reason: string): Promise<void> {
    try {
      host.ended(await this.#options.session.halt(reason));
    } catch (error) {
      if (!isSkill2RealError(error, "backend_refused") && !isSkill2RealError(error, "backend_lost")) throw error;
      this.#options.trace.log("error", `the arm could not be released after the stop: ${error.message}`);
    }
  }

  #record(
    stage: number,
    program: string | null,
    host: ProgramHost,
    printed: StageRecord["printed"],
    end: StageEnd,
    start_s: number,
  ): StageRecord {
    const end_s = this.#options.session.time_s;
    return {
      stage,
      program,
      calls: host.calls,
      printed,
      end,
      images: stageImages(host.calls, host.results, this.#views, end_s),
      start_s,
      end_s,
    };
  }
}

function stageEnd(result: RunResult): StageEnd {
  switch (result.outcome) {
    case "returned":
      return { kind: "returned", working_state: result.value };
    case "threw": {
      const { message, line, column, code, name } = result.error;
      return { kind: "threw", message: `${name}: ${message}`, line, column, ...(code === undefined ? {} : { code }) };
    }
    case "killed":
      return { kind: "killed", code: result.code, message: result.message };
  }
}
