/**
 * What the native backend needs of the devices of a rig. The addons' wrappers (`src/runtime/native/{arm,gripper,camera}.ts`)
 * give these faces; nothing else of them is used here.
 *
 * Times are seconds of CLOCK_MONOTONIC, which is the device time of this backend.
 *
 * @module
 */
import type { EndReason } from "../../../src/contract/generated/device.js";
import type { PinholeIntrinsics } from "../../../src/runtime/native/camera.js";
import type { ReadGuard } from "../../device-server/read-motions.js";

/** Where an arm is in the diagram of its supervisor. */
export type SupervisorState =
  | "disconnected"
  | "connecting"
  | "idle"
  | "moving"
  | "stopping"
  | "held"
  | "fault"
  | "local_mode";

export type DhRowFacts = { a_m: number; d_m: number; alpha_rad: number; theta_offset_rad: number };

export type ArmFacts = {
  /** "calibrated": rows of this very arm, read from its controller; else "nominal". */
  kinematics: "calibrated" | "nominal";
  dh: readonly DhRowFacts[];
};

/** One control cycle. */
export type ArmSnapshot = {
  time_s: number;
  q_rad: ArrayLike<number>;
  qd_rad_s: ArrayLike<number>;
  /** Row-major. */
  X_world_tcp: ArrayLike<number>;
  /** fx fy fz [N], tx ty tz [Nm] that the world exerts on the TCP, in world axes. */
  tcp_wrench_world: ArrayLike<number>;
  state: SupervisorState;
  /** Of the latched fault; empty where there is none. */
  fault_code: string;
  fault_message: string;
  stop_latched: boolean;
  stop_epoch: number;
  stop_reason: string;
  /** The group whose trajectory runs; 0 for none. */
  group: number;
  /** Of its duration, 0 to 1. */
  fraction_done: number;
  reached_point: number;
};

export type ArmEvent =
  | {
      kind: "motion_ended";
      time_s: number;
      group: number;
      end_reason: EndReason;
      fraction_done: number;
      reached_point: number;
      /** x y z in world, relative to the start, where contact ended it; else empty. */
      contact_force_n: readonly number[];
      mean_force_n: number;
    }
  | { kind: "stopped"; time_s: number; stop_epoch: number; reason: string }
  | { kind: "fault"; time_s: number; code: string; message: string }
  | { kind: "resumed"; time_s: number; stop_epoch: number };

export type ArmRefusalCode = "not_start" | "stop_epoch" | "busy" | "fault" | "bad_argument" | "resume_token";

/** An arm's no: nothing was done. */
export class ArmRefused extends Error {
  constructor(
    readonly code: ArmRefusalCode,
    message: string,
  ) {
    super(message);
    this.name = "ArmRefused";
  }
}

export type RecoverResult = {
  /** Single use, for Resume of the epoch that is latched now. */
  token: string;
  /** How often this session of the driver was recovered. */
  count: number;
};

export interface ArmDriver {
  readonly facts: ArmFacts;
  /** The newest cycle; waits for nothing. Epoch and latch are those of this moment. */
  state(): ArmSnapshot;
  /** The arm at a past time, between two kept cycles; null where that is longer ago than they are kept. */
  stateAt(time_s: number): ArmSnapshot | null;
  /** Starts a trajectory as part of a group; throws ArmRefused. `q_rad`: six numbers a point. */
  execute(
    group: number,
    stopEpoch: number,
    trajectory: { time_s: Float64Array; q_rad: Float64Array },
    guard: ReadGuard,
  ): void;
  /** Latches a stop; the new epoch. */
  stop(reason: string): number;
  /** Width of what the fingers closed on, so that zones hold for it too; null: they hold nothing. */
  carry(width_m: number | null): void;
  /** Clears a latched stop; throws ArmRefused. */
  resume(stopEpoch: number, token: string): void;
  /** The lease's clock is the driver's, so that a lapse stops the arm while this process hangs. */
  renewLease(lease_ms: number): void;
  holdLease(held: boolean): void;
  endLease(): void;
  onEvent(listener: (event: ArmEvent) => void): () => void;
  /** Recovery from a protective stop that a person asked for: waits the controller's lock-out. `onWait` tells the seconds left. */
  recover(onWait: (seconds: number) => void): Promise<RecoverResult>;
  /** The arm slows within its limits and is let go. */
  close(): Promise<void>;
}

export type GripperFacts = {
  max_opening_m: number;
  stroke_m: number;
  /** An estimate from the motor's current. */
  max_force_n: number;
  max_speed_m_s: number;
};

export type GripperSnapshot = {
  time_s: number;
  opening_m: number;
  target_opening_m: number;
  /** Closing force, an estimate from the current. */
  force_estimate_n: number;
  moving: boolean;
  stalled: boolean;
  /** Empty where it is well. */
  fault_code: string;
  fault_message: string;
};

export type GripperEvent =
  | { kind: "motion_ended"; time_s: number; reason: "completed" | "stalled" | "timeout" | "fault" }
  | { kind: "fault"; time_s: number; code: string; message: string };

export interface GripperDriver {
  readonly facts: GripperFacts;
  state(): GripperSnapshot;
  /**
   * How often it was stopped with the arm, by the arm's own loop: who reads this and then finds the arm in an epoch knows
   * that a later stop than that epoch's makes it another number.
   */
  readonly stops: number;
  /**
   * Returns whether the move began: not where it was stopped since `stops` was read. Its end is an event. Left-out values are
   * the gripper's defaults.
   */
  move(move: { opening_m: number; force_n?: number; speed_m_s?: number; stops: number }): boolean;
  /** Stays where it is and keeps its grip; a motion that runs ends without an event. */
  hold(): void;
  /** A fault of the line (unplugged, silent), after which opening it anew moves nothing and tells whether it is well. */
  readonly lineFault: boolean;
  /** Out of a fault: the state is read anew, power is given; nothing moves. Rejects with what still holds. */
  recover(): Promise<void>;
  onEvent(listener: (event: GripperEvent) => void): () => void;
  close(): Promise<void>;
}

export type CameraFacts = {
  /** Of the left, colour image after rectification; depth is registered to it. */
  left: PinholeIntrinsics;
  /** Of the rectified infrared pair, where it is streamed. */
  infrared: (PinholeIntrinsics & { baseline_m: number }) | null;
  /** Left infrared camera in the frame of the left, colour camera. */
  X_left_infrared: readonly number[] | null;
};

export type CameraFrame = {
  exposure_time_s: number;
  /** RGB8 rows. */
  rgb8: Uint8Array;
  /** Metres, NaN unknown, registered to left; null where depth is not streamed. */
  depth_m: Float32Array | null;
  /** Grey rows of the infrared pair. */
  infrared: { left: Uint8Array; right: Uint8Array } | null;
};

export interface CameraDriver {
  readonly facts: CameraFacts;
  /** A frame exposed at or after `not_before_s`; rejects where none comes in time, or the camera has a fault. */
  newest(options: { not_before_s: number; deadline_ms: number }): Promise<CameraFrame>;
  close(): Promise<void>;
}
