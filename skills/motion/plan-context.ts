import type { ArmState } from "../../src/contract/generated/device.js";
import type { Pose } from "../../src/contract/generated/robot-api.js";
import type { ArmRuntime } from "../../src/runtime/arms.js";
import type { PlanCommon, PlanFailure, PlanResult, Trajectory } from "../../src/runtime/native/pose.js";
import { OperationFailure } from "../../src/runtime/operation.js";
import type { OperationContext } from "../../src/runtime/operation-context.js";
import { fromPose } from "../../src/runtime/transforms.js";

/** Sample period of trajectories: a whole number of 2 ms control periods, well below the protocol's 20 ms. */
const SAMPLE_S = 0.008;
/** FK along a trajectory is checked against the workspace at every so many samples. */
const WORKSPACE_STRIDE = 8;

/** The pose of a request as a transform, checked against the workspace. */
export function goalTransform(context: OperationContext, pose: Pose, field: string): number[] {
  const X_world_goal = fromPose(pose);
  if (!X_world_goal)
    throw new OperationFailure(
      "invalid_argument",
      `${field}: the quaternion (${pose.qx}, ${pose.qy}, ${pose.qz}, ${pose.qw}) has no direction; give a unit quaternion x y z w`,
    );
  context.limits.checkPose(X_world_goal, field);
  return X_world_goal;
}

/** Start, tool and surroundings of a motion that is planned now. */
export async function planCommon(
  context: OperationContext,
  arm: ArmRuntime,
): Promise<{ common: PlanCommon; start: ArmState }> {
  const start = await context.armState(arm);
  const { arms, grippers } = await context.state();
  const held = context.held.get(arm.name);
  const opening_m = grippers.find((entry) => entry.arm === arm.name)?.opening_m;
  return {
    start,
    common: {
      q_start_rad: start.q_rad,
      scene: context.scene.forArm(arm, arms),
      tool: {
        ...(opening_m === undefined
          ? {}
          : { opening_m: Math.min(Math.max(0, opening_m), arm.kinematics.model.gripper.max_opening_m) }),
        held: held ? { X_tcp_object: held.X_tcp_box, size_m: held.size_m, round: held.round } : null,
      },
      dt_s: SAMPLE_S,
    },
  };
}

/** A plan's failure as a status; what is hit decides between a collision and a forbidden zone. */
export function planFailure(failure: PlanFailure): OperationFailure {
  if (failure.status === "collision" && failure.hit?.against.startsWith("zone "))
    return new OperationFailure("forbidden_zone", failure.reason);
  return new OperationFailure(failure.status, failure.reason);
}

/**
 * The trajectory of a plan; throws what kept it from being one, `outside_workspace` where it leaves the workspace on the way,
 * or `budget_exhausted` where it is longer than the program may still go.
 */
export function trajectoryOf(context: OperationContext, arm: ArmRuntime, plan: PlanResult): Trajectory {
  if (plan.status !== "ok") throw planFailure(plan);
  const tcpAt = (i: number): number[] =>
    arm.kinematics.forward(Array.from(plan.positions_rad.subarray(6 * i, 6 * i + 6)));
  let last = tcpAt(0);
  let length_m = 0;
  for (let i = WORKSPACE_STRIDE; i < plan.count + WORKSPACE_STRIDE; i += WORKSPACE_STRIDE) {
    const sample = Math.min(i, plan.count - 1);
    const here = tcpAt(sample);
    context.limits.checkPose(here, `the way to the goal (after ${(sample * plan.dt_s).toFixed(2)} s)`);
    length_m += Math.hypot(here[3]! - last[3]!, here[7]! - last[7]!, here[11]! - last[11]!);
    last = here;
  }
  context.path.spend(length_m);
  return plan;
}
