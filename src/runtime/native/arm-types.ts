/** Where an arm is in the diagram of its supervisor (native/arm/core/cycle.h). */
export type ArmState = "disconnected" | "connecting" | "idle" | "moving" | "stopping" | "held" | "fault" | "local_mode";

export type ArmDhRow = { a_m: number; d_m: number; alpha_rad: number; theta_offset_rad: number };

/** What an open arm says of itself. */
export type ArmInfo = {
  /** "calibrated": rows of this very arm, read from its controller; "nominal": its model's, `kinematics_reason` says why. */
  kinematics: "calibrated" | "nominal";
  kinematics_reason: string;
  dh: readonly ArmDhRow[];
  /** Of the calibration, as the controller gives it; empty where nominal. */
  checksum: string;
  controller_version: string;
  serial: string;
  /** Read back from the kernel, for the 500 Hz thread. */
  realtime: { granted: boolean; reason: string; policy: "fifo" | "other"; priority: number; memory_locked: boolean };
  /** As bound; empty where there is no stop socket. */
  stop_address: string;
  /** "confirmed": the accelerometer in the tool feels gravity where the configuration says; "unverified": it says nothing. */
  mounting: "confirmed" | "unverified";
};

/** One control cycle. Times are CLOCK_MONOTONIC seconds but `robot_time_s`, which is the controller's. */
export type ArmSnapshot = {
  time_s: number;
  robot_time_s: number;
  q_rad: Float64Array;
  qd_rad_s: Float64Array;
  /** Position last commanded, 6 numbers. */
  setpoint_rad: Float64Array;
  /** Row-major, 16 numbers: as the controller says, with the TCP that was set. */
  X_world_tcp: Float64Array;
  /** fx fy fz [N], tx ty tz [Nm] that the world exerts on the TCP, in world axes. */
  tcp_wrench_world: Float64Array;
  state: ArmState;
  /** Of the latched fault; empty where there is none. */
  fault_code: string;
  fault_message: string;
  stop_latched: boolean;
  stop_epoch: number;
  stop_reason: string;
  /** The group whose trajectory runs; 0 for none. */
  group: number;
  fraction_done: number;
  reached_point: number;
  /** Largest joint distance of setpoint and path [rad]. */
  path_error_rad: number;
  speed_scaling: number;
  target_speed_fraction: number;
  robot_mode: number;
  runtime_state: number;
  safety_bits: number;
  /** Link up, remote control, program running, no safety stop. */
  robot_ready: boolean;
  cycles: number;
  missed_cycles: number;
  late_cycles: number;
  lateness_max_s: number;
  /** Packages of the controller that were skipped on the way. */
  robot_gaps: number;
  /** Cycles in a row without a new package. */
  stale_cycles: number;
};

export type ArmEndReason =
  | "END_UNSPECIFIED"
  | "END_COMPLETED"
  | "END_CONTACT"
  | "END_UNEXPECTED_CONTACT"
  | "END_STOPPED"
  | "END_PROTECTIVE_STOP"
  | "END_FAULT"
  | "END_TIMEOUT";

export type ArmEvent =
  | {
      kind: "motion_ended";
      time_s: number;
      group: number;
      end_reason: ArmEndReason;
      fraction_done: number;
      reached_point: number;
      /** x y z in world, relative to the start, where contact ended it; else empty. */
      contact_force_n: readonly number[];
      mean_force_n: number;
    }
  | {
      kind: "group_progress";
      time_s: number;
      group: number;
      fraction_done: number;
      reached_point: number;
      mean_force_n: number;
    }
  | { kind: "stopped"; time_s: number; stop_epoch: number; reason: string }
  | { kind: "fault"; time_s: number; code: string; message: string }
  | { kind: "resumed"; time_s: number; stop_epoch: number };

export type ArmDurations = {
  count: number;
  p50_s: number;
  p99_s: number;
  p999_s: number;
  max_s: number;
  /** How many lasted so many whole microseconds. */
  counts_us: Uint32Array;
};

export type ArmTiming = {
  /** Lateness of the loop's wake-ups, and cost of handing one setpoint to ur_rtde. */
  wake_lateness: ArmDurations;
  servo_call: ArmDurations;
  events_dropped: number;
};

export type ArmRecovery = {
  /** Single use, for Resume of the epoch that is latched now. */
  token: string;
  stop_epoch: number;
  /** Protective stops that were recovered since this driver started. */
  count: number;
};

export type ArmRefusalCode = "not_start" | "stop_epoch" | "busy" | "fault" | "bad_argument" | "resume_token";

/** A command that was not taken: nothing was done. */
export class ArmRefusal extends Error {
  constructor(
    readonly code: ArmRefusalCode,
    message: string,
  ) {
    super(message);
    this.name = "ArmRefusal";
  }
}
