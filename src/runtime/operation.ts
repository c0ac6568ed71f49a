import type { Motion, MotionStatus } from "../contract/generated/device.js";
import type { StatusCode } from "../contract/generated/robot-api.js";
import type { Init } from "../contract/wire/init.js";
import type { OperationContext } from "./operation-context.js";
import type { SkillContext } from "./skill-context.js";

export type FailureStatus = Exclude<StatusCode, "ok">;

/** Ends an operation with a status other than ok. `fields` are those that a failed result may hold. */
export class OperationFailure extends Error {
  readonly status: FailureStatus;
  readonly fields: Record<string, unknown>;

  constructor(status: FailureStatus, message: string, fields: Record<string, unknown> = {}) {
    super(message);
    this.name = "OperationFailure";
    this.status = status;
    this.fields = fields;
  }
}

/** An operation that moves nothing: gives the fields beside status and message. */
export type PlainOperation = (context: OperationContext, request: never) => Promise<Record<string, unknown>>;

/** How one motion of a group ended, with the state right after it. */
export type MotionOutcome = {
  status: MotionStatus;
  /** Times and positions that were really sent, after stretching to the group's duration. */
  stretch: number;
};

/** What a moving operation wants done, and what it makes of how that ended. */
export type MotionIntent = {
  /** The arm whose trajectory, or whose gripper's, this is. */
  arm: string;
  motion: Init<Motion>;
  duration_s: number;
  finish(outcome: MotionOutcome): Promise<Record<string, unknown>>;
};

/** An operation that moves: plans first; the runtime executes the intents of one turn as one group. */
export type MovingOperation = (context: OperationContext, request: never) => Promise<MotionIntent>;

export type {
  Comparer,
  Finder,
  NamedImage,
  ObservedImage,
  PublicImage,
  SeenThing,
  SkillContext,
  SkillResult,
  SkillServices,
} from "./skill-context.js";

/**
 * A function of an optional skill. `check` gives the request as documented or throws OperationFailure `invalid_argument`;
 * `conform` gives a result as documented or throws. One that moves is a composition of operations, run by the session.
 */
export type SkillFunction = {
  kind: "function";
  moves: boolean;
  /** Its numbers are nobody's measurements: they are given as they are. */
  exact?: boolean;
  check(request: unknown): unknown;
  conform(result: unknown): unknown;
  run(context: SkillContext, request: never): Promise<Record<string, unknown>>;
};

export type OperationImplementation =
  | { kind: "plain"; run: PlainOperation }
  | { kind: "moving"; plan: MovingOperation }
  | SkillFunction;
export type OperationTable = Record<string, OperationImplementation>;

export const plain = <Q>(
  run: (context: OperationContext, request: Q) => Promise<Record<string, unknown>>,
): OperationImplementation => ({ kind: "plain", run: run as PlainOperation });
export const moving = <Q>(
  plan: (context: OperationContext, request: Q) => Promise<MotionIntent>,
): OperationImplementation => ({ kind: "moving", plan: plan as MovingOperation });
