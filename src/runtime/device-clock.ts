import type { StateReply } from "../contract/generated/device.js";
import type { Device, Stamped } from "./device/device.js";
import type { MotionTracker } from "./motion-tracker.js";

/** Simulated time of one Advance while motions run. */
const ADVANCE_STEP_S = 0.5;
const WALL_POLL_MS = 20;
const AFTER_S = 1e-9;

/** Lets device time pass: by Advance on a simulated clock, by waiting on a wall clock. Feeds the tracker with what ends meanwhile. */
export interface DeviceClock {
  now(): number;
  /** Until a motion ends, `until_s` is reached, or `signal` aborts; without `until_s` for at most one step. */
  pass(until_s: number | null, signal?: AbortSignal): Promise<void>;
  /** All of `seconds`, whatever ends meanwhile. */
  spend(seconds: number): Promise<void>;
  close(): void;
}

class SimClock implements DeviceClock {
  constructor(
    private readonly device: Device,
    private readonly tracker: MotionTracker,
    private readonly onState: (state: Stamped<StateReply>) => void,
  ) {}

  now(): number {
    return this.device.time_s;
  }

  async pass(until_s: number | null): Promise<void> {
    const target = Math.min(until_s ?? Number.POSITIVE_INFINITY, this.now() + ADVANCE_STEP_S);
    if (target > this.now() + AFTER_S) await this.#advance(target, false);
  }

  async spend(seconds: number): Promise<void> {
    const target = this.now() + seconds;
    while (this.now() < target - AFTER_S) await this.#advance(Math.min(target, this.now() + ADVANCE_STEP_S), true);
  }

  close(): void {}

  async #advance(until_s: number, through_motion_ends: boolean): Promise<void> {
    const reply = await this.device.advance({ until_s, through_motion_ends });
    if (!reply.state) return;
    this.onState({ ...reply.state, time_s: reply.time_s, stop_epoch: reply.stop_epoch });
    this.tracker.take(reply.state.groups);
  }
}

class WallClock implements DeviceClock {
  readonly #unsubscribe: () => void;
  #wake: (() => void) | null = null;
  #offset_s: number;

  constructor(
    private readonly device: Device,
    private readonly tracker: MotionTracker,
    private readonly onState: (state: Stamped<StateReply>) => void,
  ) {
    this.#offset_s = device.time_s - performance.now() / 1e3;
    this.#unsubscribe = device.onEvent((event) => {
      const group = event.motion_ended;
      if (group && this.tracker.take([group]) > 0) this.#wake?.();
      if (event.stopped || event.fault) this.#wake?.();
    });
  }

  now(): number {
    return performance.now() / 1e3 + this.#offset_s;
  }

  async pass(until_s: number | null, signal?: AbortSignal): Promise<void> {
    const active = this.tracker.active;
    await this.#wait(
      Math.min(WALL_POLL_MS, until_s === null ? WALL_POLL_MS : Math.max(0, (until_s - this.now()) * 1e3)),
      signal,
    );
    if (this.tracker.active < active || active === 0) return;
    // Events may be lost; the state never lies.
    const state = await this.device.getState({ poll: true });
    this.#offset_s = state.time_s - performance.now() / 1e3;
    this.onState(state);
    this.tracker.take(state.groups);
  }

  async spend(): Promise<void> {}

  close(): void {
    this.#unsubscribe();
  }

  #wait(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#wake = null;
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.#wake = done;
      signal?.addEventListener("abort", done, { once: true });
    });
  }
}

export function createClock(
  device: Device,
  tracker: MotionTracker,
  onState: (state: Stamped<StateReply>) => void,
): DeviceClock {
  return device.capabilities.clock === "SIM"
    ? new SimClock(device, tracker, onState)
    : new WallClock(device, tracker, onState);
}
