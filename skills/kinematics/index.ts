import type { ArmMode } from "../../src/contract/generated/device.js";
import type { ArmModeName, GetRobotStateRequest } from "../../src/contract/generated/robot-api.js";
import { OperationFailure, type OperationTable, plain } from "../../src/runtime/operation.js";
import { toPose } from "../../src/runtime/transforms.js";

const MODES: Record<ArmMode, ArmModeName> = {
  ARM_MODE_UNSPECIFIED: "faulted",
  IDLE: "idle",
  MOVING: "moving",
  STOPPED: "stop_latched",
  PROTECTIVE_STOP: "protective_stopped",
  FAULT: "faulted",
  DISCONNECTED: "disconnected",
};

export const operations: OperationTable = {
  get_robot_state: plain<GetRobotStateRequest>(async (context, request) => {
    const arm = context.arms.get(request.arm);
    const reply = await context.state();
    const state = reply.arms.find((entry) => entry.name === arm.name);
    if (!state) throw new OperationFailure("internal_error", `the backend reports no state of arm "${arm.name}"`);
    return {
      arms: context.arms.names,
      arm: arm.name,
      tcp_pose: toPose(state.X_world_tcp),
      joints_rad: state.q_rad,
      tcp_wrench: state.tcp_wrench,
      mode: MODES[state.mode],
      workspace: {
        min_xyz: context.limits.min_xyz,
        max_xyz: context.limits.max_xyz,
        table_z: context.limits.table_z_m,
      },
      steps_left: context.device.capabilities.features.includes("step_limit") ? reply.steps_left : null,
    };
  }),
};
