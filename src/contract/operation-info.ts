import type { OperationName, StatusCode } from "./generated/robot-api.js";

/** One field of a request, as the contract declares it. */
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
