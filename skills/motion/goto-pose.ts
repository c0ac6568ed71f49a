import type { GotoPoseRequest, MotionKind } from "../../src/contract/generated/robot-api.js";
import type { ArmRuntime } from "../../src/runtime/arms.js";
import type { PlanCommon, PlanResult } from "../../src/runtime/native/pose.js";
import { type MotionIntent, OperationFailure } from "../../src/runtime/operation.js";
import type { OperationContext } from "../../src/runtime/operation-context.js";
import { difference, toPose } from "../../src/runtime/transforms.js";
import { goalTransform, planCommon, trajectoryOf } from "./plan-context.js";
import { runTrajectory } from "./run-trajectory.js";

/** A completed motion that ends farther off than this has not reached its goal. */
const REACHED_M = 0.003;
const REACHED_RAD = 0.02;

type Chosen = { plan: PlanResult; motion_used: MotionKind };

/** The straight way where it fits; in joint space only for an arm that neither holds nor touches anything. */
async function choosePlan(
  context: OperationContext,
  arm: ArmRuntime,
  motion: MotionKind,
  X_world_goal: number[],
  common: PlanCommon,
  speed: number,
): Promise<Chosen> {
  const linear = (): Promise<PlanResult> =>
    arm.kinematics.planLinear({ ...common, ...context.limits.cartesian(speed), X_world_goal });
  const joint = (): Promise<PlanResult> =>
    arm.kinematics.planJoint({ ...common, ...context.limits.joint(speed), X_world_goal });
  if (motion === "linear") return { plan: await linear(), motion_used: "linear" };
  if (motion === "joint") return { plan: await joint(), motion_used: "joint" };
  const straight = await linear();
  const mustBeStraight = context.held.get(arm.name) !== null;
  if (straight.status === "ok" || straight.status === "unreachable" || mustBeStraight)
    return { plan: straight, motion_used: "linear" };
  return { plan: await joint(), motion_used: "joint" };
}

export async function gotoPose(context: OperationContext, request: GotoPoseRequest): Promise<MotionIntent> {
  const arm = context.arms.get(request.arm);
  const X_world_goal = goalTransform(context, request.pose, "pose");
  const { common } = await planCommon(context, arm);
  const { plan, motion_used } = await choosePlan(
    context,
    arm,
    request.motion ?? "auto",
    X_world_goal,
    common,
    request.speed ?? 1,
  );
  const trajectory = trajectoryOf(context, arm, plan);
  return runTrajectory(context, arm, trajectory, {
    contact_stop: request.contact_stop,
    onFailure: ({ state }) => ({ reached_pose: toPose(state.X_world_tcp) }),
    finish: async ({ state, stop_reason }) => {
      const { distance_m, angle_rad } = difference(X_world_goal, state.X_world_tcp);
      if (stop_reason === "completed" && (distance_m > REACHED_M || angle_rad > REACHED_RAD)) {
        throw new OperationFailure(
          "not_reached",
          `the arm stands ${(1e3 * distance_m).toFixed(1)} mm and ${(1e3 * angle_rad).toFixed(1)} mrad from the goal; something holds it back`,
          {
            reached_pose: toPose(state.X_world_tcp),
            stop_reason,
          },
        );
      }
      return {
        reached_pose: toPose(state.X_world_tcp),
        motion_used,
        error_m: distance_m,
        error_rad: angle_rad,
        stop_reason,
      };
    },
  });
}
