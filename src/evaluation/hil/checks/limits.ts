import { NativeArm } from "../../../../backends/native/server/adapters/arm.js";
import { ArmRefused } from "../../../../backends/native/server/drivers.js";
import { sleepMs } from "../../conformance/context.js";
import { distance } from "../../conformance/motion.js";
import { ensure, type HilCheck, type HilGroup } from "../check.js";
import type { Conductor } from "../context.js";
import { bent } from "./motion.js";
import { underWay } from "./stop.js";

type Points = { time_s: number[]; q_rad: number[] };
const trajectoryOf = ({ arm }: Conductor, points: Points) => ({ joint_trajectory: { arm: arm.name, ...points } });

const REFUSALS = ["ERROR_BAD_ARGUMENT", "ERROR_NOT_START", "ERROR_UNSUPPORTED"] as const;

/** A trajectory that must not be played: refused with words, and the arm stands. */
const never = (
  name: string,
  reason: string,
  points: (q_rad: readonly number[], conductor: Conductor) => Points,
  says?: RegExp,
): HilCheck => ({
  name,
  reason,
  moves: true,
  run: async (ctx) => {
    const conductor = await ctx.conductor();
    const words = await ctx.refused(
      () => ctx.start(conductor, [trajectoryOf(conductor, points(conductor.q_rad, conductor))]),
      ...REFUSALS,
    );
    if (says) ensure(says.test(words), `the refusal says "${words}"`);
    await sleepMs(200);
    ensure(distance(await ctx.q(conductor), conductor.q_rad) < 0.002, "the arm moved");
  },
});

const refusals: HilCheck[] = [
  never(
    "too_fast_is_refused",
    "a plan beyond the joints' speeds would be another path once it is slowed",
    (q) => ({ time_s: [0, 0.1, 0.2], q_rad: [...q, ...bent(q, { wrist_3: 0.5 }), ...bent(q, { wrist_3: 1 })] }),
    /rad\/s|speed|veloc|fast/i,
  ),
  never("jump_is_refused", "two points a millisecond apart are no motion", (q) => ({
    time_s: [0, 0.001],
    q_rad: [...q, ...bent(q, { base: 0.3 })],
  })),
  never(
    "outside_the_joints_range_is_refused",
    "a joint at its mechanical end breaks something",
    (q, { arm }) => {
      const most = arm.limits[5]!.position_max_rad + 0.05;
      const steps = 400;
      const path = Array.from({ length: steps + 1 }, (_, i) => bent(q, { wrist_3: ((most - q[5]!) * i) / steps }));
      return { time_s: path.map((_, i) => i * 0.1), q_rad: path.flat() };
    },
    /limit|range|outside|position/i,
  ),
  never("not_a_number_is_refused", "a setpoint that is no number is anything", (q) => ({
    time_s: [0, 1],
    q_rad: [...q, ...q.map((one, i) => (i === 2 ? Number.NaN : one))],
  })),
  never("infinite_time_is_refused", "a motion without an end is none", (q) => ({
    time_s: [0, Number.POSITIVE_INFINITY],
    q_rad: [...q, ...q],
  })),
  never("falling_times_are_refused", "time runs one way", (q) => ({
    time_s: [0, 0.2, 0.1],
    q_rad: [...q, ...q, ...q],
  })),
  never("late_start_is_refused", "the first point is now", (q) => ({ time_s: [0.5, 1], q_rad: [...q, ...q] })),
  never("one_point_is_refused", "a motion has two ends", (q) => ({ time_s: [0], q_rad: [...q] })),
  never("five_joints_are_refused", "an arm of six joints has six", (q) => ({
    time_s: [0, 1],
    q_rad: [...q.slice(0, 5), ...q.slice(0, 5)],
  })),
  never("too_long_is_refused", "ten minutes are the most that one motion takes", (q) => ({
    time_s: [0, 601],
    q_rad: [...q, ...q],
  })),
];

const guards: HilCheck[] = [
  {
    name: "speed_stays_below_the_cap",
    reason: "what was agreed at the start of a session must hold in each cycle",
    moves: true,
    run: async (ctx) => {
      const conductor = await ctx.conductor();
      const rtde = await ctx.rtde(["actual_qd"]);
      await ctx.play(conductor, [ctx.trajectory(conductor, conductor.q_rad, bent(conductor.q_rad, { wrist_3: 0.5 }))]);
      const most = Math.max(...rtde.samples.map(({ values }) => Math.abs(values.actual_qd![5]!)));
      const cap = conductor.arm.limits[5]!.velocity_rad_s;
      ctx.measure("wrist_3", most, "rad/s", 1.1 * cap);
      ensure(most > 0.01, "it did not move");
      ensure(most < 1.15 * cap, `it reached ${most.toFixed(2)} rad/s, the cap is ${cap.toFixed(2)}`);
    },
  },
  {
    name: "guard_does_not_fire_in_free_air",
    reason: "a contact that is none ends programs for nothing",
    moves: true,
    run: async (ctx) => {
      const conductor = await ctx.conductor();
      const motion = ctx.trajectory(
        conductor,
        conductor.q_rad,
        bent(conductor.q_rad, { base: 0.12, wrist_1: -0.1, wrist_3: 0.3 }),
        1.5,
      );
      const guarded = {
        joint_trajectory: {
          ...motion.joint_trajectory!,
          guard: { force_n: 25, torque_nm: 5, direction_world: [], contact_expected: false },
        },
      };
      const status = await ctx.play(conductor, [guarded]);
      ctx.measure("mean force", status.motions[0]?.mean_force_n ?? 0, "N", 15);
      ensure(status.motions[0]?.end_reason === "END_COMPLETED", `it ended with ${status.motions[0]?.end_reason}`);
    },
  },
  {
    name: "wrench_at_rest_is_small",
    reason: "a payload that is set wrong shows as a force that is not there",
    run: async (ctx) => {
      const observer = await ctx.observer();
      const { arms } = await ctx.state(observer);
      const force_n = Math.hypot(...arms[0]!.tcp_wrench.slice(0, 3));
      ctx.measure("force at rest", force_n, "N", 15);
      ensure(
        arms[0]!.tcp_wrench.length === 6 && arms[0]!.tcp_wrench.every(Number.isFinite),
        "the wrench is no six numbers",
      );
      ensure(
        force_n < 25,
        `it feels ${force_n.toFixed(1)} N with nothing in its way: payload_kg or its centre of mass is wrong`,
      );
    },
  },
  {
    name: "zone_is_not_entered",
    reason: "what stands beside the arm is known to nothing but its zones",
    moves: true,
    breaks: true,
    run: async (ctx) => {
      await ctx.bench.closeBackend();
      const arm = await ctx.bench.arm();
      const X = Array.from(arm.state().X_world_tcp);
      await ctx.bench.closeDriver("arm");
      // A box a hand's width beside the fingers, in the way that the base joint turns them.
      const [x, y, z] = [X[3]!, X[7]!, X[11]!];
      const radius = Math.hypot(x, y);
      const [sx, sy] = [-y / radius, x / radius];
      const center = [x + 0.2 * sx, y + 0.2 * sy, z + 0.05];
      const half = 0.05;
      const zone = {
        name: "hil",
        min_xyz: center.map((one) => one - half) as [number, number, number],
        max_xyz: center.map((one) => one + half) as [number, number, number],
      };
      const rig = { ...ctx.rig, arm: { ...ctx.rig.arm, zones: [...ctx.rig.arm.zones, zone] } };
      const zoned = await NativeArm.open({
        rig,
        stop_address: "",
        speed_cap: ctx.bench.speed,
        parent_pid: process.ppid,
      });
      ctx.onCleanUp(() => zoned.close());
      const q = Array.from(zoned.state().q_rad);
      const steps = 300;
      const turn = 0.25 / radius;
      const path = Array.from({ length: steps + 1 }, (_, i) => {
        const u = i / steps;
        return bent(q, { base: turn * u ** 3 * (10 - 15 * u + 6 * u * u) });
      });
      const trajectory = {
        time_s: Float64Array.from(path.map((_, i) => i * 0.02)),
        q_rad: Float64Array.from(path.flat()),
      };
      const guard = { force_n: 0, torque_nm: 0, direction_world: [], contact_expected: false } as unknown as Parameters<
        NativeArm["execute"]
      >[3];
      try {
        zoned.execute(1, zoned.state().stop_epoch, trajectory, guard);
      } catch (error) {
        if (!(error instanceof ArmRefused)) throw error;
        ensure(/zone|hil/i.test(error.message), `it was refused for another reason: ${error.message}`);
        return;
      }
      await sleepMs(6500);
      const state = zoned.state();
      ensure(/zone/.test(state.fault_code), `it was played; the fault is "${state.fault_code}"`);
      ensure(distance(Array.from(state.q_rad), path.at(-1)!) > 0.02, "it went all the way into the zone");
    },
  },
  {
    name: "half_a_slider_slows_and_does_not_bend",
    reason: "the operator's slider must change the time of a motion, never its path",
    needs: ["emulated"],
    moves: true,
    breaks: true,
    run: async (ctx) => {
      const conductor = await ctx.conductor();
      const start = conductor.q_rad;
      const target = bent(start, { wrist_3: 0.3, wrist_2: 0.15 });
      const motion = ctx.trajectory(conductor, start, target, 1.5);
      await ctx.bench.emulated.tell("controller", { set: { speed_slider: 0.5 } });
      const begun_s = conductor.client.time_s;
      const status = await ctx.play(conductor, [motion]);
      await ctx.bench.emulated.tell("controller", { set: { speed_slider: 1 } });
      const reason = status.motions[0]?.end_reason;
      ensure(reason === "END_COMPLETED", `it ended with ${reason}`);
      ctx.measure("planned", motion.duration_s, "s");
      ctx.measure("took", status.motions[0]!.end_time_s - begun_s, "s");
      const off = distance(await ctx.q(conductor), target);
      ensure(off < 0.003, `it ended ${(1e3 * off).toFixed(1)} mrad off`);
    },
  },
  {
    name: "bad_requests_during_a_motion_disturb_nothing",
    reason: "one wrong call must not be a stop",
    moves: true,
    run: async (ctx) => {
      const conductor = await ctx.conductor();
      const { group, expected_end_time_s } = await underWay(ctx, conductor, 0.4);
      for (const time_s of [[0], [0, Number.NaN], [0, -1]]) {
        const points = { time_s, q_rad: time_s.flatMap(() => conductor.q_rad) };
        await ctx.refused(() => ctx.start(conductor, [trajectoryOf(conductor, points)]), ...REFUSALS, "ERROR_BUSY");
      }
      const status = await ctx.finish(conductor, group, expected_end_time_s);
      ensure(
        status.motions[0]?.end_reason === "END_COMPLETED",
        `the motion ended with ${status.motions[0]?.end_reason}`,
      );
    },
  },
  {
    name: "observer_may_not_move_the_arm",
    reason: "who only looks must not be able to",
    run: async (ctx) => {
      const observer = await ctx.observer();
      const { arms } = await observer.getState();
      const q_rad = [...arms[0]!.q_rad, ...arms[0]!.q_rad];
      const motions = [{ joint_trajectory: { arm: "arm", time_s: [0, 1], q_rad } }];
      await ctx.refused(() => observer.execute({ stop_epoch: observer.stopEpoch, motions }), "ERROR_ROLE");
    },
  },
];

export const limits: HilGroup = {
  group: "limits",
  about: "what may not be done is refused with its reason, and guards hold in each cycle",
  checks: [...refusals, ...guards],
};
