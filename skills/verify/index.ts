import type { GetCurrentImagePathRequest } from "../../src/contract/generated/robot-api.js";
import { OperationFailure, type OperationTable, plain } from "../../src/runtime/operation.js";
import type { OperationContext } from "../../src/runtime/operation-context.js";
import { compareImages } from "./compare-images.js";
import type { SkillFunctions } from "./skill.gen.js";

/** Name under which the images of a view are noted. */
function viewKey(context: OperationContext, { view, arm }: GetCurrentImagePathRequest): string {
  if (view !== "wrist" && arm !== undefined)
    throw new OperationFailure("invalid_argument", `arm belongs to the wrist view alone; leave it out for "${view}"`);
  return view === "wrist" ? `wrist_${context.arms.get(arm).name}` : view;
}

export const operations: OperationTable = {
  get_current_image_path: plain<GetCurrentImagePathRequest>(async (context, request) => {
    const path = context.images.newest(viewKey(context, request));
    if (path === null)
      throw new OperationFailure("no_image", `no image of the ${request.view} view was taken yet: take one first`);
    return { path };
  }),
  get_previous_image_path: plain<GetCurrentImagePathRequest>(async (context, request) => {
    const path = context.images.newest(viewKey(context, request), context.stage.stage);
    if (path === null)
      throw new OperationFailure("no_image", `no image of the ${request.view} view is from before this stage`);
    return { path };
  }),
};

export const functions: SkillFunctions = { compare_images: compareImages };
