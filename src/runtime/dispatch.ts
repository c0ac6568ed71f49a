import type { OperationName, StatusCode } from "../contract/generated/robot-api.js";
import { OPERATIONS } from "../contract/generated/robot-api-dispatch.js";
import { isOperationName, validateRequest, validateResult } from "../contract/validate-request.js";
import { toFailure } from "./failures.js";
import { OperationFailure, type OperationImplementation, type OperationTable } from "./operation.js";
import { roundNumbers } from "./rounding.js";

/** What a call gives: a result object or string, or (for operations that give a string) a RobotError. */
export type CallOutcome = { value: unknown } | { error: { code: string; message: string } };

export type CheckedCall = { operation: string; implementation: OperationImplementation; request: never };

/** Finds the operation and checks its request; throws `invalid_argument` naming the value, its limit and the mend. */
export function checkCall(table: OperationTable, operation: string, args: readonly unknown[]): CheckedCall {
  const implementation = table[operation];
  if (!implementation) throw new OperationFailure("invalid_argument", `there is no operation "${operation}"`);
  if (args.length > 1)
    throw new OperationFailure(
      "invalid_argument",
      `${operation} takes one request object, not ${args.length} arguments`,
    );
  if (implementation.kind === "function")
    return { operation, implementation, request: implementation.check(args[0] ?? {}) as never };
  const checked = validateRequest(operation, args[0] ?? {});
  if (!checked.ok) throw new OperationFailure("invalid_argument", checked.message);
  return { operation, implementation, request: checked.request as never };
}

const returnsString = (operation: string): boolean =>
  OPERATIONS.find((entry) => entry.name === operation)?.returnsString ?? false;

/** The outcome of an operation that gave `fields`. */
export function succeeded(operation: string, fields: Record<string, unknown>): CallOutcome {
  if (returnsString(operation)) return { value: fields.path };
  const { message = "", ...others } = fields;
  const value = roundNumbers({ status: "ok" satisfies StatusCode, message, ...others });
  return { value: isOperationName(operation) ? validateResult(operation, value) : value };
}

/** The outcome of an operation that ended with an error. */
export function failed(operation: string, error: unknown): CallOutcome {
  const failure = toFailure(error);
  if (returnsString(operation)) return { error: { code: failure.status, message: failure.message } };
  const value = roundNumbers({ status: failure.status, message: failure.message, ...failure.fields });
  return { value: isOperationName(operation) ? conforming(operation, value) : value };
}

/** A failed result as the contract has it; fields that do not fit are dropped and said, since the failure itself must reach the caller. */
function conforming(operation: OperationName, value: { status: string; message: string }): unknown {
  try {
    return validateResult(operation, value);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return {
      status: "internal_error" satisfies StatusCode,
      message: `${value.status}: ${value.message} (and its result is not as the contract says: ${why})`,
    };
  }
}
