import type { OperationName, StatusCode } from "./generated/robot-api.js";

/** One field of a request or result, as the contract declares it. */
export type FieldInfo = {
  readonly name: string;
  readonly kind: "number" | "integer" | "string" | "boolean" | "json" | "choice" | "object";
  readonly type: string;
  readonly documentation: string;
  readonly optional: boolean;
  readonly repeated: boolean;
  readonly length?: number;
  readonly min?: number;
  readonly max?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  /** The values of a choice. */
  readonly values?: readonly string[];
  /** The fields of an object. */
  readonly fields?: readonly FieldInfo[];
  /** A whole number that is not below 0. */
  readonly unsigned?: boolean;
  /** A vector that must have a length. */
  readonly nonzero?: boolean;
  readonly nullable?: boolean;
  /** Another field of the same object that this one must be greater than. */
  readonly above?: string;
  /** Another field of the same object without which this one may not be given. */
  readonly needs?: string;
  /** A failed result may hold it too. */
  readonly onFailure?: boolean;
  /** An object whose qx qy qz qw must have norm 1. */
  readonly unitQuaternion?: boolean;
};

/** A request's fields; where a discriminator chooses among several sets of fields, those sets. */
export type RequestInfo =
  | { readonly name: string; readonly fields: readonly FieldInfo[] }
  | {
      readonly name: string;
      readonly discriminator: string;
      readonly variants: readonly { readonly value: string; readonly fields: readonly FieldInfo[] }[];
    };

/** What the dispatch table says of one operation. */
export type OperationInfo = {
  readonly name: OperationName;
  readonly number: number;
  /** The required skill whose folder holds its code. */
  readonly skill: string;
  /** Whether it moves the arm or the gripper. */
  readonly moves: boolean;
  /** Whether it gives a plain string, and throws where there is none. */
  readonly returnsString: boolean;
  /** Every code that it may give beside "ok", common ones first. */
  readonly statuses: readonly StatusCode[];
  readonly signature: string;
  readonly summary: string;
  readonly documentation: string;
  readonly example: string;
  readonly request: RequestInfo;
};

/** What is known of a function of an optional skill. Its result's fields are those beside status and message. */
export type FunctionInfo = Omit<OperationInfo, "name" | "number" | "returnsString"> & {
  readonly name: string;
  readonly result: RequestInfo;
  /** Of a function that no .proto declares: the JSON schema of its request. */
  readonly request_schema?: Readonly<Record<string, unknown>>;
};
