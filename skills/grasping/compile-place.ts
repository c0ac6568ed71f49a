import type { CompilePoseRequest } from "../../src/contract/generated/robot-api.js";
import type { Vec3 } from "../../src/runtime/native/pose.js";
import { pointCloud } from "../../src/runtime/native/scene.js";
import { depthView } from "../../src/runtime/observation-store.js";
import { OperationFailure } from "../../src/runtime/operation.js";
import type { OperationContext } from "../../src/runtime/operation-context.js";
import { toPose } from "../../src/runtime/transforms.js";
import { surfaceAt } from "../geometry/point-from-pixel.js";
import { compileFailure } from "./compile-failure.js";

type PlaceRequest = Extract<CompilePoseRequest, { mode: "place" }>;

/** How far the fingers open beyond the object at release: enough to let go, little enough to stay clear of walls. */
const RELEASE_MARGIN_M = 0.03;
/** Every so many pixels of the depth image are looked at for the support's height. */
const SUPPORT_STRIDE = 2;

export async function compilePlace(context: OperationContext, request: PlaceRequest): Promise<Record<string, unknown>> {
  const arm = context.arms.get(request.arm);
  const held = context.held.get(arm.name);
  if (!held)
    throw new OperationFailure(
      "no_carry_geometry",
      `nothing is known of an object held by arm "${arm.name}": grasp at a pose compiled with mask and depth, or refresh_held_object_state`,
    );
  const observation = context.observations.observation(request.observation_ref);
  const depth = context.observations.depth(request.depth_ref);
  if (depth.observation !== observation)
    throw new OperationFailure(
      "mismatched_refs",
      `depth_ref is of ${depth.observation.ref}, not of ${observation.ref}`,
    );
  const target = await surfaceAt(depth, request.target_pixel.u, request.target_pixel.v);
  const state = await context.armState(arm);
  const { arms } = await context.state();
  const result = await arm.kinematics.compilePlace({
    held: { X_tcp_object: held.X_tcp_box, size_m: held.size_m, round: held.round },
    target_point_world_m: target.point_world,
    ...(request.object_axis_world ? { object_axis_world: request.object_axis_world as Vec3 } : {}),
    ...(request.anchor_on_object ? { anchor_on_object_m: request.anchor_on_object as Vec3 } : {}),
    scene: context.scene.forArm(arm, arms, await context.scene.cloudOf(depth)),
    // The scene's cloud is thinned of what lies low: floors of trays and bowls are only in the whole one.
    support_cloud_world_m: await pointCloud(depthView(depth.observation, depth.depth_m), { stride: SUPPORT_STRIDE }),
    q_seed_rad: state.q_rad,
    held_opening_m: held.opening_m,
    release_opening_m: Math.min(arm.kinematics.model.gripper.max_opening_m, held.opening_m + RELEASE_MARGIN_M),
  });
  if (result.status !== "ok") throw compileFailure(result);
  for (const name of ["carry", "release", "retreat"] as const) context.limits.checkPose(result[name].X_world_tcp, name);
  context.held.setPlace(arm.name, result.may_touch);
  return {
    mode: "place",
    carry: toPose(result.carry.X_world_tcp),
    release: toPose(result.release.X_world_tcp),
    retreat: toPose(result.retreat.X_world_tcp),
    support_z: result.support_z_m,
    opening_m: result.opening_m,
    checks: result.checks,
    ...context.observations.staleness(observation),
  };
}
