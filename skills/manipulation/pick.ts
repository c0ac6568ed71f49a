import type { GeometryOk } from "../../src/contract/generated/robot-api.js";
import type { SkillContext, SkillResult } from "../../src/runtime/operation.js";
import { Chain } from "./chain.js";
import type { PickRequest, PickResult } from "./skill.gen.js";

type Vec3 = [number, number, number];

/** Fingers reach this far below the top of things that are taller than TALL_M; lower ones are held at half their height. */
const TALL_M = 0.07;
const BELOW_TOP_M = 0.035;
/** The fingertips stay at least this far above the support, and this far below the top. */
const LEAST_M = 0.012;
const ROUND_DIRECTIONS = 8;
const CONTACT_SPEED = 0.5;

/** Height at which the fingers close. */
export function gripHeight(top_z: number, support_z: number): number {
  const height_m = top_z - support_z;
  if (height_m > TALL_M) return top_z - BELOW_TOP_M;
  const half = Math.min(height_m * 0.5, height_m - LEAST_M);
  return support_z + Math.max(half, Math.min(height_m, LEAST_M));
}

/** Directions of closing, best first. */
export function closingAxes({ upright_box: { size, yaw_rad, yaw_defined } }: Pick<GeometryOk, "upright_box">): Vec3[] {
  const axis = (angle: number): Vec3 => [Math.cos(angle), Math.sin(angle), 0];
  const across = yaw_rad + (size[0] >= size[1] ? Math.PI / 2 : 0);
  if (yaw_defined) return [axis(across), axis(across + Math.PI / 2)];
  // 0, 90, 45, -45 … degrees: far apart ones first.
  return [0, 4, 2, 6, 1, 5, 3, 7].map((eighth) => axis((eighth * Math.PI) / ROUND_DIRECTIONS));
}

export async function pick(context: SkillContext, request: PickRequest): Promise<SkillResult<PickResult>> {
  const { mask_ref, depth_ref, arm, closing_axis_world, force_n } = request;
  const chain = new Chain(context, arm);
  const seen = await chain.link("measure", "measure_visible_geometry", { mask_ref, depth_ref });
  const { center, size } = seen.upright_box;
  const support_z = seen.support_z ?? center[2] - size[2] / 2;
  const grasp_center_xyz: Vec3 = [center[0], center[1], gripHeight(seen.top_z, support_z)];
  const axes = closing_axis_world ? [[...closing_axis_world] as Vec3] : closingAxes(seen);

  for (const [at, closing] of axes.entries()) {
    const goal = {
      mode: "grasp",
      grasp_center_xyz,
      closing_axis_world: closing,
      depth_ref,
      mask_ref,
      ...chain.arm,
    } as const;
    const plan = await chain.attempt("plan", "compile_pose", goal);
    if (plan.status !== "ok") {
      if (at < axes.length - 1) continue;
      return chain.fail(plan.status, `no direction of closing compiles; the last: ${plan.message}`);
    }
    if (plan.mode !== "grasp") return chain.fail("internal_error", "compile_pose planned something else than a grasp");
    await chain.link("open", "gripper_goto", { opening_m: plan.opening_m });
    await chain.link("approach", "goto_pose", { pose: plan.approach });
    await chain.link("contact", "goto_pose", { pose: plan.contact, motion: "linear", speed: CONTACT_SPEED });
    const closed = await chain.link("close", "gripper_goto", {
      opening_m: 0,
      ...(force_n === undefined ? {} : { force_n }),
    });
    chain.evidence = { opening_m: closed.opening_m };
    if (closed.stop_reason !== "stalled")
      return chain.fail(
        "nothing_gripped",
        `the fingers closed to ${closed.opening_m} m without meeting anything; the arm holds at the contact pose`,
      );
    await chain.link("lift", "goto_pose", { pose: plan.lift, motion: "linear", speed: CONTACT_SPEED });
    const gripper = await chain.link("check", "get_gripper_state", {});
    return { links: chain.links, opening_m: gripper.opening_m, measured: gripper.measured };
  }
  return chain.fail("internal_error", "there is no direction to close in");
}
