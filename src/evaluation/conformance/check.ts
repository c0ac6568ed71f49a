import type { ConformanceContext } from "./context.js";

/** What a backend must have for a check to make sense; where it lacks it, the check is skipped and says so. */
export type Requirement =
  | "sim_clock"
  | "wall_clock"
  | "privileged"
  | "motion"
  | "gripper"
  | "cameras"
  | "stereo"
  | "fresh_process";

export type Check = {
  /** Unique, snake_case. */
  name: string;
  /** Why a backend must be so: what goes wrong for a program or a person where it is not. */
  reason: string;
  needs?: readonly Requirement[];
  /** Throws `CheckFailed` (or anything) where the backend does not conform. */
  run: (ctx: ConformanceContext) => Promise<void>;
};

export type CheckGroup = { group: string; checks: readonly Check[] };

/** A backend did not do what the protocol says; the message holds what it did. */
export class CheckFailed extends Error {}

/** Thrown by a check that turns out to have nothing to look at on this backend. */
export class CheckSkipped extends Error {}

export function ensure(condition: unknown, message: string | (() => string)): asserts condition {
  if (!condition) throw new CheckFailed(typeof message === "string" ? message : message());
}

export function ensureNear(value: number, expected: number, tolerance: number, what: string): void {
  ensure(
    Math.abs(value - expected) <= tolerance,
    () => `${what} is ${value}, which is not within ${tolerance} of ${expected}`,
  );
}
