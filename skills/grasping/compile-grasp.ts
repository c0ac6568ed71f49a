import type { CompilePoseRequest } from "../../src/contract/generated/robot-api.js";
import type { GraspTarget } from "../../src/runtime/held-objects.js";
import type { Vec3 } from "../../src/runtime/native/pose.js";
import type { Observation } from "../../src/runtime/observation-store.js";
import { OperationFailure } from "../../src/runtime/operation.js";
import type { OperationContext } from "../../src/runtime/operation-context.js";
import { fromYaw, toPose } from "../../src/runtime/transforms.js";
import { maskedDepth, measured } from "../geometry/measure-geometry.js";
import { compileFailure } from "./compile-failure.js";

type GraspRequest = Extract<CompilePoseRequest, { mode: "grasp" }>;
type Seen = {
  observation: Observation;
  cloud: Float32Array;
  target: Omit<GraspTarget, "X_world_contact"> | null;
  yaw_rad: number;
};

/** What the request's refs show: the surroundings, and the target where a mask says which. */
async function lookAt(context: OperationContext, request: GraspRequest): Promise<Seen | null> {
  if (request.mask_ref !== undefined && request.depth_ref === undefined)
    throw new OperationFailure("invalid_argument", "mask_ref needs depth_ref of the same observation beside it");
  if (request.depth_ref === undefined) return null;
  if (request.mask_ref === undefined) {
    const depth = context.observations.depth(request.depth_ref);
    return { observation: depth.observation, cloud: await context.scene.cloudOf(depth), target: null, yaw_rad: 0 };
  }
  const { mask, depth } = maskedDepth(context, request.mask_ref, request.depth_ref);
  const { upright_box: box, points_world } = await measured(mask, depth);
  return {
    observation: depth.observation,
    cloud: await context.scene.cloudOf(depth),
    target: {
      X_world_box: fromYaw(box.center_world, box.yaw_rad),
      size_m: box.size_m,
      round: !box.yaw_defined,
      points_world_m: points_world,
    },
    yaw_rad: box.yaw_rad,
  };
}

export async function compileGrasp(context: OperationContext, request: GraspRequest): Promise<Record<string, unknown>> {
  const arm = context.arms.get(request.arm);
  const seen = await lookAt(context, request);
  const state = await context.armState(arm);
  const { arms } = await context.state();
  const previous = context.held.target(arm.name);
  context.held.setTarget(arm.name, null);
  const scene = context.scene.forArm(arm, arms, seen?.cloud);
  const box = seen?.target?.X_world_box;
  const result = await arm.kinematics.compileGrasp({
    grasp_center_world_m: request.grasp_center_xyz as Vec3,
    closing_axis_world: request.closing_axis_world as Vec3,
    ...(request.approach_axis_world ? { approach_axis_world: request.approach_axis_world as Vec3 } : {}),
    target:
      seen?.target && box
        ? {
            upright_box: {
              center_world_m: [box[3]!, box[7]!, box[11]!],
              size_m: seen.target.size_m,
              yaw_rad: seen.yaw_rad,
              round: seen.target.round,
            },
            points_world_m: seen.target.points_world_m,
          }
        : null,
    scene,
    q_seed_rad: state.q_rad,
  });
  if (result.status !== "ok") {
    context.held.setTarget(arm.name, previous);
    throw compileFailure(result);
  }
  for (const name of ["approach", "contact", "lift"] as const) context.limits.checkPose(result[name].X_world_tcp, name);
  if (seen?.target) context.held.setTarget(arm.name, { ...seen.target, X_world_contact: result.contact.X_world_tcp });
  return {
    mode: "grasp",
    approach: toPose(result.approach.X_world_tcp),
    contact: toPose(result.contact.X_world_tcp),
    lift: toPose(result.lift.X_world_tcp),
    opening_m: result.opening_m,
    checks: { ...result.checks, clearance_m: scene.cloud_world_m ? result.checks.clearance_m : null },
    ...(seen ? context.observations.staleness(seen.observation) : { stale: false, stale_reason: null }),
  };
}
