import type { ContactStop, MotionKind, Pose } from "../../src/contract/generated/robot-api.js";
import { OperationFailure, type SkillContext } from "../../src/runtime/operation.js";
import { fromPose, multiply, type Transform } from "../../src/runtime/transforms.js";
import type { AxesFrame } from "./skill.gen.js";

type Relative = {
  frame: AxesFrame;
  observation_ref?: string;
  arm?: string;
  motion?: MotionKind;
  speed?: number;
  contact_stop?: ContactStop;
};
/** Rows of a rotation from a frame to world. */
type Rows = readonly (readonly number[])[];

const WORLD: Rows = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
];
const rowsOf = (X: Transform): Rows => [0, 1, 2].map((row) => [0, 1, 2].map((column) => X[4 * row + column] ?? 0));

/** Where the TCP is, measured now, and the axes that a request speaks of. */
export async function framesOf(context: SkillContext, request: Relative): Promise<{ pose: Pose; axes: Rows }> {
  const { frame, observation_ref, arm } = request;
  if (observation_ref !== undefined && frame !== "view")
    throw new OperationFailure(
      "invalid_argument",
      `observation_ref belongs to frame "view"; leave it out for "${frame}"`,
    );
  const state = await context.invoke("get_robot_state", arm === undefined ? {} : { arm });
  if (state.status !== "ok") return context.fail(state.status, state.message);
  const pose = state.tcp_pose;
  if (frame === "world") return { pose, axes: WORLD };
  if (frame === "tcp") return { pose, axes: rowsOf(fromPose(pose) ?? []) };
  if (observation_ref === undefined)
    throw new OperationFailure(
      "invalid_argument",
      'frame "view" needs observation_ref: of the view whose axes are meant',
    );
  return { pose, axes: rowsOf(context.image(observation_ref).X_world_camera) };
}

/** A pose turned about an axis through its origin (Rodrigues' formula). */
export function turned(X_world_tcp: Transform, axes: Rows, axis: readonly number[], angle_rad: number): number[] {
  const [x, y, z] = axes.map((row) => row.reduce((sum, value, i) => sum + value * (axis[i] ?? 0), 0)) as [
    number,
    number,
    number,
  ];
  const length = Math.hypot(x, y, z);
  const [a, b, c] = [x / length, y / length, z / length];
  const [sin, cos] = [Math.sin(angle_rad), Math.cos(angle_rad)];
  const t = 1 - cos;
  const R = [
    t * a * a + cos,
    t * a * b - sin * c,
    t * a * c + sin * b,
    0,
    t * a * b + sin * c,
    t * b * b + cos,
    t * b * c - sin * a,
    0,
    t * a * c - sin * b,
    t * b * c + sin * a,
    t * c * c + cos,
    0,
    0,
    0,
    0,
    1,
  ];
  const X = multiply(R, X_world_tcp);
  for (const at of [3, 7, 11]) X[at] = X_world_tcp[at] ?? 0;
  return X;
}

/** goto_pose to a goal, with its result as the function documents it. */
export async function moveTo(context: SkillContext, request: Relative, goal_pose: Pose) {
  const { arm, motion = "linear", speed, contact_stop } = request;
  const moved = await context.invoke("goto_pose", {
    pose: goal_pose,
    motion,
    ...(arm === undefined ? {} : { arm }),
    ...(speed === undefined ? {} : { speed }),
    ...(contact_stop === undefined ? {} : { contact_stop }),
  });
  if (moved.status !== "ok") {
    const { status, message, ...where } = moved;
    return context.fail(status, message, { goal_pose, ...where });
  }
  const { motion_used: _used, ...ended } = moved;
  return { ...ended, goal_pose };
}
