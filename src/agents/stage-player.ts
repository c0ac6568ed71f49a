import { isSkill2RealError } from "../contract/errors.js";
import type { ProgramChecker, Quotas, RunResult, Sandbox } from "../program/index.js";
import type { Session } from "../runtime/session.js";
import type { TraceSink } from "../runtime/trace-sink.js";
import { ProgramHost } from "./program-host.js";
import type { CallRecord, StageEnd, StageRecord } from "./proposer.js";
import { type SeenView, stageImages } from "./stage-images.js";

export type StagePlayerOptions = {
  session: Session;
  checker: ProgramChecker;
  sandbox: Sandbox;
  /** Names on `robot`, and those of them whose results carry a status. */
  names: readonly string[];
  statusNames: readonly string[];
  /** Seed of `Math.random` in programs. */
  randomSeed: number;
  quotas?: Partial<Quotas>;
  /** Way of the TCP that one program may ask for. */
  pathLength_m?: number;
  trace: TraceSink;
  onCall?: (call: CallRecord) => void;
  /** Ends what runs as stopped; the backend is stopped first. */
  signal?: AbortSignal;
};

/** Plays decision stages on a session: looks, checks and runs programs, and keeps the record of each. */
export class StagePlayer {
  readonly #options: StagePlayerOptions;
  readonly #views = new Map<string, SeenView>();

  constructor(options: StagePlayerOptions) {
    this.#options = options;
  }

  /** Stage 0: the top-down and scene views, before the first program. */
  look(): Promise<StageRecord> {
    const calls = ["get_topdown_stereo_view", "get_scene_stereo_view"].map((name) => ({ name, request: undefined }));
    return this.#call(0, calls, { kind: "looked" });
  }

  /** A stage of one operation, without a program. Gives its whole result beside the record. */
  async one(number: number, name: string, request: unknown): Promise<{ stage: StageRecord; result: unknown }> {
    const { session } = this.#options;
    session.context.stage.begin(number);
    session.context.path.begin(this.#options.pathLength_m ?? Number.POSITIVE_INFINITY);
    let result: unknown = null;
    const stage = await this.#call(number, [{ name, request }], { kind: "returned", working_state: null }, (value) => {
      result = value;
    });
    session.context.stage.finish(null);
    return { stage, result };
  }

  async #call(
    number: number,
    calls: readonly { name: string; request: unknown }[],
    end: StageEnd,
    onResult: (result: unknown) => void = () => {},
  ): Promise<StageRecord> {
    const { session } = this.#options;
    const start_s = session.time_s;
    let fail: (error: unknown) => void = () => {};
    const host = new ProgramHost(session, (error) => fail(error), this.#options.onCall);
    for (const [id, { name, request }] of calls.entries()) {
      await new Promise<void>((resolve, reject) => {
        fail = reject;
        host.onTurn(
          {
            index: id,
            calls: [{ id, name, args: request === undefined ? [] : [request] }],
            sleeps: [],
            pending: [id],
            idle: true,
          },
          { settle: () => resolve(), resolve: () => resolve(), reject: () => resolve() },
        );
      });
      onResult(host.results.at(-1));
    }
    return this.#record(number, null, host, [], end, start_s);
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

    let halted: Promise<void> | undefined;
    const halt = (how: string): Promise<void> | undefined => {
      if (session.device.lost || session.stopReason !== null) return undefined;
      const halting = this.#halt(host, `the program has ended (${how})`);
      // it is awaited once the guest is gone; until then its failure must not count as unhandled
      halting.catch(() => {});
      return halting;
    };
    const signals = [stop.signal, ...(this.#options.signal ? [this.#options.signal] : [])];
    const result = await sandbox.run({
      javascript: check.javascript,
      fileName,
      names: this.#options.names,
      statusNames: this.#options.statusNames,
      seed: (this.#options.randomSeed + number) >>> 0,
      startTime_s: session.time_s,
      quotas: smaller(this.#options.quotas ?? {}, quotas),
      host,
      onPrint: (line) => trace.log(line.level === "log" ? "info" : line.level, line.text),
      // The arm stops beside the death of the guest, not after it.
      onKill: (code) => {
        halted = halt(code);
      },
      signal: AbortSignal.any(signals),
    });
    halted ??= halt(result.outcome === "killed" ? result.code : result.outcome);
    await halted;
    await host.idle();
    // A budget that a service of the program met ends the stage as any quota does.
    const spent: unknown = defect;
    if (spent !== null && !isSkill2RealError(spent, "budget_ended")) throw spent;
    const end: StageEnd =
      spent === null ? stageEnd(result) : { kind: "killed", code: "budget_exhausted", message: spent.message };
    session.context.stage.finish(end.kind === "returned" ? end.working_state : null);
    return this.#record(number, program, host, result.printed, end, start_s);
  }

  /** Why the arm has stopped itself, so that nothing can go on without a person; null where it has not. Takes note of a stop of somebody else too. */
  async faulted(): Promise<string | null> {
    const { session } = this.#options;
    if (session.device.lost) return null;
    const { arms, stop_reason } = await session.refresh();
    const stopped = arms.some((arm) => arm.mode === "PROTECTIVE_STOP" || arm.mode === "FAULT");
    return stopped ? stop_reason || "no reason was given" : null;
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

/** Of each quota the smaller one: what is left of the episode shortens a program's share, and never lengthens it. */
const smaller = (own: Partial<Quotas>, left: Partial<Quotas>): Partial<Quotas> => {
  const both: Partial<Quotas> = { ...own, ...left };
  for (const key of Object.keys(own) as (keyof Quotas)[])
    both[key] = Math.min(own[key] ?? Number.POSITIVE_INFINITY, left[key] ?? Number.POSITIVE_INFINITY);
  return both;
};

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
