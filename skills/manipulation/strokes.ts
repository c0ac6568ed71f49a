import type { Pose } from "../../src/contract/generated/robot-api.js";
import type { SkillContext, SkillResult } from "../../src/runtime/operation.js";
import { Chain } from "./chain.js";
import type { CloseRequest, CloseResult, OpenRequest, OpenResult, PushRequest, PushResult } from "./skill.gen.js";

const PUSH_FORCE_N = 25;
const PULL_FORCE_N = 30;
const CLEARANCE_M = 0.1;
const STROKE_SPEED = 0.3;
const RETREAT_M = 0.08;
/** Straight down, fingers closing along world y. */
const DOWN = { qx: 1, qy: 0, qz: 0, qw: 0 };

type Direction = readonly [number, number, number];
type Stroke = { displacement_m: number; stop_reason: "completed" | "contact" };

/** A pose shifted along a direction of world, which need not be a unit vector. */
export function shifted(pose: Pose, [x, y, z]: Direction, distance_m: number): Pose {
  const scale = distance_m / Math.hypot(x, y, z);
  return { ...pose, x: pose.x + x * scale, y: pose.y + y * scale, z: pose.z + z * scale };
}

/** A straight stroke that contact above a force, against its direction, may end. */
async function stroke(
  chain: Chain,
  purpose: string,
  from: Pose,
  direction: Direction,
  distance_m: number,
  force_n: number,
): Promise<Stroke> {
  const [x, y, z] = direction;
  const moved = await chain.link(purpose, "follow_path", {
    poses: [shifted(from, direction, distance_m)],
    speed: STROKE_SPEED,
    contact_stop: { force_n, direction_world: [x, y, z] },
  });
  chain.evidence = { displacement_m: moved.displacement_m };
  return {
    displacement_m: moved.displacement_m,
    stop_reason: moved.stop_reason === "contact" ? "contact" : "completed",
  };
}

/** Leaves what was touched, which may be seen still where it was before; force against this way is a surprise. */
async function away(chain: Chain, purpose: string, pose: Pose, direction: Direction, force_n: number): Promise<void> {
  const moved = await chain.link(purpose, "follow_path", {
    poses: [pose],
    speed: STROKE_SPEED,
    contact_stop: { force_n, direction_world: [direction[0], direction[1], direction[2]] },
  });
  if (moved.stop_reason === "contact")
    chain.fail("unexpected_contact", `${purpose}: something is in the way back; the arm holds where it is`);
}

export async function push(context: SkillContext, request: PushRequest): Promise<SkillResult<PushResult>> {
  const { start_xyz, direction_world, distance_m, force_n = PUSH_FORCE_N, clearance_m = CLEARANCE_M, arm } = request;
  const chain = new Chain(context, arm);
  const [x, y, z] = start_xyz;
  const start: Pose = { x, y, z, ...DOWN };
  await chain.link("close the fingers", "gripper_goto", { opening_m: 0 });
  await chain.link("above the start", "goto_pose", { pose: { ...start, z: z + clearance_m } });
  await chain.link("down", "goto_pose", { pose: start, motion: "linear", speed: STROKE_SPEED });
  const done = await stroke(chain, "stroke", start, direction_world, distance_m, force_n);
  await away(chain, "up", await lifted(chain, clearance_m), [0, 0, 1], force_n);
  return { links: chain.links, ...done };
}

export async function close(context: SkillContext, request: CloseRequest): Promise<SkillResult<CloseResult>> {
  const { front_pose, direction_world, distance_m, force_n = PUSH_FORCE_N, arm } = request;
  const chain = new Chain(context, arm);
  await chain.link("close the fingers", "gripper_goto", { opening_m: 0 });
  await chain.link("before the front", "goto_pose", { pose: front_pose });
  const done = await stroke(chain, "stroke", front_pose, direction_world, distance_m, force_n);
  const [x, y, z] = direction_world;
  await away(chain, "back", front_pose, [-x, -y, -z], force_n);
  return { links: chain.links, ...done };
}

export async function open(context: SkillContext, request: OpenRequest): Promise<SkillResult<OpenResult>> {
  const { handle_xyz, closing_axis_world, approach_axis_world, pull_direction_world, distance_m, arm } = request;
  const chain = new Chain(context, arm);
  const plan = await chain.link("plan", "compile_pose", {
    mode: "grasp",
    grasp_center_xyz: handle_xyz,
    closing_axis_world,
    ...(approach_axis_world === undefined ? {} : { approach_axis_world }),
  });
  if (plan.mode !== "grasp") return chain.fail("internal_error", "compile_pose planned something else than a grasp");
  await chain.link("open the fingers", "gripper_goto", { opening_m: plan.opening_m });
  await chain.link("approach", "goto_pose", { pose: plan.approach });
  await chain.link("contact", "goto_pose", { pose: plan.contact, motion: "linear", speed: STROKE_SPEED });
  const closed = await chain.link("close on the handle", "gripper_goto", { opening_m: 0 });
  if (closed.stop_reason !== "stalled")
    return chain.fail("nothing_gripped", "the fingers closed without meeting a handle; the arm holds where it is");
  const done = await stroke(
    chain,
    "pull",
    plan.contact,
    pull_direction_world,
    distance_m,
    request.force_n ?? PULL_FORCE_N,
  );
  await chain.link("let go", "gripper_goto", { opening_m: plan.opening_m });
  const state = await chain.link("where the arm is", "get_robot_state", {});
  const back: Direction = approach_axis_world
    ? [-approach_axis_world[0], -approach_axis_world[1], -approach_axis_world[2]]
    : [0, 0, 1];
  await chain.link("retreat", "goto_pose", { pose: shifted(state.tcp_pose, back, RETREAT_M), motion: "linear" });
  return { links: chain.links, ...done };
}

async function lifted(chain: Chain, by_m: number): Promise<Pose> {
  const { tcp_pose } = await chain.link("where the arm is", "get_robot_state", {});
  return { ...tcp_pose, z: tcp_pose.z + by_m };
}
