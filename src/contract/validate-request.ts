import { describeIssues } from "./describe-issues.js";
import { Skill2RealError } from "./errors.js";
import type { OperationName, RobotApiRequests, RobotApiResults } from "./generated/robot-api.js";
import { OPERATION_NAMES, OPERATIONS, REQUEST_SCHEMAS, RESULT_SCHEMAS } from "./generated/robot-api-dispatch.js";
import type { FieldInfo, OperationInfo, RequestInfo } from "./operation-info.js";
import { suggest } from "./suggest.js";

export type RequestCheck<Request> = { ok: true; request: Request } | { ok: false; message: string };

const BY_NAME: ReadonlyMap<string, OperationInfo> = new Map(OPERATIONS.map((info) => [info.name, info]));

/** What is known of an operation; undefined where there is none of that name. */
export const findOperation = (name: string): OperationInfo | undefined => BY_NAME.get(name);

/** Whether a name is that of one of the operations. */
export const isOperationName = (name: string): name is OperationName => BY_NAME.has(name);

function fieldsOf(info: RequestInfo, value: Record<string, unknown>): readonly FieldInfo[] {
  if ("fields" in info) return info.fields;
  return info.variants.find((variant) => variant.value === value[info.discriminator])?.fields ?? [];
}

/** Refuses a list that is too long before its elements are looked at, so that a huge one costs nothing. */
export function tooLong(info: RequestInfo, value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  for (const field of fieldsOf(info, value as Record<string, unknown>)) {
    const inner = (value as Record<string, unknown>)[field.name];
    const most = field.length ?? field.maxLength;
    if (!field.repeated || most === undefined || !Array.isArray(inner) || inner.length <= most) continue;
    const wanted = field.length === undefined ? `${field.minLength ?? 0} to ${most}` : `exactly ${most}`;
    return `${field.name} is a list of ${inner.length} elements; it must be a list of ${wanted} elements.`;
  }
  return undefined;
}

/**
 * Checks the request of an operation. The message of a refusal begins with the operation's name and holds the value's path,
 * the value, its limit and, for a misspelled key, the nearest known one. A request that is left out counts as `{}`.
 * Quaternions of an accepted request are normalised.
 */
export function validateRequest<N extends OperationName>(
  operation: N,
  value: unknown,
): RequestCheck<RobotApiRequests[N]>;
export function validateRequest(operation: string, value: unknown): RequestCheck<RobotApiRequests[OperationName]>;
export function validateRequest(operation: string, value: unknown = {}): RequestCheck<RobotApiRequests[OperationName]> {
  const info = findOperation(operation);
  if (!info) {
    return { ok: false, message: `there is no operation "${operation}".${suggest(operation, OPERATION_NAMES)}` };
  }
  const long = tooLong(info.request, value);
  if (long !== undefined) return { ok: false, message: `${info.name}: ${long}` };
  const schema = REQUEST_SCHEMAS[info.name];
  const parsed = schema.safeParse(value);
  if (parsed.success) return { ok: true, request: parsed.data };
  return { ok: false, message: `${info.name}: ${describeIssues(schema, value, parsed.error.issues, "the request")}` };
}

/** Checks what an implementation gives (with its status and message); throws `internal` where it is not what the contract says. */
export function validateResult<N extends OperationName>(operation: N, value: unknown): RobotApiResults[N];
export function validateResult(operation: OperationName, value: unknown): RobotApiResults[OperationName] {
  const schema = RESULT_SCHEMAS[operation];
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const message = describeIssues(schema, value, parsed.error.issues, "the result");
  throw new Skill2RealError("internal", `${operation} gave a result that the contract does not allow: ${message}`);
}
