import type { SkillContext, SkillResult } from "../../src/runtime/operation.js";
import { Chain } from "./chain.js";
import type { PlaceRequest, PlaceResult } from "./skill.gen.js";

const RELEASE_SPEED = 0.4;

export async function place(context: SkillContext, request: PlaceRequest): Promise<SkillResult<PlaceResult>> {
  const { arm, ...target } = request;
  const chain = new Chain(context, arm);
  const plan = await chain.link("plan", "compile_pose", { mode: "place", ...target });
  if (plan.mode !== "place")
    return chain.fail("internal_error", "compile_pose planned something else than a placement");
  await chain.link("carry", "goto_pose", { pose: plan.carry });
  await chain.link("release", "goto_pose", { pose: plan.release, motion: "linear", speed: RELEASE_SPEED });
  await chain.link("let go", "gripper_goto", { opening_m: plan.opening_m });
  await chain.link("retreat", "goto_pose", { pose: plan.retreat, motion: "linear" });
  return { links: chain.links, support_z: plan.support_z };
}
