import type { CompilePoseRequest } from "../../src/contract/generated/robot-api.js";
import type { CompileCode, CompileFailure } from "../../src/runtime/native/pose.js";
import { type FailureStatus, OperationFailure } from "../../src/runtime/operation.js";
import type { OperationContext } from "../../src/runtime/operation-context.js";
import { compileGrasp } from "./compile-grasp.js";
import { compilePlace } from "./compile-place.js";

const STATUS: Record<CompileCode, FailureStatus> = {
  unreachable: "unreachable",
  joint_limit: "joint_limit",
  not_linear: "not_linear",
  collision: "collision",
  object_too_wide: "object_too_wide",
  object_too_low: "collision",
  no_support: "no_support",
  bad_axis: "invalid_argument",
};

/** Why nothing was compiled, as a status. */
export function compileFailure(failure: CompileFailure): OperationFailure {
  const zone = failure.status === "collision" && failure.hit?.against.startsWith("zone ");
  return new OperationFailure(zone ? "forbidden_zone" : STATUS[failure.status], failure.reason);
}

export function compilePose(context: OperationContext, request: CompilePoseRequest): Promise<Record<string, unknown>> {
  return request.mode === "grasp" ? compileGrasp(context, request) : compilePlace(context, request);
}
