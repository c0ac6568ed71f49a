import type { Pose } from "../../contract/generated/robot-api.js";
import { difference, fromPose, type Transform } from "../../runtime/transforms.js";

/** What an operation gave a program: its status, its words, and its other fields. */
export type ProgramReply = { operation: string; status: string; message: string; fields: Record<string, unknown> };

/** What is really so, told by the plant and by nobody else. */
export type WorldTruth = {
  /** The tool, by the joints that the plant has and the model that the program was given. */
  X_world_tcp: Transform;
  q_rad: readonly number[];
  opening_m: number;
};

/** "At the goal" is a promise: goto_pose's own tolerance, and a servo's lag. */
const AT_GOAL_M = 0.006;
const AT_GOAL_RAD = 0.03;
/** A pose that was measured while the arm still braked is a few milliseconds old. */
const TOLD_M = 0.012;
const TOLD_RAD = 0.05;
const JOINT_RAD = 0.03;
const OPENING_M = 0.004;
/** While it moves the jaw is elsewhere by the time that its opening is read. */
const MOVING_OPENING_M = 0.012;
/** Stamps of the same exposure by the bench and by the driver. */
const EXPOSURE_S = 0.05;

const mm = (metres: number): string => `${(1e3 * metres).toFixed(0)} mm`;
const isPose = (value: unknown): value is Pose =>
  typeof value === "object" && value !== null && "qw" in value && "x" in value;

/** What of a told pose is untrue; empty where it is true. */
function poseFalsehoods(told: unknown, real: Transform, words: string): string[] {
  if (!isPose(told)) return [];
  const X = fromPose(told);
  if (!X) return [`${words} is no pose`];
  const { distance_m, angle_rad } = difference(X, real);
  if (distance_m > TOLD_M) return [`${words} is ${mm(distance_m)} off`];
  return angle_rad > TOLD_RAD ? [`${words} is ${(1e3 * angle_rad).toFixed(0)} mrad off`] : [];
}

/** Of goto_pose towards `X_world_goal`: "ok" says that the tool is there; contact was not asked for. */
export function judgeArmMotion(reply: ProgramReply, truth: WorldTruth, X_world_goal: Transform): string[] {
  const wrong = poseFalsehoods(reply.fields.reached_pose, truth.X_world_tcp, "reached_pose");
  if (reply.status !== "ok") return wrong;
  const { distance_m, angle_rad } = difference(X_world_goal, truth.X_world_tcp);
  if (distance_m > AT_GOAL_M || angle_rad > AT_GOAL_RAD)
    wrong.push(`"ok", ${mm(distance_m)} and ${(1e3 * angle_rad).toFixed(0)} mrad from the goal`);
  if (reply.fields.stop_reason === "contact") wrong.push('"contact", which nobody had asked for');
  return wrong;
}

/** Of gripper_goto with nothing between the fingers: whoever says that they hold something is wrong. */
export function judgeGripperMotion(reply: ProgramReply, truth: WorldTruth, opening_m: number): string[] {
  const wrong: string[] = [];
  const { status, fields } = reply;
  if (status === "ok" && fields.stop_reason === "stalled") wrong.push('"ok, stalled" with nothing between the fingers');
  else if (status === "ok" && Math.abs(truth.opening_m - opening_m) > OPENING_M)
    wrong.push(`"ok", ${mm(Math.abs(truth.opening_m - opening_m))} from the asked opening`);
  if (status === "ok" && typeof fields.opening_m === "number")
    wrong.push(...openingFalsehoods(fields.opening_m, truth));
  return wrong;
}

const openingFalsehoods = (told_m: number, truth: WorldTruth, allowed_m = OPENING_M): string[] =>
  Math.abs(told_m - truth.opening_m) > allowed_m
    ? [`an opening told as measured is ${mm(Math.abs(told_m - truth.opening_m))} off`]
    : [];

/** Of get_gripper_state, with nothing between the fingers. */
export function judgeGripperState({ status, fields }: ProgramReply, truth: WorldTruth): string[] {
  if (status !== "ok") return [];
  const allowed_m = fields.moving === true ? MOVING_OPENING_M : OPENING_M;
  const wrong =
    fields.measured !== false && typeof fields.opening_m === "number"
      ? openingFalsehoods(fields.opening_m, truth, allowed_m)
      : [];
  if (fields.stalled === true) wrong.push('"stalled" with nothing between the fingers');
  return wrong;
}

/** Of get_robot_state: an arm that is told as well (idle, moving, stopped) is where it is told to be. */
export function judgeRobotState({ status, fields }: ProgramReply, truth: WorldTruth): string[] {
  if (status !== "ok" || fields.mode === "disconnected") return [];
  const wrong = poseFalsehoods(fields.tcp_pose, truth.X_world_tcp, `tcp_pose with the mode "${String(fields.mode)}"`);
  const joints = Array.isArray(fields.joints_rad) ? (fields.joints_rad as number[]) : [];
  const off_rad = Math.max(0, ...joints.map((q, i) => Math.abs(q - (truth.q_rad[i] ?? Number.NaN))));
  if (!(off_rad <= JOINT_RAD)) wrong.push(`joints_rad are ${(1e3 * off_rad).toFixed(0)} mrad off`);
  return wrong;
}

/** What the bench says of its exposures: when each was really taken; null where it cannot be asked any more. */
export type Exposures = readonly number[] | null;

/** Of a view asked for at `asked_s`: a picture is of a time at which one was taken, and not of one before it was asked for. */
export function judgeView(
  { status, fields }: ProgramReply,
  view: { asked_s: number; exposures: Exposures; X_world_tcp_at: (time_s: number) => Transform },
): string[] {
  if (status !== "ok") return [];
  const taken_at_s = fields.taken_at_s;
  if (typeof taken_at_s !== "number") return ["a picture without its time"];
  const wrong: string[] = [];
  const early_s = view.asked_s - taken_at_s;
  if (early_s > 0.001) wrong.push(`a picture from ${early_s.toFixed(3)} s before it was asked for, told as new`);
  const off_s = Math.min(...(view.exposures ?? [taken_at_s]).map((time_s) => Math.abs(time_s - taken_at_s)));
  if (!(off_s <= EXPOSURE_S)) wrong.push(`taken_at_s is ${off_s.toFixed(3)} s from every exposure that was made`);
  wrong.push(...poseFalsehoods(fields.tcp_pose, view.X_world_tcp_at(taken_at_s), "tcp_pose of the exposure"));
  return wrong;
}
