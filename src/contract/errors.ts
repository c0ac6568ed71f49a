import type { ErrorCode } from "./error-codes.js";

export type Skill2RealErrorOptions = { cause?: unknown; details?: Record<string, unknown> };

/**
 * The one error of this package. `code` is stable and listed in `ERROR_CODES`; the message names the
 * value, the limit and what to do next.
 */
export class Skill2RealError extends Error {
  readonly code: ErrorCode;
  readonly details: Record<string, unknown>;

  constructor(code: ErrorCode, message: string, options: Skill2RealErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "Skill2RealError";
    this.code = code;
    this.details = options.details ?? {};
  }
}

/** True for an error of this package, optionally one with the given code. */
export function isSkill2RealError(error: unknown, code?: ErrorCode): error is Skill2RealError {
  return error instanceof Skill2RealError && (code === undefined || error.code === code);
}
