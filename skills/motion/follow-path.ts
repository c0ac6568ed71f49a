import type { FollowPathRequest } from "../../src/contract/generated/robot-api.js";
import { type MotionIntent, OperationFailure } from "../../src/runtime/operation.js";
import type { OperationContext } from "../../src/runtime/operation-context.js";
import { difference } from "../../src/runtime/transforms.js";
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
  const trajectory = trajectoryOf(
    context,
    arm,
    await arm.kinematics.planPath({ ...common, ...context.limits.cartesian(request.speed ?? 1), poses_world }),
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
