import type { GotoHomeRequest } from "../../src/contract/generated/robot-api.js";
import { type MotionIntent, OperationFailure } from "../../src/runtime/operation.js";
import type { OperationContext } from "../../src/runtime/operation-context.js";
import { toPose } from "../../src/runtime/transforms.js";
import { planCommon, trajectoryOf } from "./plan-context.js";
import { runTrajectory } from "./run-trajectory.js";

const HOME_TOLERANCE_RAD = 0.02;

export async function gotoHome(context: OperationContext, request: GotoHomeRequest): Promise<MotionIntent> {
  const arm = context.arms.get(request.arm);
  const home = arm.description.home_q_rad;
  const { common } = await planCommon(context, arm);
  const trajectory = trajectoryOf(
    context,
    arm,
    await arm.kinematics.planJoint({ ...common, ...context.limits.joint(1), q_goal_rad: home }),
  );
  return runTrajectory(context, arm, trajectory, {
    onFailure: ({ state }) => ({ reached_pose: toPose(state.X_world_tcp) }),
    finish: async ({ state, stop_reason }) => {
      const worst = Math.max(...home.map((q, i) => Math.abs(q - (state.q_rad[i] ?? Number.NaN))));
      const fields = { reached_pose: toPose(state.X_world_tcp), stop_reason };
      if (!(worst <= HOME_TOLERANCE_RAD))
        throw new OperationFailure("not_reached", `a joint stands ${worst.toFixed(3)} rad from home`, fields);
      return fields;
    },
  });
}
