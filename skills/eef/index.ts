import { fromPose, toPose } from "../../src/runtime/transforms.js";
import { framesOf, moveTo, turned } from "./relative-goal.js";
import type { SkillFunctions } from "./skill.gen.js";

export const functions: SkillFunctions = {
  move_tcp: async (context, request) => {
    const { pose, axes } = await framesOf(context, request);
    const [x, y, z] = request.translation;
    const along = (row: number): number => axes[row]![0]! * x + axes[row]![1]! * y + axes[row]![2]! * z;
    return moveTo(context, request, { ...pose, x: pose.x + along(0), y: pose.y + along(1), z: pose.z + along(2) });
  },
  turn_tcp: async (context, request) => {
    const { pose, axes } = await framesOf(context, request);
    const X_world_tcp = fromPose(pose);
    if (!X_world_tcp) return context.fail("internal_error", "the measured pose of the TCP has no orientation");
    return moveTo(context, request, toPose(turned(X_world_tcp, axes, request.axis, request.angle_rad)));
  },
};
