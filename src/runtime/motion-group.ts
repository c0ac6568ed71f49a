import type { JointTrajectory, MotionStatus } from "../contract/generated/device.js";
import type { Init } from "../contract/wire/init.js";
import type { Device } from "./device/device.js";
import type { MotionTracker } from "./motion-tracker.js";
import type { MotionIntent, MotionOutcome } from "./operation.js";

export type PendingMotion = { intent: MotionIntent; outcome: MotionOutcome | null; expected_end_s: number };

/** Slows a trajectory down evenly; velocity, acceleration and jerk only become smaller. */
function stretched(trajectory: Init<JointTrajectory>, factor: number): Init<JointTrajectory> {
  return { ...trajectory, time_s: Array.from(trajectory.time_s ?? [], (time) => time * factor) };
}

/**
 * Executes the intents of one turn as one group: arm trajectories are stretched to one duration, everything starts together.
 * Gives one entry per intent; the tracker fills in how each ended.
 */
export async function executeGroup(
  device: Device,
  tracker: MotionTracker,
  intents: readonly MotionIntent[],
  stop_epoch: number,
): Promise<PendingMotion[]> {
  const trajectories = intents.filter((intent) => intent.motion.joint_trajectory);
  const longest = Math.max(0, ...trajectories.map((intent) => intent.duration_s));
  const stretches = intents.map((intent) =>
    intent.motion.joint_trajectory && intent.duration_s > 0 ? longest / intent.duration_s : 1,
  );
  const motions = intents.map((intent, i) =>
    intent.motion.joint_trajectory && stretches[i]! > 1
      ? { joint_trajectory: stretched(intent.motion.joint_trajectory, stretches[i]!) }
      : intent.motion,
  );
  const reply = await device.execute({ stop_epoch, motions });
  return intents.map((intent, i) => {
    const pending: PendingMotion = { intent, outcome: null, expected_end_s: reply.expected_end_time_s };
    tracker.expect(reply.group, i, (status: MotionStatus) => {
      pending.outcome = { status, stretch: stretches[i]! };
    });
    return pending;
  });
}
