import { ERROR_CODES, type ErrorCode } from "../../contract/error-codes.js";
import { Skill2RealError } from "../../contract/errors.js";
import { suggest } from "../../contract/suggest.js";
import {
  type ArmDriverOptions,
  type ArmGuard,
  type ArmLoad,
  type ArmNativeOptions,
  armOptionsSchema,
  guardSchema,
  loadSchema,
} from "./arm-schema.js";
import {
  type ArmEvent,
  type ArmInfo,
  type ArmRecovery,
  ArmRefusal,
  type ArmRefusalCode,
  type ArmSnapshot,
  type ArmTiming,
} from "./arm-types.js";
import { controllerAddress } from "./controller-address.js";
import { loadAddon } from "./load-addon.js";

export type { ArmDriverOptions, ArmGuard, ArmLoad } from "./arm-schema.js";
export * from "./arm-types.js";

type NativeArm = {
  info(): ArmInfo;
  state(): ArmSnapshot | null;
  stateAt(time_s: number): ArmSnapshot | null;
  execute(group: number, stopEpoch: number, time_s: Float64Array, q_rad: Float64Array, guard: object): void;
  stop(reason: string): number;
  signalStops(descriptor: number): void;
  resume(stopEpoch: number, token: string): void;
  setLoad(load: object): void;
  renewLease(lease_ms: number): void;
  holdLease(held: boolean): void;
  endLease(): void;
  timing(): ArmTiming;
  recover(onWait: (seconds: number) => void): Promise<ArmRecovery>;
  close(): Promise<boolean>;
};

type ArmAddon = {
  open(options: ArmNativeOptions, listener: (event: ArmEvent) => void): Promise<NativeArm>;
};

const REFUSALS: ReadonlySet<string> = new Set<ArmRefusalCode>([
  "not_start",
  "stop_epoch",
  "busy",
  "fault",
  "bad_argument",
  "resume_token",
]);

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What the addon threw, as an error of this package. */
function translated(error: unknown): Error {
  const code = codeOf(error);
  if (REFUSALS.has(code)) return new ArmRefusal(code as ArmRefusalCode, wordsOf(error));
  if (code === "arm_bad_argument") return new Skill2RealError("bad_argument", wordsOf(error), { cause: error });
  const known: ErrorCode = Object.hasOwn(ERROR_CODES, code) ? (code as ErrorCode) : "addon_failed";
  return new Skill2RealError(known, `arm: ${wordsOf(error)}`, { cause: error });
}

function asked<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw translated(error);
  }
}

function checkOptions(options: ArmDriverOptions): ArmNativeOptions {
  const parsed = armOptionsSchema.safeParse(options);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const key = issue?.code === "unrecognized_keys" ? (issue.keys[0] ?? "") : "";
  const hint = key === "" ? "" : suggest(key, Object.keys(armOptionsSchema.shape));
  const where = ["options", ...(issue?.path ?? [])].join(".");
  throw new Skill2RealError("bad_argument", `arm: ${where}: ${issue?.message ?? "invalid"}.${hint}`, {
    details: { issues: parsed.error.issues },
  });
}

/**
 * A UR5e under this process: a C++ thread owns it at 500 Hz, and stops, lease and the watch on the parent are C++ threads
 * too, so that they work while JavaScript does not. Nothing here waits for the robot but `open`, `recover` and `close`.
 *
 * The arm comes to rest within its limits when this object is closed or collected, when the environment or the process
 * ends, and on a lapse; where nothing of this process runs any more, the controller's own watchdog ends the program.
 *
 * Throws `Skill2RealError` (`arm_*`, with the operator's next step) where the link fails, and `ArmRefusal` where a command
 * is not taken.
 */
export class ArmDriver {
  readonly info: ArmInfo;
  readonly #native: NativeArm;
  readonly #listeners: Set<(event: ArmEvent) => void>;

  private constructor(native: NativeArm, listeners: Set<(event: ArmEvent) => void>) {
    this.#native = native;
    this.#listeners = listeners;
    this.info = native.info();
  }

  /**
   * Connects, starts the control program, sets payload, TCP and mounting and reads them back, arms the controller's
   * watchdog. Resolves when the arm holds its position under this driver; nothing has moved.
   */
  static async open(options: ArmDriverOptions): Promise<ArmDriver> {
    const asked_for = checkOptions(options);
    const checked = { ...asked_for, host: await controllerAddress(asked_for.host) };
    const addon = loadAddon<ArmAddon>("arm");
    // The addon keeps this function; it must not keep the driver, which is collected by itself.
    const listeners = new Set<(event: ArmEvent) => void>();
    try {
      const native = await addon.open(checked, (event) => {
        for (const listener of listeners) listener(event);
      });
      return new ArmDriver(native, listeners);
    } catch (error) {
      throw translated(error);
    }
  }

  /** The newest cycle; epoch and latch are those of this moment. Waits for nothing. */
  state(): ArmSnapshot {
    const state = asked(() => this.#native.state());
    if (state === null) throw new Skill2RealError("addon_failed", "arm: no cycle can be read");
    return state;
  }

  /** The arm at a past time (CLOCK_MONOTONIC), between two kept cycles; null where it is not among the last 8 s. */
  stateAt(time_s: number): ArmSnapshot | null {
    return asked(() => this.#native.stateAt(time_s));
  }

  /** Plays a trajectory (`q_rad`: six numbers a point; the first time is 0) as motion `group`, a number from 1 on. */
  execute(
    group: number,
    stopEpoch: number,
    trajectory: { time_s: Float64Array; q_rad: Float64Array },
    guard: ArmGuard = {},
  ): void {
    const parsed = guardSchema.safeParse(guard);
    if (!parsed.success) {
      throw new ArmRefusal("bad_argument", `guard: ${parsed.error.issues[0]?.message ?? "invalid"}`);
    }
    asked(() => this.#native.execute(group, stopEpoch, trajectory.time_s, trajectory.q_rad, parsed.data));
  }

  /** Latches a stop; returns the new epoch, once the arm decelerates. */
  stop(reason: string): number {
    return asked(() => this.#native.stop(reason));
  }

  /**
   * Has each stop, whatever decided it (a request, the stop socket, a lapse, a gone parent, a fault), added to the eventfd
   * `descriptor` by the loop itself, so that another driver of this process stops too while JavaScript hangs. Its owner may
   * close it at any time.
   */
  signalStops(descriptor: number): void {
    asked(() => this.#native.signalStops(descriptor));
  }

  /** Clears a latched stop; after a fault with the token that `recover` gave. */
  resume(stopEpoch: number, token = ""): void {
    asked(() => this.#native.resume(stopEpoch, token));
  }

  /** What the gripper carries from now on, for the zones. */
  setLoad(load: ArmLoad): void {
    const parsed = loadSchema.safeParse(load);
    if (!parsed.success) {
      throw new ArmRefusal("bad_argument", `load: ${parsed.error.issues[0]?.message ?? "invalid"}`);
    }
    asked(() => this.#native.setLoad(parsed.data));
  }

  /** Starts or renews the lease: when it lapses the arm stops, also while this process hangs. */
  renewLease(lease_ms: number): void {
    asked(() => this.#native.renewLease(lease_ms));
  }

  /** Held: time does not count against the lease. */
  holdLease(held: boolean): void {
    asked(() => this.#native.holdLease(held));
  }

  /** No controller any more: nothing can lapse. */
  endLease(): void {
    asked(() => this.#native.endLease());
  }

  timing(): ArmTiming {
    return asked(() => this.#native.timing());
  }

  onEvent(listener: (event: ArmEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * A person asks to get out of a latched fault: waits for the lock-out of a protective stop (`onWait` tells the seconds
   * left), unlocks, connects and uploads anew, re-arms the watchdog. The token is good for one `resume`.
   */
  async recover(onWait: (seconds: number) => void = () => {}): Promise<ArmRecovery> {
    try {
      return await this.#native.recover(onWait);
    } catch (error) {
      throw translated(error);
    }
  }

  /** The arm slows within its limits, its program is ended and the link let go. Later calls throw `arm_closed`. */
  async close(): Promise<void> {
    await this.#native.close();
    this.#listeners.clear();
  }
}
