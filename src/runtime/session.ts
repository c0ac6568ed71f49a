import { isSkill2RealError, Skill2RealError } from "../contract/errors.js";
import type { ArmState, GripperState, StateReply } from "../contract/generated/device.js";
import {
  DEFAULT_MOTION_SETTINGS,
  DEFAULT_PERCEPTION_SETTINGS,
  type MotionSettings,
  type PerceptionSettings,
} from "../contract/settings.js";
import { type ArmRuntime, Arms } from "./arms.js";
import { type CompositionSeam, runFunction } from "./composition.js";
import type { Device, Stamped } from "./device/device.js";
import { createClock, type DeviceClock } from "./device-clock.js";
import { type CallOutcome, checkCall, failed, succeeded } from "./dispatch.js";
import { HeldObjects } from "./held-objects.js";
import { ImageStore } from "./image-store.js";
import { executeGroup, type PendingMotion } from "./motion-group.js";
import { MotionLimits } from "./motion-limits.js";
import { MotionTracker } from "./motion-tracker.js";
import { ObservationStore } from "./observation-store.js";
import { ObservedScene } from "./observed-scene.js";
import { type MotionIntent, OperationFailure, type OperationImplementation, type OperationTable } from "./operation.js";
import type { OperationContext } from "./operation-context.js";
import { PathBudget } from "./path-budget.js";
import { newRefKey, RefStore } from "./refs.js";
import { StageMemory } from "./stage-memory.js";
import { NO_TRACE, type TraceSink } from "./trace-sink.js";

/** Device time that a motion may take beyond what was expected before it counts as failed. */
const OVERTIME_S = 5;

export type SessionOptions = {
  /** A connected device in the controller's role. */
  device: Device;
  /** Code of the operations, from the required skills. */
  operations: OperationTable;
  /** The run's folder, for images; null keeps none. */
  folder?: string | null;
  trace?: TraceSink;
  motion?: Partial<MotionSettings>;
  perception?: Partial<PerceptionSettings>;
  /** Key of the refs' tags; a replay gives the recorded one. */
  refKey?: string;
};

/** A call or sleep of one turn, by an id that the caller chooses. */
export type TurnCall = { id: number; name: string; args: readonly unknown[] };
export type TurnSleep = { id: number; seconds: number };
export type Turn = { calls: readonly TurnCall[]; sleeps: readonly TurnSleep[] };
export type TurnSettlement = { id: number } & CallOutcome;

type RunningCall = { id: number; operation: string; request: unknown; index: number; start_s: number };
type RunningMotion = RunningCall & { pending: PendingMotion };

/**
 * A session: one controller of one backend. Programs, people and library users all go through `process`, one turn at a
 * time: the calls of a turn are issued together, moving ones start as one group, then the others run in order; when
 * nothing but motions and sleeps is pending, device time passes until one of them ends.
 */
export class Session {
  readonly device: Device;
  readonly refKey: string;
  readonly context: OperationContext;
  readonly #operations: OperationTable;
  readonly #trace: TraceSink;
  readonly #refs: RefStore;
  readonly #tracker = new MotionTracker();
  readonly #clock: DeviceClock;
  readonly #motions = new Map<number, RunningMotion>();
  readonly #sleeps = new Map<number, number>();
  #calls = 0;
  /** Ids of motions of functions count down from here; those of callers are -1 and above. */
  #composed = -1;
  #processing: Promise<void> = Promise.resolve();
  #stopped: string | null = null;
  /** Groups that the backend has been asked to start and has not answered for. */
  #starting = 0;
  /** Why nothing of the present program may start any more, while it is being ended. */
  #halting: string | null = null;
  #closed = false;
  #wake = new AbortController();
  /** Ends what functions wait for outside: a stop, and whoever ends the program, goes before it. */
  #ending = new AbortController();

  private constructor(options: SessionOptions) {
    const { device, trace = NO_TRACE } = options;
    this.device = device;
    this.refKey = options.refKey ?? newRefKey();
    this.#operations = options.operations;
    this.#trace = trace;
    this.#refs = new RefStore(this.refKey);
    this.#clock = createClock(device, this.#tracker, (state) => this.#seen(state));
    const arms = new Arms(device.capabilities);
    const limits = new MotionLimits({ ...DEFAULT_MOTION_SETTINGS, ...options.motion }, device.capabilities.workspace);
    const held = new HeldObjects();
    this.context = {
      device,
      arms,
      limits,
      held,
      trace,
      path: new PathBudget(),
      observations: new ObservationStore(this.#refs),
      scene: new ObservedScene(arms, limits, held),
      images: new ImageStore({ folder: options.folder ?? null }),
      perception: { ...DEFAULT_PERCEPTION_SETTINGS, ...options.perception },
      stage: new StageMemory(),
      state: () => this.#state(),
      spend: (seconds) => this.#clock.spend(seconds),
      armState: (arm) => this.#armState(arm),
      gripperState: (arm) => this.#gripperState(arm),
    };
  }

  /** What a function may do while it runs. */
  readonly #seam: CompositionSeam = {
    refuseIfEnded: () => this.#refuseIfEnded(),
    moving: () => this.#motions.size > 0,
    operation: (name, request) => this.#invoke(name, request),
    image: (observation_ref) => {
      const { left, width, height, view, taken_at_s, X_world_camera } =
        this.context.observations.observation(observation_ref);
      const seen = view.role === "wrist" ? `wrist of ${view.arm}` : view.role;
      // Without the ref's tag, which is the session's own.
      const name = `${seen} ${observation_ref.split("_").slice(0, 2).join("_")}`;
      return { pixels: left, width, height, name, view: seen, taken_at_s, X_world_camera };
    },
    saveImage: async (name, pixels, width, height) =>
      (await this.context.images.save(name, pixels, width, height)).path,
    time_s: () => this.#clock.now(),
    signal: () => this.#ending.signal,
  };

  static open(options: SessionOptions): Session {
    if (options.device.role !== "CONTROLLER")
      throw new Skill2RealError(
        "bad_argument",
        `a session needs a device in the role CONTROLLER, not ${options.device.role}`,
      );
    return new Session(options);
  }

  /** Device time as far as this session knows. */
  get time_s(): number {
    return this.#clock.now();
  }

  /** Ids of motions and sleeps that have not ended. */
  get pending(): number[] {
    return [...this.#motions.keys(), ...this.#sleeps.keys()];
  }

  /** Why the session refuses to move, or null. */
  get stopReason(): string | null {
    return this.#stopped;
  }

  /** One operation, by itself; resolves when it has ended. */
  async call(name: string, request?: unknown): Promise<CallOutcome> {
    const id = -1;
    if (this.pending.length > 0)
      throw new Skill2RealError(
        "bad_argument",
        "a call by hand while a turn is pending: wait for it, or put both into one turn",
      );
    const [settlement] = await this.process({
      calls: [{ id, name, args: request === undefined ? [] : [request] }],
      sleeps: [],
    });
    if (!settlement) throw new Skill2RealError("internal", `the call of ${name} ended without an outcome`);
    return settlement;
  }

  /**
   * Takes in the calls of one turn of the guest, which must be idle, and gives what has ended: at least one settlement
   * unless nothing is pending. To be called again, with the guest's next (perhaps empty) turn, until nothing is pending.
   */
  process(turn: Turn): Promise<TurnSettlement[]> {
    const work = this.#processing.then(() => this.#process(turn));
    this.#processing = work.then(
      () => {},
      () => {},
    );
    return work;
  }

  async #process(turn: Turn): Promise<TurnSettlement[]> {
    const settled: TurnSettlement[] = [];
    const plain: {
      call: RunningCall;
      run: () => Promise<Record<string, unknown>>;
      implementation: OperationImplementation;
    }[] = [];
    const planned: { call: RunningCall; intent: MotionIntent }[] = [];
    const epoch = this.device.stopEpoch;

    for (const { id, seconds } of turn.sleeps) this.#sleeps.set(id, this.#clock.now() + seconds);
    for (const { id, name, args } of turn.calls) {
      const call: RunningCall = {
        id,
        operation: name,
        request: args[0] ?? {},
        index: this.#calls,
        start_s: this.#clock.now(),
      };
      this.#calls += 1;
      try {
        this.#refuseIfEnded();
        const { implementation, request } = checkCall(this.#operations, name, args);
        if (implementation.kind === "plain")
          plain.push({ call, run: () => implementation.run(this.context, request), implementation });
        else if (implementation.kind === "function")
          plain.push({ call, run: () => runFunction(name, implementation, request, this.#seam), implementation });
        else
          planned.push({
            call,
            intent: await this.#plan(
              () => implementation.plan(this.context, request),
              planned.map((entry) => entry.intent),
            ),
          });
      } catch (error) {
        settled.push(this.#end(call, failed(name, error, this.#operations[name])));
      }
    }
    if (planned.length > 0) {
      try {
        this.#refuseIfEnded();
        const pendings = await this.#start(
          planned.map(({ intent }) => intent),
          epoch,
        );
        for (const [i, { call }] of planned.entries()) this.#motions.set(call.id, { ...call, pending: pendings[i]! });
      } catch (error) {
        for (const { call } of planned) settled.push(this.#end(call, failed(call.operation, error)));
      }
    }
    for (const { call, run, implementation } of plain) {
      try {
        this.#refuseIfEnded();
        settled.push(this.#end(call, succeeded(call.operation, await run(), implementation)));
      } catch (error) {
        settled.push(this.#end(call, failed(call.operation, error, implementation)));
      }
    }
    while (settled.length === 0 && this.pending.length > 0) {
      if (!(await this.#finished(settled))) await this.#pass();
    }
    return settled.sort((a, b) => a.id - b.id);
  }

  /**
   * Stops the arms now, by whoever asks: latches a stop at the backend. Pending and later calls get `stopped`, and the latter
   * never reach the backend. Resolves with the device time at which the arm began to decelerate.
   */
  stop(reason: string): Promise<{ stop_epoch: number; time_s: number }> {
    this.#stopped ??= reason;
    // The stop leaves first; what else there is to do takes its time.
    const latched = this.#latch(reason);
    this.#trace.event("stop_requested", { reason });
    this.#wake.abort();
    this.#ending.abort();
    return latched;
  }

  /** Clears an ordinary stop, so that the next program can move; a fault needs the token that a person got. */
  async resume(token?: string): Promise<void> {
    await this.#clear(this.device.stopEpoch, token);
  }

  /**
   * Stops what is still moving (calls that a program left in flight), waits until it stands, and clears that stop, but not
   * one that somebody else latched meanwhile. Gives how what was pending ended. Throws `backend_refused` where a stop of
   * somebody else or of the arm itself stays latched: a person must look.
   */
  async halt(reason: string): Promise<TurnSettlement[]> {
    this.#halting = reason;
    this.#ending.abort();
    try {
      const own = this.#motions.size > 0 || this.#starting > 0 ? await this.stop(reason) : null;
      await this.#processing;
      const ended: TurnSettlement[] = [];
      while (this.pending.length > 0) ended.push(...(await this.process({ calls: [], sleeps: [] })));
      if (own) await this.#clear(own.stop_epoch);
      return ended;
    } finally {
      this.#halting = null;
      if (this.#stopped === null) this.#ending = new AbortController();
    }
  }

  /** Lets device time pass while nothing moves (judging waits a second). */
  async hold(seconds: number): Promise<void> {
    const end = this.#clock.now() + seconds;
    while (this.#clock.now() < end - 1e-9) await this.#clock.pass(end);
  }

  /** Ends the session: the arm is stopped if it moves, refs expire. Never rejects. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#wake.abort();
    this.#ending.abort();
    this.#clock.close();
    this.#refs.close();
    await this.device.bye();
  }

  /** An operation that a skill's function asks for; one that moves is begun as a group of its own, and awaited. */
  async #invoke(operation: string, request: unknown): Promise<CallOutcome> {
    try {
      const { implementation, request: checked } = checkCall(this.#operations, operation, [request]);
      if (implementation.kind === "function")
        throw new OperationFailure(
          "unsupported",
          `${operation} is a function of a skill: one may use operations alone`,
        );
      const fields =
        implementation.kind === "plain"
          ? await implementation.run(this.context, checked)
          : await this.#move(operation, request, () => implementation.plan(this.context, checked));
      return this.#traced(operation, request, succeeded(operation, fields));
    } catch (error) {
      return this.#traced(operation, request, failed(operation, error));
    }
  }

  /** Keeps what a function had moved: its own call says only what it made of it. */
  #traced(operation: string, request: unknown, outcome: CallOutcome): CallOutcome {
    if (this.#operations[operation]?.kind === "moving")
      this.#trace.event("function_motion", {
        operation,
        request,
        result: "value" in outcome ? outcome.value : outcome.error,
      });
    return outcome;
  }

  /** One motion of a composition, to its end. A stop ends it as it ends any other; nothing else moves meanwhile. */
  async #move(
    operation: string,
    request: unknown,
    plan: () => Promise<MotionIntent>,
  ): Promise<Record<string, unknown>> {
    const epoch = this.device.stopEpoch;
    const intent = await this.#plan(plan, []);
    this.#refuseIfEnded();
    const [pending] = await this.#start([intent], epoch);
    this.#composed -= 1;
    const id = this.#composed;
    this.#motions.set(id, {
      id,
      operation,
      request,
      index: this.#calls,
      start_s: this.#clock.now(),
      pending: pending!,
    });
    try {
      while (!pending!.outcome) await this.#pass();
    } finally {
      this.#motions.delete(id);
    }
    if (pending!.outcome.status.end_reason === "END_STOPPED" && this.#stopped === null)
      await this.#state().catch(() => {});
    return intent.finish(pending!.outcome);
  }

  async #start(intents: readonly MotionIntent[], epoch: number): Promise<PendingMotion[]> {
    this.#starting += 1;
    try {
      return await executeGroup(this.device, this.#tracker, intents, epoch);
    } finally {
      this.#starting -= 1;
    }
  }

  async #plan(plan: () => Promise<MotionIntent>, others: readonly MotionIntent[]): Promise<MotionIntent> {
    const intent = await plan();
    const isGripper = (candidate: MotionIntent): boolean =>
      candidate.motion.gripper_move !== undefined && candidate.motion.gripper_move !== null;
    const active = [...this.#motions.values()].map((running) => running.pending.intent);
    const clash = [...active, ...others].find(
      (other) => other.arm === intent.arm && isGripper(other) === isGripper(intent),
    );
    if (clash)
      throw new OperationFailure(
        "busy",
        `the ${isGripper(intent) ? "gripper" : "arm"} of "${intent.arm}" is moving already: await that motion first`,
      );
    return intent;
  }

  /** Takes motions and sleeps that have ended into `settled`; true where there are any. */
  async #finished(settled: TurnSettlement[]): Promise<boolean> {
    const now = this.#clock.now();
    for (const [id, due_s] of this.#sleeps) {
      if (due_s <= now + 1e-9 || (this.#stopped ?? this.#halting) !== null || this.device.lost) {
        this.#sleeps.delete(id);
        settled.push({ id, value: null });
      }
    }
    for (const [id, running] of this.#motions) {
      const { outcome, intent } = running.pending;
      if (!outcome) continue;
      this.#motions.delete(id);
      // On a wall clock the end is heard before the state that tells of a stop.
      if (outcome.status.end_reason === "END_STOPPED" && this.#stopped === null) await this.#state().catch(() => {});
      try {
        settled.push(this.#end(running, succeeded(running.operation, await intent.finish(outcome))));
      } catch (error) {
        settled.push(this.#end(running, failed(running.operation, error)));
      }
    }
    return settled.length > 0;
  }

  /** Lets device time pass once; a backend that is lost, or a motion that never ends, ends what is pending. */
  async #pass(): Promise<void> {
    // Sleeps that are over already wait to be told, while a function's motion goes on.
    const dues = [...this.#sleeps.values()].filter((due_s) => due_s > this.#clock.now() + 1e-9);
    const overdue = [...this.#motions.values()].some(
      (running) => this.#clock.now() > running.pending.expected_end_s + OVERTIME_S,
    );
    try {
      if (overdue) {
        await this.#latch("a motion did not end in its time");
        this.#tracker.endAll("END_TIMEOUT", this.#clock.now());
        return;
      }
      if (this.#trace.failed && this.#stopped === null)
        await this.stop(`the trace cannot be written: ${this.#trace.failed.message}`);
      await this.#clock.pass(dues.length > 0 ? Math.min(...dues) : null, this.#wake.signal);
    } catch (error) {
      // A replay that cannot go on is no failure of the motion: whoever plays it must hear of it.
      if (isSkill2RealError(error, "diverged")) throw error;
      if (isSkill2RealError(error, "backend_refused") || isSkill2RealError(error, "deadline_exceeded"))
        await this.#lastResort();
      this.#tracker.endAll("END_FAULT", this.#clock.now());
      this.#sleeps.clear();
      this.#trace.log("error", `device time cannot pass: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  /** Stops at the backend, and keeps in which epoch: a replay's stops must begin the same ones. */
  async #latch(reason: string): Promise<{ stop_epoch: number; time_s: number }> {
    const latched = await this.device.stop(reason);
    this.#trace.event("stop_latched", { stop_epoch: latched.stop_epoch, time_s: latched.time_s });
    return latched;
  }

  async #clear(stop_epoch: number, token?: string): Promise<void> {
    await this.device.resume({ stop_epoch, ...(token === undefined ? {} : { token }) });
    this.#stopped = null;
    this.#wake = new AbortController();
    if (this.#halting === null) this.#ending = new AbortController();
  }

  async #lastResort(): Promise<void> {
    try {
      await this.#latch("the runtime lost track of the motion");
    } catch (error) {
      this.#trace.log("error", `the stop was not answered: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #end(call: RunningCall, outcome: CallOutcome): TurnSettlement {
    const result = "value" in outcome ? outcome.value : { thrown: outcome.error };
    this.#trace.call({
      stage: this.context.stage.stage,
      index: call.index,
      operation: call.operation,
      request: call.request,
      result,
      start_s: call.start_s,
      end_s: this.#clock.now(),
    });
    return { id: call.id, ...outcome };
  }

  #refuseIfEnded(): void {
    if (this.#closed) throw new OperationFailure("expired_ref", "the session has ended: open another");
    if (this.device.lost)
      throw new OperationFailure("backend_lost", "the backend stopped answering; the episode is lost");
    const stopped = this.#stopped ?? this.#halting;
    if (stopped !== null)
      throw new OperationFailure("stopped", `a stop is latched (${stopped}); this program can do nothing more`);
    if (this.#trace.failed)
      throw new OperationFailure(
        "internal_error",
        `the trace cannot be written (${this.#trace.failed.message}); nothing moves without a record`,
      );
  }

  #seen(state: Stamped<StateReply>): void {
    this.#trace.state(state.arms, state.grippers);
    // Somebody else stopped the arm: it is for them, not for a program, to go on.
    const by_itself = state.arms.some((arm) => arm.mode === "PROTECTIVE_STOP" || arm.mode === "FAULT");
    if (state.stop_latched && !by_itself) this.#stopped ??= state.stop_reason || "stopped at the backend";
  }

  /** The state of arms and grippers now. A stop that somebody else latched is known by it: `stopReason` tells. */
  refresh(): Promise<StateReply> {
    return this.#state();
  }

  async #state(): Promise<StateReply> {
    const state = await this.device.getState();
    this.#seen(state);
    this.#tracker.take(state.groups);
    return state;
  }

  async #armState(arm: ArmRuntime): Promise<ArmState> {
    const reply = await this.#state();
    const state = reply.arms.find((entry) => entry.name === arm.name);
    if (!state) throw new OperationFailure("internal_error", `the backend reports no state of arm "${arm.name}"`);
    if (state.mode === "PROTECTIVE_STOP" || state.mode === "FAULT")
      throw new OperationFailure(
        "protective_stop",
        `arm "${arm.name}" has stopped itself (${state.mode}: ${reply.stop_reason}); a person must look before it moves again`,
      );
    if (state.mode === "STOPPED" || reply.stop_latched)
      throw new OperationFailure("stopped", `a stop is latched on arm "${arm.name}" (${this.#stopped})`);
    if (state.mode === "DISCONNECTED") throw new OperationFailure("backend_lost", `arm "${arm.name}" is disconnected`);
    return state;
  }

  async #gripperState(arm: ArmRuntime): Promise<GripperState> {
    const state = (await this.#state()).grippers.find((entry) => entry.arm === arm.name);
    if (!state) throw new OperationFailure("unsupported", `arm "${arm.name}" has no gripper`);
    return state;
  }
}
