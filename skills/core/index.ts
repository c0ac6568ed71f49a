import type { GetWristStereoViewRequest } from "../../src/contract/generated/robot-api.js";
import { type OperationTable, plain } from "../../src/runtime/operation.js";
import { takeView } from "./take-view.js";

export const operations: OperationTable = {
  get_topdown_stereo_view: plain((context) => takeView(context, "topdown")),
  get_scene_stereo_view: plain((context) => takeView(context, "scene")),
  get_wrist_stereo_view: plain<GetWristStereoViewRequest>((context, { arm }) =>
    takeView(context, "wrist", context.arms.get(arm)),
  ),
};
