import { z } from "zod";

const six = (least: number, most: number) => z.array(z.number().min(least).max(most)).length(6);
const place = z.array(z.number().min(-10).max(10)).length(3);
const transform = z.array(z.number()).length(16).refine(isRigid, "must be a rigid transform, row-major");
const port = z.int().min(1).max(65535);

/** Rotation part orthonormal within 1e-6 and right-handed, last row 0 0 0 1. */
function isRigid(X: readonly number[]): boolean {
  const at = (row: number, column: number) => X[4 * row + column] ?? Number.NaN;
  for (let i = 0; i < 3; i++)
    for (let j = 0; j < 3; j++) {
      const dot = at(0, i) * at(0, j) + at(1, i) * at(1, j) + at(2, i) * at(2, j);
      if (!(Math.abs(dot - (i === j ? 1 : 0)) <= 1e-6)) return false;
    }
  const determinant =
    at(0, 0) * (at(1, 1) * at(2, 2) - at(1, 2) * at(2, 1)) -
    at(0, 1) * (at(1, 0) * at(2, 2) - at(1, 2) * at(2, 0)) +
    at(0, 2) * (at(1, 0) * at(2, 1) - at(1, 1) * at(2, 0));
  return determinant > 0 && at(3, 0) === 0 && at(3, 1) === 0 && at(3, 2) === 0 && at(3, 3) === 1;
}

const bodyKind = z.enum(["elbow", "wrist", "gripper", "load"]);
const allKinds = () => ["elbow", "wrist", "gripper", "load"] as z.output<typeof bodyKind>[];
const zoneName = z.string().min(1).max(47);

/** Where bodies of the arm may not be, in world. */
const zone = z.union([
  z.strictObject({
    name: zoneName,
    kind: z.literal("half_space"),
    normal_world: place,
    offset_m: z.number(),
    applies_to: z.array(bodyKind).default(allKinds),
  }),
  z.strictObject({
    name: zoneName,
    kind: z.literal("box"),
    X_world_box: transform,
    size_m: place,
    applies_to: z.array(bodyKind).default(allKinds),
  }),
]);

/** A capsule that rides on the arm: frame 0 is the base, 1 to 6 the Denavit-Hartenberg frames, 7 the TCP. */
const body = z.strictObject({
  name: z.string().min(1).max(31),
  kind: bodyKind,
  frame: z.int().min(0).max(7),
  p0_m: place,
  p1_m: place,
  radius_m: z.number().positive().max(0.5),
});

/** A UR5e's elbow and wrist and the Pika gripper on its flange. */
const DEFAULT_BODIES: z.input<typeof body>[] = [
  { name: "elbow", kind: "elbow", frame: 2, p0_m: [0, 0, 0.08], p1_m: [0, 0, 0.138], radius_m: 0.055 },
  { name: "forearm", kind: "elbow", frame: 3, p0_m: [0.3922, 0, 0.007], p1_m: [0, 0, 0.007], radius_m: 0.043 },
  { name: "wrist_1", kind: "wrist", frame: 4, p0_m: [0, -0.1, 0], p1_m: [0, 0, 0], radius_m: 0.042 },
  { name: "wrist_2", kind: "wrist", frame: 5, p0_m: [0, 0.06, 0], p1_m: [0, 0, 0], radius_m: 0.042 },
  { name: "wrist_3", kind: "wrist", frame: 6, p0_m: [0, 0, -0.045], p1_m: [0, 0, -0.03], radius_m: 0.038 },
  { name: "gripper_neck", kind: "gripper", frame: 6, p0_m: [0, 0, 0.01], p1_m: [0, 0, 0.045], radius_m: 0.035 },
  { name: "gripper_rail", kind: "gripper", frame: 6, p0_m: [0, -0.05, 0.072], p1_m: [0, 0.05, 0.072], radius_m: 0.03 },
];

const each = (value: number) => [value, value, value, value, value, value];
const TWO_PI = 2 * Math.PI;

/** Limits of streamed setpoints: the gate. Plans should keep below them. */
const limits = z
  .strictObject({
    position_min_rad: six(-TWO_PI, TWO_PI).default([-TWO_PI, -TWO_PI, -Math.PI, -TWO_PI, -TWO_PI, -TWO_PI]),
    position_max_rad: six(-TWO_PI, TWO_PI).default([TWO_PI, TWO_PI, Math.PI, TWO_PI, TWO_PI, TWO_PI]),
    velocity_rad_s: six(0.01, Math.PI).default(each(Math.PI)),
    acceleration_rad_s2: six(0.01, 40).default(each(10)),
    jerk_rad_s3: six(0.1, 1000).default(each(160)),
  })
  .refine(
    (value) => value.position_min_rad.every((least, i) => least < (value.position_max_rad[i] ?? least)),
    "position_min_rad must be below position_max_rad for each joint",
  );

export const armOptionsSchema = z.strictObject({
  /** Of the controller: an IPv4 address, or a name, which is looked up once. */
  host: z.string().min(1),
  /** Ports that are probed first; ur_rtde itself always uses the standard ones. */
  ports: z
    .strictObject({
      dashboard: port.default(29999),
      rtde: port.default(30004),
      script: port.default(30003),
      primary: port.default(30001),
    })
    .prefault({}),
  registers: z.enum(["upper", "lower"]).default("upper"),
  /** "controller": the factory calibration where the controller gives one; results say which it was. */
  kinematics: z.enum(["controller", "nominal"]).default("controller"),
  /** "enforce": refuse to open without SCHED_FIFO and locked memory; "ignore": say why not and go on. */
  realtime: z.enum(["enforce", "ignore"]).default("enforce"),
  realtime_priority: z.int().min(1).max(99).default(80),
  /** Processor that the 500 Hz thread is pinned to; -1: any. */
  realtime_cpu: z.int().min(-1).max(1023).default(-1),
  /** Cycles of 2 ms without a new package of the controller that stop the arm. The loop itself may miss twice as many, or 10. */
  stale_cycles: z.int().min(3).max(25).default(3),
  servo_lookahead_s: z.number().min(0.03).max(0.2).default(0.05),
  servo_gain: z.number().min(100).max(2000).default(500),
  /** Below this rate of commands the controller itself ends the program [Hz]. */
  watchdog_hz: z.number().min(2).max(100).default(10),
  payload_kg: z.number().min(0).max(5),
  payload_cog_m: place,
  X_flange_tcp: transform,
  X_world_base: transform.default([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]),
  /** Acceleration of gravity in base axes [m/s^2]: how the arm is mounted. */
  gravity_base_m_s2: z.array(z.number().min(-11).max(11)).length(3).default([0, 0, -9.82]),
  limits: limits.prefault({}),
  /** A standing joint this far from its setpoint stops the arm [rad]. */
  distance_rad: z.number().min(0.001).max(1).default(0.08),
  contact_force_n: z.number().positive().max(150).default(25),
  contact_torque_nm: z.number().positive().max(30).default(8),
  zones: z.array(zone).max(24).default([]),
  bodies: z
    .array(body)
    .max(16)
    .default(() => body.array().parse(DEFAULT_BODIES)),
  /** Where the stop socket is bound, for example "ipc:///run/…/stop"; empty: none. */
  stop_address: z.string().max(200).default(""),
  /** Process that this one works for; 0: none is watched. */
  parent_pid: z.int().min(0).default(0),
  /** When the parent is gone: ramp down, end the controller's program, then end this process (exit code 76). */
  exit_on_parent_gone: z.boolean().default(false),
  /** The same when the lease lapses (exit code 75). */
  exit_on_lease_lapse: z.boolean().default(false),
  /** Folder for flight records; empty: none are written. */
  recorder_folder: z.string().max(4096).default(""),
});

export type ArmDriverOptions = z.input<typeof armOptionsSchema>;
export type ArmNativeOptions = z.output<typeof armOptionsSchema>;

/** Contact guard of one motion, relative to the wrench at its start; zeros are the arm's defaults. */
export const guardSchema = z.strictObject({
  force_n: z.number().min(0).default(0),
  torque_nm: z.number().min(0).default(0),
  /** Empty: any direction; else a unit vector, and only force against it counts. */
  direction_world: z
    .array(z.number())
    .refine((value) => value.length === 0 || value.length === 3, "must be empty or 3 numbers")
    .default([]),
  contact_expected: z.boolean().default(false),
});
export type ArmGuard = z.input<typeof guardSchema>;

/** What the gripper carries, as a capsule in the TCP frame, for the zones. */
export const loadSchema = z.strictObject({
  carried: z.boolean(),
  p0_tcp_m: place.default([0, 0, 0]),
  p1_tcp_m: place.default([0, 0, 0]),
  radius_m: z.number().min(0).max(0.5).default(0),
});
export type ArmLoad = z.input<typeof loadSchema>;
