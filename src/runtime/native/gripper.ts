import { z } from "zod";
import type { ErrorCode } from "../../contract/error-codes.js";
import { ERROR_CODES } from "../../contract/error-codes.js";
import { Skill2RealError } from "../../contract/errors.js";
import { suggest } from "../../contract/suggest.js";
import { loadAddon } from "./load-addon.js";

/** Largest opening that a move may ask for, in metres. */
export const MAX_GRIPPER_OPENING_M = 0.095;
/** Longest time from `open` to a powered gripper or the fault that prevents it, in milliseconds. */
const OPEN_DEADLINE_MS = 5000;

export type GripperDriverOptions = {
  /** Serial device, best a link under /dev/serial/by-path, which stays the same socket after a replug. */
  path: string;
  /** USB serial number that the device must have; without it any. */
  serial?: string;
  /** Command set of the firmware; "auto" (the default) tells from the reaction to the first move. */
  dialect?: "auto" | "sdk" | "ros";
  /** Motor current limit in amperes, 0.05..2, set before power is given and before each move; 1 without it. */
  current_limit_a?: number;
  /** Newton at the fingertips per ampere: an estimate for this unit; 10 without it. */
  newton_per_amp?: number;
  /** Speed of moves that name none, in metres of opening per second; 0.08 without it. */
  speed_m_s?: number;
  /** Greatest speed a move may ask for; 0.25 without it. */
  max_speed_m_s?: number;
  /** A move is completed at rest within this distance of its target, in metres; 0.0005 without it. */
  tolerance_m?: number;
  /** Change of the opening while holding that counts as a slip, in metres; 0.001 without it. */
  slip_m?: number;
  /** What close() and the end of this process do: keep the grip (default), or switch the motor off. */
  on_disconnect?: "hold" | "release";
};

/** One failure of the gripper: `code` is stable (gripper_…), `message` says what to do next. */
export type GripperFailure = { code: ErrorCode; message: string };

/** Codes after which the next move opens the line anew and reads the state first; all others wait for `recover`. */
export const GRIPPER_LINE_FAULTS: readonly ErrorCode[] = [
  "gripper_not_found",
  "gripper_permission",
  "gripper_in_use",
  "gripper_not_serial",
  "gripper_unplugged",
  "gripper_write_blocked",
  "gripper_silent",
  "gripper_stale",
];

export type GripperState = {
  phase: "closed" | "connecting" | "limiting" | "enabling" | "ready" | "moving" | "releasing" | "fault";
  /** When the newest telemetry was received, CLOCK_MONOTONIC seconds; null before any. The device has no clock. */
  time_s: number | null;
  /** Motor angle as the device tells it, not clamped. */
  angle_rad: number | null;
  /** Between the fingertips, from the angle. */
  opening_m: number | null;
  /** Of the newest move or hold; null before any. */
  target_opening_m: number | null;
  speed_m_s: number;
  /** Negative while it closes or squeezes. */
  current_a: number;
  /** Closing force: an estimate, current times `newton_per_amp`; the device measures no force. */
  force_estimate_n: number;
  moving: boolean;
  /** It stopped before its target, pressing: against something between the fingers where it was closing. */
  stalled: boolean;
  /** What it held moved or is lost: the opening changed while holding. Until the next move. */
  slipped: boolean;
  /** 0x01 low voltage, 0x02 motor hot, 0x04 over-current, 0x08 driver hot, 0x10 sensor, 0x20 driver error, 0x40 enabled, 0x80 homed. */
  status_bits: number;
  enabled: boolean;
  homed: boolean;
  voltage_v: number | null;
  driver_temperature_c: number | null;
  motor_temperature_c: number | null;
  /** Id of the move that is under way; 0 none. */
  motion: number;
  fault: GripperFailure | null;
};

export type GripperInfo = {
  /** The device that the path led to when the line was last opened. */
  device: string;
  /** "auto" until the first move has shown it. */
  dialect: "auto" | "sdk" | "ros";
  /** What GET_INFO told; null where the firmware never answered. */
  version: string | null;
  /** Newest current limit sent. The device never tells it. */
  current_limit_a: number;
  /** A stall pressed at about the limit, so the device heeds it. */
  limit_observed: boolean;
  /** Counters of the line. */
  bytes: number;
  reports: number;
  skipped_reports: number;
  unknown_objects: number;
  syntax_errors: number;
  noise_bytes: number;
  opened: number;
  dropped_events: number;
};

export type GripperMove = {
  /** 0..0.095 m. */
  opening_m: number;
  /** Greatest closing force, an estimate; without it that of the current limit. */
  force_n?: number;
  speed_m_s?: number;
  /** `stops` of the driver as they were before the asker made sure that nothing is stopped: one that came since refuses the move. */
  stops?: number;
};

export type GripperEndReason = "completed" | "stalled" | "timeout" | "fault" | "stopped";

export type GripperEvent =
  | { type: "ready"; time_s: number; opening_m: number | null }
  | {
      type: "motion_ended";
      time_s: number;
      motion: number;
      reason: GripperEndReason;
      opening_m: number | null;
      failure: GripperFailure | null;
    }
  | { type: "slipped"; time_s: number; opening_m: number | null; message: string }
  | { type: "fault"; time_s: number; failure: GripperFailure }
  | { type: "dialect"; time_s: number; dialect: "auto" | "sdk" | "ros" };

type NativeFailure = { code: string; message: string };
type NativeEvent = {
  type: GripperEvent["type"];
  time_s: number;
  motion: number;
  reason: GripperEndReason;
  opening_m: number | null;
  failure: NativeFailure | null;
};
type NativeState = Omit<GripperState, "fault"> & { fault: NativeFailure | null };
type NativeGripper = {
  state(): NativeState;
  info(): GripperInfo;
  move(move: GripperMove): { motion: number; failure: NativeFailure | null };
  hold(): void;
  stopDescriptor(): number;
  stops(): number;
  recover(): NativeFailure | null;
  close(): Promise<boolean>;
  closeNow(): boolean;
};
type NativeOptions = Required<Omit<GripperDriverOptions, "serial">> & { usb_serial: string };
type GripperAddon = {
  Gripper: new (options: NativeOptions, listener: (event: NativeEvent) => void) => NativeGripper;
  openingFromAngle(angle_rad: number): number;
  angleFromOpening(opening_m: number): number | null;
};

const positive = z.number().positive();
const optionsSchema = z.strictObject({
  path: z.string().min(1),
  serial: z.string().min(1).optional(),
  dialect: z.enum(["auto", "sdk", "ros"]).default("auto"),
  current_limit_a: z.number().min(0.05).max(2).default(1),
  newton_per_amp: positive.max(1000).default(10),
  speed_m_s: positive.default(0.08),
  max_speed_m_s: positive.max(1).default(0.25),
  tolerance_m: z.number().min(0.0002).max(0.005).default(0.0005),
  slip_m: z.number().min(0.0003).max(0.02).default(0.001),
  on_disconnect: z.enum(["hold", "release"]).default("hold"),
});
const moveSchema = z.strictObject({
  opening_m: z.number(),
  force_n: z.number().optional(),
  speed_m_s: z.number().optional(),
  stops: z.int().nonnegative().optional(),
});

function parse<T extends z.ZodObject>(schema: T, value: unknown, what: string): z.output<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const path = [what, ...(issue?.path ?? [])].join(".");
  const hint = issue?.code === "unrecognized_keys" ? suggest(issue.keys[0] ?? "", Object.keys(schema.shape)) : "";
  throw new Skill2RealError("bad_argument", `gripper: ${path}: ${issue?.message ?? "invalid"}.${hint}`);
}

const codeOf = (code: string): ErrorCode => (code in ERROR_CODES ? (code as ErrorCode) : "addon_failed");
const failureOf = (failure: NativeFailure): GripperFailure => ({ ...failure, code: codeOf(failure.code) });
const errorOf = ({ code, message }: NativeFailure): Skill2RealError =>
  new Skill2RealError(codeOf(code), `gripper: ${message}`);

/** Opening [m] of a motor angle [rad], as the linkage gives it. */
export const openingFromAngle = (angle_rad: number): number =>
  loadAddon<GripperAddon>("gripper").openingFromAngle(angle_rad);

/** Motor angle [rad] of an opening [m], on the range where the linkage has one; null elsewhere. */
export const angleFromOpening = (opening_m: number): number | null =>
  loadAddon<GripperAddon>("gripper").angleFromOpening(opening_m);

/**
 * A Pika gripper on its serial line. A C++ thread owns the line, so that telemetry, deadlines and faults do not depend on
 * this event loop; `state()` is its newest knowledge and never waits.
 *
 * The driver never gives the motor power again by itself. After a fault of the device (`gripper_device_fault`,
 * `gripper_disabled`, `gripper_ignored`…) moves are refused until `recover`. After a lost line (`gripper_unplugged`,
 * `gripper_stale`…) the next move opens the path again and starts from the state that the device then tells.
 */
export class GripperDriver {
  readonly #native: NativeGripper;
  readonly #listeners = new Set<(event: GripperEvent) => void>();
  readonly #settled = new Set<(event: GripperEvent) => void>();
  readonly #atExit: () => void;
  #closing: Promise<boolean> | undefined;

  private constructor(options: NativeOptions) {
    const { Gripper } = loadAddon<GripperAddon>("gripper");
    // The addon's thread holds its listener: a weak one lets a forgotten driver be collected, and closed with it.
    const self = new WeakRef(this);
    this.#native = new Gripper(options, (event) => {
      const driver = self.deref();
      if (driver) driver.#receive(event);
    });
    // process.exit() keeps no promise and tears no environment down.
    this.#atExit = () => self.deref()?.closeNow();
    process.once("exit", this.#atExit);
  }

  /**
   * Opens the line, reads the actual state, sets the current limit, then gives power where the motor is off, confirmed by
   * its status. Nothing moves. Rejects with `bad_argument`, `addon_missing`, or the gripper's code and the operator's
   * next step.
   */
  static async open(options: GripperDriverOptions): Promise<GripperDriver> {
    const { serial, ...chosen } = parse(optionsSchema, options, "options");
    if (chosen.speed_m_s > chosen.max_speed_m_s) {
      throw new Skill2RealError(
        "bad_argument",
        `gripper: options.speed_m_s is ${chosen.speed_m_s}, more than max_speed_m_s, ${chosen.max_speed_m_s}: lower it`,
      );
    }
    const driver = new GripperDriver({ ...chosen, usb_serial: serial ?? "" });
    try {
      await driver.#settle();
    } catch (error) {
      // It never became usable, so there is no grip to let go of or to keep.
      await driver.close();
      throw error;
    }
    return driver;
  }

  get info(): GripperInfo {
    return this.#native.info();
  }

  /** The newest state. */
  state(): GripperState {
    const state = this.#native.state();
    return { ...state, fault: state.fault && failureOf(state.fault) };
  }

  /**
   * Starts a move and returns its id at once; its end is a `motion_ended` event. Throws `bad_argument` (value, limit, mend),
   * `gripper_busy` while another is under way, `gripper_stopped`, `gripper_closed`, or the code of a latched fault.
   */
  move(move: GripperMove): number {
    const reply = this.#native.move(parse(moveSchema, move, "move"));
    if (reply.failure) throw errorOf(reply.failure);
    return reply.motion;
  }

  /** Ends a move with the reason `stopped`: free fingers stop where they are, pressing ones keep their grip. */
  hold(): void {
    this.#native.hold();
  }

  /**
   * Descriptor of an eventfd: whatever is added to it holds the gripper from the driver's own thread, so that a stop of another
   * driver in this process (`ArmDriver.signalStops`) ends a move while this event loop hangs. It is this driver's.
   */
  get stopDescriptor(): number {
    return this.#native.stopDescriptor();
  }

  /** How often the gripper was stopped through `stopDescriptor`, up to this very moment. */
  get stops(): number {
    return this.#native.stops();
  }

  /**
   * Out of a latched fault, on a person's request: reads the state anew, sets the limit, gives power. Resolves once the gripper
   * is ready; rejects with the code that still holds.
   */
  async recover(): Promise<void> {
    const settled = this.#settle();
    const failure = this.#native.recover();
    if (failure) {
      settled.catch(() => {});
      throw errorOf(failure);
    }
    const { phase } = this.#native.state();
    if (phase === "ready" || phase === "moving") {
      settled.catch(() => {});
      return;
    }
    await settled;
  }

  /** Calls `listener` with each later event; returns what ends that. */
  onEvent(listener: (event: GripperEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Closes the line as `on_disconnect` says. True where the motor's switching off was asked for and confirmed. */
  close(): Promise<boolean> {
    process.off("exit", this.#atExit);
    this.#closing ??= this.#native.close();
    return this.#closing;
  }

  /** The same for the end of a process: blocks for at most 0.3 s. A driver that is left open does so by itself. */
  closeNow(): boolean {
    return this.#native.closeNow();
  }

  /** Resolves with the next `ready`, rejects with the next fault. */
  #settle(): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (event: GripperEvent): void => {
        if (event.type !== "ready" && event.type !== "fault") return;
        clearTimeout(timer);
        this.#settled.delete(done);
        if (event.type === "ready") resolve();
        else reject(errorOf(event.failure));
      };
      const timer = setTimeout(() => {
        this.#settled.delete(done);
        reject(
          new Skill2RealError(
            "deadline_exceeded",
            `gripper: neither ready nor a fault within ${OPEN_DEADLINE_MS} ms: run "skill2real doctor --rig"`,
          ),
        );
      }, OPEN_DEADLINE_MS);
      this.#settled.add(done);
    });
  }

  #receive(native: NativeEvent): void {
    const event = this.#eventOf(native);
    for (const listener of [...this.#settled, ...this.#listeners]) listener(event);
  }

  #eventOf({ type, time_s, motion, reason, opening_m, failure }: NativeEvent): GripperEvent {
    const told = failure && failureOf(failure);
    switch (type) {
      case "ready":
        return { type, time_s, opening_m };
      case "motion_ended":
        return { type, time_s, motion, reason, opening_m, failure: told };
      case "slipped":
        return { type, time_s, opening_m, message: failure?.message ?? "" };
      case "dialect":
        return { type, time_s, dialect: this.info.dialect };
      case "fault":
        return { type, time_s, failure: told ?? { code: "internal", message: "a fault without a code" } };
    }
  }
}
