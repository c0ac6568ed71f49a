import { isSkill2RealError } from "../contract/errors.js";
import { OperationFailure } from "./operation.js";

const DEVICE_STATUS: Record<
  string,
  "stopped" | "protective_stop" | "busy" | "unsupported" | "camera_failed" | "timeout"
> = {
  ERROR_STOP_EPOCH: "stopped",
  ERROR_FAULT: "protective_stop",
  ERROR_BUSY: "busy",
  ERROR_UNSUPPORTED: "unsupported",
  ERROR_CAMERA: "camera_failed",
  ERROR_DEADLINE: "timeout",
};

/**
 * What any error that ends an operation means as a status. A replay's divergence and the end of an episode's budget have none,
 * for no program can do anything about them: they are thrown on, to whoever plays the episode.
 */
export function toFailure(error: unknown): OperationFailure {
  if (isSkill2RealError(error, "diverged") || isSkill2RealError(error, "budget_ended")) throw error;
  if (error instanceof OperationFailure) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (isSkill2RealError(error, "backend_lost") || isSkill2RealError(error, "session_closed"))
    return new OperationFailure("backend_lost", message);
  if (isSkill2RealError(error, "stopped")) return new OperationFailure("stopped", message);
  if (isSkill2RealError(error, "backend_refused")) {
    const status = DEVICE_STATUS[String(error.details.device_code)];
    if (status) return new OperationFailure(status, message);
  }
  return new OperationFailure("internal_error", message);
}
