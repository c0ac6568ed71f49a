import type {
  Arm,
  Capabilities,
  Execute,
  GripperMove,
  Guard,
  JointTrajectory,
  Motion,
  TcpPath,
} from "../../src/contract/generated/device.js";
import { badArgument, Refusal } from "./refusal.js";

export type ReadGuard = {
  force_n: number;
  torque_nm: number;
  direction_world: readonly number[];
  contact_expected: boolean;
};
/** `q_rad`: `joints` numbers a point. The guard's zeros are replaced by the arm's defaults, its direction is a unit vector or empty. */
export type ReadTrajectory = {
  kind: "joint_trajectory";
  arm: string;
  joints: number;
  time_s: Float64Array;
  q_rad: Float64Array;
  guard: ReadGuard;
};
/** `X_world_tcp`: 16 numbers a point. */
export type ReadTcpPath = {
  kind: "tcp_path";
  arm: string;
  time_s: Float64Array;
  X_world_tcp: Float64Array;
  guard: ReadGuard;
};
/** Zeros are the gripper's defaults. */
export type ReadGripperMove = {
  kind: "gripper_move";
  arm: string;
  opening_m: number;
  force_n: number;
  speed_m_s: number;
};
export type ReadMotion = ReadTrajectory | ReadTcpPath | ReadGripperMove;

const MOST_MOTIONS = 4;
const MOST_POINTS = 100_000;
const MOST_DURATION_S = 600;
/** A rotation whose rows are further than this from orthonormal is a mistake, not rounding. */
const ROTATION_TOLERANCE = 1e-3;

/** What any backend would refuse of an Execute is refused here, with ERROR_BAD_ARGUMENT or ERROR_UNSUPPORTED. */
export function readMotions({ motions }: Execute, capabilities: Capabilities): ReadMotion[] {
  if (motions.length < 1 || motions.length > MOST_MOTIONS)
    throw badArgument(`Execute has ${motions.length} motions; give 1 to ${MOST_MOTIONS}`);
  const movers = new Set<string>();
  return motions.map((motion, index) => {
    const where = `motion ${index}`;
    const read = readMotion(motion, capabilities, where);
    const mover = `${read.kind === "gripper_move" ? "gripper" : "arm"} ${read.arm}`;
    if (movers.has(mover))
      throw badArgument(`${where} is a second motion for ${mover}; a group moves each arm and gripper once`);
    movers.add(mover);
    return read;
  });
}

function readMotion(motion: Motion, capabilities: Capabilities, where: string): ReadMotion {
  if (motion.joint_trajectory) return readTrajectory(motion.joint_trajectory, capabilities, where);
  if (motion.tcp_path) return readTcpPath(motion.tcp_path, capabilities, where);
  if (motion.gripper_move) return readGripperMove(motion.gripper_move, capabilities, where);
  throw badArgument(`${where} is empty; set joint_trajectory, tcp_path or gripper_move`);
}

function readTrajectory(message: JointTrajectory, capabilities: Capabilities, where: string): ReadTrajectory {
  const arm = armOf(message.arm, capabilities, where);
  if (!capabilities.features.includes("joint_trajectory"))
    throw new Refusal("ERROR_UNSUPPORTED", `${where}: this backend plays no joint trajectories; send a tcp_path`);
  const time_s = timesOf(message.time_s, where);
  const joints = arm.dh.length;
  const q_rad = finite(message.q_rad, `${where}: q_rad`);
  if (q_rad.length !== joints * time_s.length)
    throw badArgument(
      `${where}: q_rad has ${q_rad.length} numbers for ${time_s.length} points; give ${joints} a point`,
    );
  for (const [i, q] of q_rad.entries()) {
    const limit = arm.limits[i % joints];
    if (limit && !(q >= limit.position_min_rad - 1e-6 && q <= limit.position_max_rad + 1e-6))
      throw badArgument(
        `${where}: joint ${i % joints} is ${q.toFixed(4)} rad at point ${Math.floor(i / joints)}; its limits are ${limit.position_min_rad.toFixed(4)} to ${limit.position_max_rad.toFixed(4)}`,
      );
  }
  return { kind: "joint_trajectory", arm: arm.name, joints, time_s, q_rad, guard: guardOf(message.guard, arm, where) };
}

function readTcpPath(message: TcpPath, capabilities: Capabilities, where: string): ReadTcpPath {
  const arm = armOf(message.arm, capabilities, where);
  if (!capabilities.features.includes("tcp_path"))
    throw new Refusal(
      "ERROR_UNSUPPORTED",
      `${where}: this backend has no Cartesian controller; send a joint_trajectory`,
    );
  const time_s = timesOf(message.time_s, where);
  const X_world_tcp = finite(message.X_world_tcp, `${where}: X_world_tcp`);
  if (X_world_tcp.length !== 16 * time_s.length)
    throw badArgument(
      `${where}: X_world_tcp has ${X_world_tcp.length} numbers for ${time_s.length} points; give 16 a point`,
    );
  for (let point = 0; point < time_s.length; point += 1) {
    const error = rotationError(X_world_tcp.subarray(16 * point, 16 * point + 16));
    if (!(error <= ROTATION_TOLERANCE))
      throw badArgument(
        `${where}: X_world_tcp holds something that is not a rotation (off by ${error.toPrecision(3)})`,
      );
  }
  return { kind: "tcp_path", arm: arm.name, time_s, X_world_tcp, guard: guardOf(message.guard, arm, where) };
}

function readGripperMove(message: GripperMove, capabilities: Capabilities, where: string): ReadGripperMove {
  const gripper = capabilities.grippers.find(({ arm }) => arm === message.arm);
  if (!gripper) {
    const known = capabilities.grippers.map(({ arm }) => arm).join(", ") || "none";
    throw badArgument(`${where}: no gripper on arm ${quoted(message.arm)}; there is: ${known}`);
  }
  if (gripper.control === "none")
    throw new Refusal("ERROR_UNSUPPORTED", `${where}: the gripper of ${message.arm} cannot be commanded`);
  within(message.opening_m, gripper.max_opening_m, `${where}: opening_m`);
  within(message.force_n, gripper.max_force_n, `${where}: force_n`);
  within(message.speed_m_s, gripper.max_speed_m_s, `${where}: speed_m_s`);
  const { arm, opening_m, force_n, speed_m_s } = message;
  return { kind: "gripper_move", arm, opening_m, force_n, speed_m_s };
}

function armOf(name: string, { arms }: Capabilities, where: string): Arm {
  const arm = arms.find((candidate) => candidate.name === name);
  if (arm) return arm;
  throw badArgument(`${where}: no arm ${quoted(name)}; there is: ${arms.map((each) => each.name).join(", ")}`);
}

function timesOf(values: readonly number[], where: string): Float64Array {
  if (values.length < 2 || values.length > MOST_POINTS)
    throw badArgument(`${where}: ${values.length} points; give 2 to ${MOST_POINTS}`);
  const time_s = finite(values, `${where}: time_s`);
  if (time_s[0] !== 0) throw badArgument(`${where}: the first time_s is ${time_s[0]}; it must be 0`);
  for (let i = 1; i < time_s.length; i += 1)
    if (!(time_s[i]! > time_s[i - 1]!)) throw badArgument(`${where}: time_s does not rise after point ${i - 1}`);
  const last = time_s.at(-1)!;
  if (last > MOST_DURATION_S)
    throw badArgument(`${where}: it lasts ${last.toPrecision(6)} s; at most ${MOST_DURATION_S} s in one motion`);
  return time_s;
}

function guardOf(message: Guard | null, arm: Arm, where: string): ReadGuard {
  const { force_n = 0, torque_nm = 0, direction_world = [], contact_expected = false } = message ?? {};
  for (const [name, value] of Object.entries({ force_n, torque_nm }))
    if (!(value >= 0 && value < Number.POSITIVE_INFINITY))
      throw badArgument(`${where}: guard ${name} is ${value}; give 0 (the arm's default) or a positive limit`);
  const direction = finite(direction_world, `${where}: guard direction_world`);
  const length = Math.hypot(...direction);
  if (direction.length > 0 && !(direction.length === 3 && length > 1e-9 && length < 1e9))
    throw badArgument(`${where}: guard direction_world must be empty or 3 numbers that are not all 0`);
  return {
    force_n: force_n || arm.contact_force_default_n,
    torque_nm: torque_nm || arm.contact_torque_default_nm,
    direction_world: Array.from(direction, (value) => value / length),
    contact_expected,
  };
}

function finite(values: readonly number[], what: string): Float64Array {
  const array = Float64Array.from(values);
  const wrong = array.findIndex((value) => !Number.isFinite(value));
  if (wrong >= 0) throw badArgument(`${what} holds ${array[wrong]} at index ${wrong}; every number must be finite`);
  return array;
}

function within(value: number, limit: number, what: string): void {
  // Said this way round, so that NaN fails it.
  if (!(value >= 0 && value <= limit * (1 + 1e-9)))
    throw badArgument(`${what} is ${value.toPrecision(6)}; give 0 to ${limit.toPrecision(6)}`);
}

/** Largest error of orthonormality of the rotation of a transform; infinite for a mirrored one. */
function rotationError(x: Float64Array): number {
  const [r0, r1, r2] = [0, 4, 8].map((at) => [x[at]!, x[at + 1]!, x[at + 2]!] as const) as [Row, Row, Row];
  const rows = [r0, r1, r2];
  let error = 0;
  for (const [i, a] of rows.entries())
    for (const [j, b] of rows.entries())
      error = Math.max(error, Math.abs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] - (i === j ? 1 : 0)));
  const determinant =
    r0[0] * (r1[1] * r2[2] - r1[2] * r2[1]) -
    r0[1] * (r1[0] * r2[2] - r1[2] * r2[0]) +
    r0[2] * (r1[0] * r2[1] - r1[1] * r2[0]);
  return determinant > 0 ? error : Number.POSITIVE_INFINITY;
}
type Row = readonly [number, number, number];

const quoted = (name: string): string => JSON.stringify(name.slice(0, 64));
