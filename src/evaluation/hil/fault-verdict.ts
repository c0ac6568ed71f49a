import { ensure } from "./check.js";
import type { FaultTrial } from "./fault-trial.js";
import type { ProgramReply } from "./judge-reports.js";

/** How long a broken arm may take to stand, in seconds. */
export const STANDS_WITHIN_S = 8;

export type TrialOutcome = {
  replies: readonly ProgramReply[];
  falsehoods: ReadonlySet<string>;
  /** The fault that was told; "" for none. */
  code: string;
  /** The arm came to stand within its time. */
  stood: boolean;
  /** The plant still tells how it is. */
  alive: boolean;
};

type Expected = Pick<FaultTrial, "codes" | "during" | "picture" | "jaw">;

/** Throws `CheckFailed` where what a program was told of a fault is not what it must be. */
export function judgeTrial(
  { codes, during, picture, jaw }: Expected,
  { replies, falsehoods, code, stood, alive }: TrialOutcome,
): void {
  ensure(falsehoods.size === 0, () => `what was told was false: ${[...falsehoods].join("; ")}`);
  const of = (operation: string): ProgramReply | undefined => replies.find((reply) => reply.operation === operation);
  const [arm, gripper] = [of("goto_pose"), of("gripper_goto")];
  if (codes.length > 0) {
    ensure(codes.includes(code), `the fault told is "${code || "none"}", it must be ${codes.join(" or ")}`);
    // Of the motions that there were: one that nobody asked for has no reply, and that tells nothing.
    const failed = [arm, gripper].some((reply) => reply !== undefined && reply.status !== "ok");
    ensure(failed, "the program was told that all went well");
    ensure(stood || !alive, `the arm did not come to stand in ${STANDS_WITHIN_S} s`);
    return;
  }
  ensure(arm?.status === "ok", () => `the arm's motion ended with ${arm?.status}: ${arm?.message}`);
  const closes = during === "gripper" || during === "then_gripper";
  if (closes && jaw === "not ok")
    ensure(gripper !== undefined && gripper.status !== "ok", "the jaw is told to be where it is not");
  else if (closes)
    ensure(gripper?.status === "ok", () => `the gripper's motion ended with ${gripper?.status}: ${gripper?.message}`);
  const view = replies.find(({ operation }) => operation.endsWith("_stereo_view"));
  if (picture === "refused") ensure(view !== undefined && view.status !== "ok", "the picture was given");
  if (picture === "given") ensure(view?.status === "ok", () => `no picture: ${view?.status}: ${view?.message}`);
}
