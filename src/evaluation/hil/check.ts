import type { HilContext } from "./context.js";

export { CheckFailed, CheckSkipped, ensure, ensureNear } from "../conformance/check.js";

/** What a rig must have for a check to make sense; where it lacks it, the check is skipped and says so. */
export type HilNeed =
  /** Something is broken on purpose, or seen from inside an emulator. */
  | "emulated"
  | "gripper"
  | "cameras"
  /** A camera that rides on the tool. */
  | "tool_camera"
  /** A camera that stands on the bench. */
  | "bench_camera"
  /** Work surface in view from the look pose. */
  | "topdown";

export type HilCheck = {
  /** Unique in its group, snake_case. */
  name: string;
  /** What goes wrong at a bench where it is not so. */
  reason: string;
  needs?: readonly HilNeed[];
  /** True where arm or gripper move. */
  moves?: boolean;
  /** Devices are in an unusual state afterwards: they are put back and opened anew. */
  breaks?: boolean;
  /** Throws `CheckFailed` (or anything) where the rig is not so. */
  run: (ctx: HilContext) => Promise<void>;
};

export type HilGroup = { group: string; about: string; checks: readonly HilCheck[] };

/** A value that a check measured. */
export type Measurement = {
  name: string;
  value: number;
  unit: string;
  /** What it should not exceed; a timing beyond its limit makes the check slow, not failed. */
  limit?: number;
};
