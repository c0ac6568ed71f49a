import type { StateReply } from "../../../contract/generated/device.js";
import { sleepMs } from "../../conformance/context.js";
import { distance } from "../../conformance/motion.js";
import { ensure, type HilCheck, type HilGroup } from "../check.js";
import type { Conductor, HilContext } from "../context.js";

const JOINTS = ["base", "shoulder", "elbow", "wrist_1", "wrist_2", "wrist_3"] as const;
const SMALL_RAD = 0.12;

/** A target near `q_rad` in which the named joints differ. */
export const bent = (q_rad: readonly number[], by: Partial<Record<(typeof JOINTS)[number], number>>): number[] =>
  q_rad.map((q, joint) => q + (by[JOINTS[joint]!] ?? 0));

/** The motion of the wrist that most checks make: there and, at the next check, back. */
const nod = (q_rad: readonly number[]): number[] => bent(q_rad, { wrist_2: 0.1, wrist_3: 0.2 });

async function playTo(ctx: HilContext, conductor: Conductor, target: readonly number[], slower = 1) {
  const from = await ctx.q(conductor);
  const motion = ctx.trajectory(conductor, from, target, slower);
  const states: StateReply[] = [];
  const status = await ctx.play(conductor, [motion], (state) => states.push(state));
  return { from, motion, states, status, reason: status.motions[0]?.end_reason };
}

const joints: HilCheck[] = JOINTS.map((joint) => ({
  name: `${joint}_moves_and_returns`,
  reason: "each joint follows, alone, in the sense that it was told",
  moves: true,
  run: async (ctx) => {
    const conductor = await ctx.conductor();
    const start = conductor.q_rad;
    const target = bent(start, { [joint]: SMALL_RAD });
    await ctx.moveTo(conductor, target);
    const there = await ctx.q(conductor);
    ctx.measure("off the target", 1e3 * distance(there, target), "mrad", 3);
    ensure(distance(there, target) < 0.003, `it ended ${(1e3 * distance(there, target)).toFixed(2)} mrad off`);
    await ctx.moveTo(conductor, start);
    const back = distance(await ctx.q(conductor), start);
    ensure(back < 0.003, `it came back ${(1e3 * back).toFixed(2)} mrad off`);
  },
}));

const paths: HilCheck[] = [
  {
    name: "motion_takes_the_time_that_was_planned",
    reason: "an arm that is late is not where the program thinks",
    moves: true,
    run: async (ctx) => {
      const conductor = await ctx.conductor();
      const begun_s = conductor.client.time_s;
      const { motion, status } = await playTo(ctx, conductor, nod(conductor.q_rad), 2);
      const took_s = status.motions[0]!.end_time_s - begun_s;
      ctx.measure("planned", motion.duration_s, "s");
      ctx.timing("late by", took_s - motion.duration_s, "s", 0.25);
      ensure(
        took_s > motion.duration_s - 0.1,
        `it took ${took_s.toFixed(2)} s, planned were ${motion.duration_s.toFixed(2)} s`,
      );
    },
  },
  {
    name: "arm_follows_the_path",
    reason: "between its ends too the arm must be where it was planned, or it meets what the plan went around",
    moves: true,
    run: async (ctx) => {
      const conductor = await ctx.conductor();
      const from = conductor.q_rad;
      const target = bent(from, { base: 0.15, wrist_1: -0.15, wrist_3: 0.3 });
      const { states } = await playTo(ctx, conductor, target, 1.5);
      let off = 0;
      for (const { arms } of states) off = Math.max(off, distanceToSegment(arms[0]!.q_rad, from, target));
      ctx.measure("off the straight line in joints", 1e3 * off, "mrad", 8);
      ensure(off < 0.02, `it was ${(1e3 * off).toFixed(1)} mrad off its path`);
    },
  },
  {
    name: "motion_does_not_overshoot",
    reason: "a few milliradians beyond the end are a few millimetres into the table",
    moves: true,
    run: async (ctx) => {
      const conductor = await ctx.conductor();
      const rtde = await ctx.rtde(["actual_q"]);
      const from = conductor.q_rad;
      const { motion } = await playTo(ctx, conductor, bent(from, { wrist_3: 0.3 }));
      ensure(motion.duration_s > 0, "it took no time");
      await sleepMs(400);
      const beyond = Math.max(...rtde.samples.map(({ values }) => values.actual_q![5]! - (from[5]! + 0.3)));
      ctx.measure("beyond the end", 1e3 * Math.max(0, beyond), "mrad", 3);
      ensure(beyond < 0.01, `it went ${(1e3 * beyond).toFixed(1)} mrad beyond`);
    },
  },
  {
    name: "arm_stands_after_a_motion",
    reason: "a picture or a grasp begins where the motion ended",
    moves: true,
    run: async (ctx) => {
      const conductor = await ctx.conductor();
      await playTo(ctx, conductor, nod(conductor.q_rad));
      await sleepMs(300);
      const first = await ctx.q(conductor);
      await sleepMs(700);
      const state = await ctx.state(conductor.client);
      const speed = Math.max(...state.arms[0]!.qd_rad_s.map(Math.abs));
      ctx.measure("speed", 1e3 * speed, "mrad/s", 5);
      ensure(
        speed < 0.02 && distance(first, state.arms[0]!.q_rad) < 0.001,
        `it still moves at ${(1e3 * speed).toFixed(1)} mrad/s`,
      );
    },
  },
  {
    name: "motion_is_smooth",
    reason: "gaps in the setpoints shake what the arm carries",
    moves: true,
    run: async (ctx) => {
      const conductor = await ctx.conductor();
      const rtde = await ctx.rtde(["timestamp", "actual_qd"], 125);
      await playTo(ctx, conductor, bent(conductor.q_rad, { wrist_3: 0.5 }), 1.5);
      const speeds = rtde.samples.map(({ values }) => [values.timestamp![0]!, values.actual_qd![5]!] as const);
      let most = 0;
      for (const [i, [time_s, speed]] of speeds.entries()) {
        const [before_s, before] = speeds[i - 1] ?? [time_s, speed];
        if (time_s - before_s > 0.004) most = Math.max(most, Math.abs(speed - before) / (time_s - before_s));
      }
      ctx.timing("acceleration of wrist_3", most, "rad/s^2", 1.5 * ctx.rig.arm.limits.acceleration_rad_s2[5]!);
    },
  },
  {
    name: "motion_repeats",
    reason: "what was taught once must be found again",
    moves: true,
    run: async (ctx) => {
      const conductor = await ctx.conductor();
      const there: number[][] = [];
      const start = conductor.q_rad;
      for (let i = 0; i < 3; i += 1) {
        await ctx.moveTo(conductor, nod(start));
        await sleepMs(200);
        there.push(await ctx.q(conductor));
        await ctx.moveTo(conductor, start);
      }
      const spread = Math.max(...there.map((q) => distance(q, there[0]!)));
      ctx.measure("spread of three", 1e3 * spread, "mrad", 1);
      ensure(spread < 0.001, `three times the same motion ended ${(1e3 * spread).toFixed(2)} mrad apart`);
    },
  },
  {
    name: "arm_and_gripper_move_together",
    reason: "one group starts at one moment and tells both ends",
    needs: ["gripper"],
    moves: true,
    run: async (ctx) => {
      const conductor = await ctx.conductor();
      const jaw = (await ctx.state(conductor.client)).grippers[0]!;
      const opening_m = jaw.opening_m > 0.04 ? jaw.opening_m - 0.02 : jaw.opening_m + 0.02;
      const arm = ctx.trajectory(conductor, conductor.q_rad, nod(conductor.q_rad));
      const status = await ctx.play(conductor, [arm, { gripper_move: { arm: conductor.arm.name, opening_m } }]);
      const ends = status.motions.map(({ end_reason }) => end_reason);
      ensure(ends.length === 2 && ends.every((end) => end === "END_COMPLETED"), `it ended with ${ends.join(" and ")}`);
    },
  },
  {
    name: "motion_tells_its_progress",
    reason: "a program that waits must see that the arm is on its way",
    moves: true,
    run: async (ctx) => {
      const conductor = await ctx.conductor();
      await playTo(ctx, conductor, nod(conductor.q_rad), 3);
      const kinds = conductor.events.map(({ kind }) => kind);
      for (const kind of ["group_started", "group_progress", "motion_ended"] as const)
        ensure(kinds.includes(kind), `no ${kind} was published`);
      const fractions = conductor.events.flatMap(
        (event) => event.group_progress?.motions.map(({ fraction_done }) => fraction_done) ?? [],
      );
      ensure(
        fractions.every((done, i) => i === 0 || done >= fractions[i - 1]!),
        "its progress goes back",
      );
    },
  },
  {
    name: "motion_from_elsewhere_is_refused",
    reason: "a plan that begins where the arm is not would begin with a jump",
    moves: true,
    run: async (ctx) => {
      const conductor = await ctx.conductor();
      const from = bent(conductor.q_rad, { wrist_3: 0.15 });
      await ctx.refused(
        () => ctx.start(conductor, [ctx.trajectory(conductor, from, conductor.q_rad)]),
        "ERROR_NOT_START",
      );
      ensure(distance(await ctx.q(conductor), conductor.q_rad) < 0.002, "the arm moved");
    },
  },
  {
    name: "second_motion_is_refused_while_one_runs",
    reason: "two motions at a time are none",
    moves: true,
    run: async (ctx) => {
      const conductor = await ctx.conductor();
      const motion = ctx.trajectory(conductor, conductor.q_rad, nod(conductor.q_rad), 3);
      const { group, expected_end_time_s } = await ctx.start(conductor, [motion]);
      await ctx.refused(() => ctx.start(conductor, [motion]), "ERROR_BUSY");
      const status = await ctx.finish(conductor, group, expected_end_time_s);
      ensure(
        status.motions[0]?.end_reason === "END_COMPLETED",
        `the first ended with ${status.motions[0]?.end_reason}`,
      );
    },
  },
  {
    name: "long_trajectory_is_taken",
    reason: "a stroke of a minute at 100 points a second is one motion",
    moves: true,
    run: async (ctx) => {
      const conductor = await ctx.conductor();
      const { q_rad } = conductor;
      const time_s = Array.from({ length: 401 }, (_, i) => i * 0.01);
      // Four small waves of the wrist that begin and end at rest.
      const path = time_s.flatMap((t) =>
        bent(q_rad, { wrist_3: 0.05 * Math.sin(Math.PI * t) ** 2 * Math.sin((Math.PI * t) / 4) ** 2 }),
      );
      const motion = { joint_trajectory: { arm: conductor.arm.name, time_s, q_rad: path } };
      const status = await ctx.play(conductor, [motion]);
      ensure(status.motions[0]?.end_reason === "END_COMPLETED", `it ended with ${status.motions[0]?.end_reason}`);
    },
  },
  {
    name: "reported_motion_is_the_real_one",
    reason: "a state that is not the arm's own is worse than none",
    needs: ["emulated"],
    moves: true,
    run: async (ctx) => {
      const conductor = await ctx.conductor();
      const truth = ctx.truth();
      await playTo(ctx, conductor, nod(conductor.q_rad));
      await sleepMs(300);
      const off = distance(await ctx.q(conductor), truth.read().q_rad);
      ctx.measure("reported to real", 1e3 * off, "mrad", 1);
      ensure(off < 0.002, `the reported joints are ${(1e3 * off).toFixed(2)} mrad from the real ones`);
    },
  },
];

/** Distance of q from the straight line a-b in joint space, largest joint. */
function distanceToSegment(q: readonly number[], a: readonly number[], b: readonly number[]): number {
  const along = b.map((value, i) => value - a[i]!);
  const length2 = along.reduce((sum, value) => sum + value * value, 0);
  const t = Math.min(1, Math.max(0, along.reduce((sum, value, i) => sum + value * (q[i]! - a[i]!), 0) / length2));
  return distance(
    q,
    a.map((value, i) => value + t * along[i]!),
  );
}

export const motion: HilGroup = {
  group: "motion",
  about: "each joint, paths, ends and refusals of motions",
  checks: [...joints, ...paths],
};
