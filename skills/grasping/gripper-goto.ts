import type { GripperGotoRequest } from "../../src/contract/generated/robot-api.js";
import { type MotionIntent, OperationFailure } from "../../src/runtime/operation.js";
import type { OperationContext } from "../../src/runtime/operation-context.js";
import { stopReason } from "../motion/run-trajectory.js";

const REACHED_M = 0.003;

export async function gripperGoto(context: OperationContext, request: GripperGotoRequest): Promise<MotionIntent> {
  const arm = context.arms.get(request.arm);
  if (!arm.gripper || arm.gripper.control === "none")
    throw new OperationFailure("unsupported", `arm "${arm.name}" has no gripper that can be commanded`);
  const { max_opening_m, max_force_n, max_speed_m_s } = arm.gripper;
  if (request.opening_m > max_opening_m + 1e-6)
    throw new OperationFailure(
      "invalid_argument",
      `opening_m is ${request.opening_m}; this gripper opens to ${max_opening_m} m`,
    );
  if (request.force_n !== undefined && request.force_n > max_force_n)
    throw new OperationFailure(
      "invalid_argument",
      `force_n is ${request.force_n}; this gripper closes with at most ${max_force_n} N`,
    );
  await context.armState(arm);
  const start = await context.gripperState(arm);
  const closing = request.opening_m < start.opening_m - 1e-4;
  return {
    arm: arm.name,
    duration_s: Math.abs(start.opening_m - request.opening_m) / max_speed_m_s,
    motion: {
      gripper_move: { arm: arm.name, opening_m: request.opening_m, force_n: request.force_n ?? 0, speed_m_s: 0 },
    },
    finish: async ({ status }) => {
      if (context.device.lost)
        throw new OperationFailure("backend_lost", "the backend stopped answering while the gripper moved");
      const { arms, grippers, stop_reason: cause } = await context.state();
      const why = cause === "" ? "" : ` (${cause})`;
      const now = grippers.find((entry) => entry.arm === arm.name);
      const tcp = arms.find((entry) => entry.name === arm.name);
      if (!now || !tcp)
        throw new OperationFailure("internal_error", `the backend reports no state of arm "${arm.name}"`);
      const fields = { opening_m: now.opening_m, stop_reason: stopReason(status.end_reason) };
      if (!closing && now.opening_m > start.opening_m + 1e-3 && context.held.clear(arm.name))
        context.observations.noteChange(`arm "${arm.name}" released what it held`);
      switch (status.end_reason) {
        case "END_COMPLETED":
          if (Math.abs(now.opening_m - request.opening_m) > REACHED_M)
            throw new OperationFailure("not_reached", `the gripper stands at ${now.opening_m.toFixed(4)} m`, fields);
          if (closing) context.held.clear(arm.name);
          return fields;
        case "END_STALLED":
          if (!closing)
            throw new OperationFailure(
              "not_reached",
              `something keeps the gripper from opening beyond ${now.opening_m.toFixed(4)} m`,
              fields,
            );
          context.held.grasped(arm.name, tcp.X_world_tcp, now.opening_m, now.time_s);
          context.observations.noteChange(`arm "${arm.name}" closed on something`);
          return fields;
        case "END_STOPPED":
          throw new OperationFailure(
            "stopped",
            `a stop was latched while the gripper moved${why}; it keeps its grip`,
            fields,
          );
        case "END_PROTECTIVE_STOP":
        case "END_FAULT":
          throw new OperationFailure(
            "protective_stop",
            `arm or gripper stopped itself while the gripper moved${why}; a person must look`,
            fields,
          );
        case "END_TIMEOUT":
          throw new OperationFailure("timeout", "the gripper did not get to its target in its time", fields);
        default:
          throw new OperationFailure("not_reached", `the gripper's motion ended early (${fields.stop_reason})`, fields);
      }
    },
  };
}
