import { moving, type OperationTable } from "../../src/runtime/operation.js";
import { followPath } from "./follow-path.js";
import { gotoHome } from "./goto-home.js";
import { gotoPose } from "./goto-pose.js";

export const operations: OperationTable = {
  goto_pose: moving(gotoPose),
  follow_path: moving(followPath),
  goto_home: moving(gotoHome),
};
