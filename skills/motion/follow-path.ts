import type { FollowPathRequest } from "../../src/contract/generated/robot-api.js";
import type { ArmRuntime } from "../../src/runtime/arms.js";
import type { PlanCommon } from "../../src/runtime/native/pose.js";
import { type MotionIntent, OperationFailure } from "../../src/runtime/operation.js";
import type { OperationContext } from "../../src/runtime/operation-context.js";
import { difference } from "../../src/runtime/transforms.js";
import { sweptBox } from "./asked-contact.js";
import { goalTransform, planCommon, trajectoryOf } from "./plan-context.js";
import { type Reached, runTrajectory } from "./run-trajectory.js";

export async function followPath(context: OperationContext, request: FollowPathRequest): Promise<MotionIntent> {
  const arm = context.arms.get(request.arm);
  if (request.press)
    throw new OperationFailure(
      "unsupported",
      "this backend has no force control: leave press out, and use contact_stop to find the surface",
    );
  const poses_world = request.poses.map((pose, i) => goalTransform(context, pose, `poses[${i}]`));
  const { common, start } = await planCommon(context, arm);
  // A path that is to end at contact may meet what it was asked to touch: what was seen where the fingers pass is left out.
  const scene = request.contact_stop ? withContact(common, arm, [start.X_world_tcp, ...poses_world]) : common.scene;
  const trajectory = trajectoryOf(
    context,
    arm,
    await arm.kinematics.planPath({ ...common, ...context.limits.cartesian(request.speed ?? 1), poses_world, scene }),
  );

  const measured = ({ state, status, stop_reason }: Reached): Record<string, unknown> => {
    const { distance_m, angle_rad } = difference(start.X_world_tcp, state.X_world_tcp);
    const done_s = stop_reason === "completed" ? Number.POSITIVE_INFINITY : status.reached_point * trajectory.dt_s;
    const reached_index = trajectory.pose_times_s.filter((time) => time <= done_s + 1e-9).length - 1;
    return {
      reached_index,
      displacement_m: distance_m,
      rotation_rad: angle_rad,
      mean_force_n: status.mean_force_n,
      stop_reason,
    };
  };
  return runTrajectory(context, arm, trajectory, {
    contact_stop: request.contact_stop,
    onFailure: measured,
    finish: async (reached) => measured(reached),
  });
}

/** The surroundings without what was seen where the fingers pass. Table, zones and other arms stay. */
function withContact(
  { scene, tool }: PlanCommon,
  arm: ArmRuntime,
  way: readonly (readonly number[])[],
): PlanCommon["scene"] {
  const { gripper } = arm;
  if (!gripper || !scene) return scene;
  const fingers = {
    opening_m: tool?.opening_m ?? gripper.max_opening_m,
    width_m: gripper.finger_width_m,
    thickness_m: gripper.finger_thickness_m,
    length_m: gripper.finger_length_m,
  };
  const swept = way.slice(1).map((to, i) => sweptBox(way[i]!, to, fingers));
  return { ...scene, exclude_boxes: [...(scene.exclude_boxes ?? []), ...swept] };
}
