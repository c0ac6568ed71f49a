import type { ErrorCode } from "../../contract/error-codes.js";
import { Skill2RealError } from "../../contract/errors.js";
import type { DeviceError, DeviceErrorCode } from "../../contract/generated/device.js";

const HOST_CODES: Partial<Record<DeviceErrorCode, ErrorCode>> = {
  ERROR_MALFORMED: "protocol_mismatch",
  ERROR_TOO_LARGE: "protocol_mismatch",
  ERROR_PROTOCOL_VERSION: "protocol_mismatch",
  ERROR_DEADLINE: "deadline_exceeded",
  // The process that knew the session is gone; another one answers at its address.
  ERROR_UNKNOWN_SESSION: "backend_lost",
  ERROR_DIVERGED: "diverged",
};

/** A backend's refusal as our error; `details.device_code` keeps the protocol's code. */
export function refusal(verb: string, error: DeviceError): Skill2RealError {
  return new Skill2RealError(
    HOST_CODES[error.code] ?? "backend_refused",
    `the backend refused ${verb} with ${error.code}: ${error.message}`,
    { details: { device_code: error.code, verb } },
  );
}

/** The protocol's code of a refusal, or undefined for any other error. */
export function deviceCodeOf(error: unknown): DeviceErrorCode | undefined {
  if (!(error instanceof Skill2RealError)) return undefined;
  return error.details.device_code as DeviceErrorCode | undefined;
}
