import type { GetGripperStateRequest, GripperControl } from "../../src/contract/generated/robot-api.js";
import { moving, OperationFailure, type OperationTable, plain } from "../../src/runtime/operation.js";
import { compilePose } from "./compile-pose.js";
import { gripperGoto } from "./gripper-goto.js";

export const operations: OperationTable = {
  get_gripper_state: plain<GetGripperStateRequest>(async (context, request) => {
    const arm = context.arms.get(request.arm);
    if (!arm.gripper) throw new OperationFailure("unsupported", `arm "${arm.name}" has no gripper`);
    const { opening_m, force_n, moving, stalled } = await context.gripperState(arm);
    const { max_opening_m, control, measured } = arm.gripper;
    return { opening_m, max_opening_m, control: control as GripperControl, measured, force_n, moving, stalled };
  }),
  compile_pose: plain(compilePose),
  gripper_goto: moving(gripperGoto),
};
