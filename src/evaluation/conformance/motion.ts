import type {
  Arm,
  EndReason,
  GroupStatus,
  Guard,
  JointTrajectory,
  Motion,
  StateReply,
} from "../../contract/generated/device.js";
import type { Init } from "../../contract/wire/init.js";
import { CheckSkipped, ensure } from "./check.js";
import { type ConformanceContext, sleepMs } from "./context.js";
import type { RawSession } from "./peer.js";

const SPACING_S = 0.01;
/** Part of the limits that the suite's motions use. */
const CARE = 0.3;
const GRACE_S = 3;

export type ArmInState = { arm: Arm; q_rad: number[]; state: StateReply };

/** The first arm and where it is. */
export async function firstArm(ctx: ConformanceContext, session: RawSession): Promise<ArmInState> {
  const arm = ctx.capabilities.arms[0];
  if (!arm) throw new CheckSkipped("the backend has no arm");
  const state = await ctx.state(session);
  const measured = state.arms.find((candidate) => candidate.name === arm.name);
  ensure(measured, `the state has no arm "${arm.name}", which the capabilities name`);
  return { arm, q_rad: measured.q_rad, state };
}

const smooth = (s: number): number => s * s * s * (10 - 15 * s + 6 * s * s);

/** A trajectory at rest at both ends, with a quintic profile, slow enough for a part of the arm's limits. */
export function jointTrajectory(
  arm: Arm,
  from: readonly number[],
  to: readonly number[],
  guard?: Init<Guard>,
): Init<JointTrajectory> & { time_s: number[]; q_rad: number[] } {
  let duration_s = 0.2;
  for (const [joint, start] of from.entries()) {
    const distance = Math.abs((to[joint] ?? start) - start);
    const limit = arm.limits[joint];
    // Where a backend tells no acceleration limit, the gentlest of the arms in use is assumed.
    const velocity = CARE * (limit?.velocity_rad_s || 1);
    const acceleration = CARE * (limit?.acceleration_rad_s2 || 2);
    duration_s = Math.max(duration_s, (1.875 * distance) / velocity, Math.sqrt((5.774 * distance) / acceleration));
  }
  const points = Math.ceil(duration_s / SPACING_S) + 1;
  const time_s = Array.from({ length: points }, (_, index) => (index * duration_s) / (points - 1));
  const q_rad = time_s.flatMap((t) =>
    from.map((start, joint) => start + ((to[joint] ?? start) - start) * smooth(t / duration_s)),
  );
  return { arm: arm.name, time_s, q_rad, ...(guard ? { guard } : {}) };
}

/** Where a small, safe motion of the last joints ends. */
export function nearby(q_rad: readonly number[], amount_rad = 0.2): number[] {
  return q_rad.map((q, joint) => (joint >= q_rad.length - 2 ? q + (q > 0 ? -amount_rad : amount_rad) : q));
}

/** Starts a group in the session's present epoch; gives its number and expected end. */
export async function start(
  session: RawSession,
  motions: readonly Init<Motion>[],
): Promise<{ group: number; expected_end_time_s: number }> {
  return session.must("execute", { execute: { stop_epoch: session.stop_epoch, motions } });
}

/** Lets time pass until the group has ended; gives its status. */
export async function finish(
  ctx: ConformanceContext,
  session: RawSession,
  group: number,
  expected_end_s: number,
): Promise<GroupStatus> {
  const give_up_ms = performance.now() + 30_000;
  for (;;) {
    const state = await ctx.state(session);
    const status = state.groups.find((candidate) => candidate.group === group);
    ensure(status, `group ${group} is not in the state's list`);
    if (!status.active) return status;
    ensure(
      session.time_s < expected_end_s + GRACE_S,
      `group ${group} is still active ${GRACE_S} s after its expected end`,
    );
    ensure(performance.now() < give_up_ms, `group ${group} did not end in 30 s of host time`);
    if (ctx.simulated) {
      const until_s = Math.min(session.time_s + 1, expected_end_s + GRACE_S + 0.1);
      await session.must("advance", { advance: { until_s } });
    } else await sleepMs(20);
  }
}

export async function play(
  ctx: ConformanceContext,
  session: RawSession,
  motions: readonly Init<Motion>[],
): Promise<GroupStatus> {
  const { group, expected_end_time_s } = await start(session, motions);
  return finish(ctx, session, group, expected_end_time_s);
}

export function ensureEnded(status: GroupStatus, reasons: EndReason | readonly EndReason[], index = 0): void {
  const expected = typeof reasons === "string" ? [reasons] : reasons;
  const motion = status.motions.find((candidate) => candidate.index === index);
  ensure(motion, `group ${status.group} tells nothing of motion ${index}`);
  ensure(
    expected.includes(motion.end_reason),
    () => `motion ${index} ended with ${motion.end_reason}, not ${expected.join(" or ")}`,
  );
}

/** Largest joint difference between two positions, rad. */
export const distance = (a: readonly number[], b: readonly number[]): number =>
  Math.max(...a.map((value, index) => Math.abs(value - (b[index] ?? Number.NaN))));
