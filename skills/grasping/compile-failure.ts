import type { CompileCode, CompileFailure } from "../../src/runtime/native/pose.js";
import { type FailureStatus, OperationFailure } from "../../src/runtime/operation.js";

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
