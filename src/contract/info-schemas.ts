import { z } from "zod";
import { describeIssues } from "./describe-issues.js";
import { Skill2RealError } from "./errors.js";
import type { FieldInfo, FunctionInfo, RequestInfo } from "./operation-info.js";
import { above, jsonValue, needs, nonzero, normalised, unitQuaternion } from "./schema-rules.js";
import { type RequestCheck, tooLong } from "./validate-request.js";

type Direction = "request" | "response";
type Check = Parameters<z.ZodType["check"]>[0];

function bounded(schema: z.ZodNumber, { min, max }: FieldInfo): z.ZodNumber {
  const least = min === undefined ? schema : schema.min(min);
  return max === undefined ? least : least.max(max);
}

function elementSchema(field: FieldInfo, direction: Direction): z.ZodType {
  switch (field.kind) {
    case "number":
      return bounded(z.number(), field);
    case "integer":
      return bounded(field.unsigned ? z.uint32() : z.int32(), field);
    case "boolean":
      return z.boolean();
    case "json":
      return jsonValue;
    case "choice":
      return z.enum(field.values ?? []);
    case "object":
      return objectSchema(field.fields ?? [], direction, {}, field.unitQuaternion);
    case "string": {
      let schema = z.string();
      if (field.repeated) return schema;
      if (field.minLength !== undefined) schema = schema.min(field.minLength);
      return field.maxLength === undefined ? schema : schema.max(field.maxLength);
    }
  }
}

function listSchema(field: FieldInfo, element: z.ZodType): z.ZodType {
  if (field.length !== undefined)
    return z.tuple(Array<z.ZodType>(field.length).fill(element) as [z.ZodType, ...z.ZodType[]]);
  let list = z.array(element);
  if (field.minLength !== undefined) list = list.min(field.minLength);
  return field.maxLength === undefined ? list : list.max(field.maxLength);
}

function fieldSchema(field: FieldInfo, direction: Direction): z.ZodType {
  const element = elementSchema(field, direction);
  let schema = field.repeated ? listSchema(field, element) : element;
  if (field.nonzero) schema = schema.check(nonzero as Check);
  if (field.repeated && direction === "request") schema = schema.readonly();
  if (field.nullable && field.kind !== "json") schema = schema.nullable();
  return field.optional ? schema.optional() : schema;
}

function objectSchema(
  fields: readonly FieldInfo[],
  direction: Direction,
  head: Record<string, z.ZodType> = {},
  quaternion = false,
): z.ZodObject {
  let schema = z.strictObject({
    ...head,
    ...Object.fromEntries(fields.map((field) => [field.name, fieldSchema(field, direction)])),
  });
  for (const field of fields) {
    if (field.above !== undefined) schema = schema.check(above(field.name, field.above) as unknown as Check);
    if (field.needs !== undefined) schema = schema.check(needs(field.name, field.needs) as unknown as Check);
  }
  if (quaternion) schema = schema.check(unitQuaternion as unknown as Check);
  return quaternion && direction === "request"
    ? (schema.overwrite(
        normalised as unknown as (value: Record<string, unknown>) => Record<string, unknown>,
      ) as typeof schema)
    : schema;
}

function messageSchema(info: RequestInfo, direction: Direction, head: Record<string, z.ZodType> = {}): z.ZodType {
  if ("fields" in info) return objectSchema(info.fields, direction, head);
  const options = info.variants.map(({ value, fields }) =>
    objectSchema(fields, direction, { ...head, [info.discriminator]: z.literal(value) }),
  );
  return z.discriminatedUnion(info.discriminator, options as [z.ZodObject, ...z.ZodObject[]]);
}

/** The schema of a request, from what its .proto says of its fields: as strict as those of the contract's operations. */
export const requestSchema = (info: RequestInfo): z.ZodType => messageSchema(info, "request");

/** The schema of a result with its status and message: that of success, or one of the failures with what may go with them. */
export function resultSchema(info: RequestInfo, statuses: readonly string[]): z.ZodType {
  const head = { message: z.string() };
  const ok = messageSchema(info, "response", { status: z.literal("ok"), ...head });
  const kept = "fields" in info ? info.fields.filter(({ onFailure }) => onFailure) : [];
  const failed = objectSchema(
    kept.map((field) => ({ ...field, optional: true })),
    "response",
    { status: z.enum(statuses), ...head },
  );
  return z.discriminatedUnion("status", [ok as z.ZodObject, failed]);
}

/** Checks of one function, made once. */
export type FunctionChecks = {
  request(value: unknown): RequestCheck<unknown>;
  /** Gives the result, or throws Skill2RealError `internal` where it is not what the function documents. */
  result(value: unknown): unknown;
};

export function functionChecks(info: FunctionInfo): FunctionChecks {
  const asked = requestSchema(info.request);
  const given = resultSchema(info.result, info.statuses);
  return {
    request(value) {
      const long = tooLong(info.request, value);
      if (long !== undefined) return { ok: false, message: `${info.name}: ${long}` };
      const parsed = asked.safeParse(value);
      if (parsed.success) return { ok: true, request: parsed.data };
      const words = describeIssues(asked, value, parsed.error.issues, "the request");
      return { ok: false, message: `${info.name}: ${words}` };
    },
    result(value) {
      const parsed = given.safeParse(value);
      if (parsed.success) return parsed.data;
      const words = describeIssues(given, value, parsed.error.issues, "the result");
      throw new Skill2RealError("internal", `${info.name} gave a result that it does not document: ${words}`);
    },
  };
}
