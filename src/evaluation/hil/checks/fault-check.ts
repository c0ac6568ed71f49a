import type { HilCheck } from "../check.js";
import { type FaultTrial, tryFault } from "../fault-trial.js";

/** A check that breaks one thing during a program's motion. */
export const faultCheck = (name: string, reason: string, trial: FaultTrial): HilCheck => ({
  name,
  reason,
  needs: ["emulated", ...needsOf(trial)],
  moves: true,
  breaks: true,
  run: (ctx) => tryFault(ctx, trial),
});

function needsOf({ during }: FaultTrial): ("gripper" | "cameras")[] {
  if (during === "gripper" || during === "then_gripper") return ["gripper"];
  return during === "view" ? ["cameras"] : [];
}
