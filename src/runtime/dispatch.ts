import type { StatusCode } from "../contract/generated/robot-api.js";
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

/** What makes of a result what is documented, or throws. */
type Conform = (result: unknown) => unknown;

const conformOf = (operation: string, implementation?: OperationImplementation): Conform => {
  if (implementation?.kind === "function") return implementation.conform;
  return isOperationName(operation) ? (value) => validateResult(operation, value) : (value) => value;
};

/** The outcome of an operation that gave `fields`. */
export function succeeded(
  operation: string,
  fields: Record<string, unknown>,
  implementation?: OperationImplementation,
): CallOutcome {
  if (returnsString(operation)) return { value: fields.path };
  const { message = "", ...others } = fields;
  const exact = implementation?.kind === "function" && implementation.exact === true;
  const given = { status: "ok" satisfies StatusCode, message, ...others };
  const value = exact ? given : roundNumbers(given);
  return { value: conformOf(operation, implementation)(value) };
}

/** The outcome of an operation that ended with an error. */
export function failed(operation: string, error: unknown, implementation?: OperationImplementation): CallOutcome {
  const failure = toFailure(error);
  if (returnsString(operation)) return { error: { code: failure.status, message: failure.message } };
  const value = roundNumbers({ status: failure.status, message: failure.message, ...failure.fields });
  return { value: conforming(value, conformOf(operation, implementation)) };
}

/** A failed result as documented; fields that do not fit are dropped and said, since the failure itself must reach the caller. */
function conforming(value: { status: string; message: string }, conform: Conform): unknown {
  try {
    return conform(value);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return {
      status: "internal_error" satisfies StatusCode,
      message: `${value.status}: ${value.message} (and its result is not as the contract says: ${why})`,
    };
  }
}
