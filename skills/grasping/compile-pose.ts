import type { CompilePoseRequest } from "../../src/contract/generated/robot-api.js";
import type { OperationContext } from "../../src/runtime/operation-context.js";
import { compileGrasp } from "./compile-grasp.js";
import { compilePlace } from "./compile-place.js";

export function compilePose(context: OperationContext, request: CompilePoseRequest): Promise<Record<string, unknown>> {
  return request.mode === "grasp" ? compileGrasp(context, request) : compilePlace(context, request);
}
