import { sleepMs } from "../../conformance/context.js";
import { ensure, type HilCheck, type HilGroup } from "../check.js";
import type { HilContext } from "../context.js";
import { now_s } from "../plant-truth.js";
import { bent } from "./motion.js";

const CYCLE_HZ = 500;

const quantile = (values: readonly number[], q: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(q * values.length))] ?? Number.NaN;

/** Cycles of the control loop while something else goes on in this process. */
async function cyclesDuring(ctx: HilContext, seconds: number, work: () => Promise<void> | void) {
  const arm = await ctx.bench.arm();
  const before = arm.addon.state();
  const from_s = now_s();
  await work();
  const took_s = now_s() - from_s;
  await sleepMs(20);
  const after = arm.addon.state();
  ensure(took_s >= 0.9 * seconds, "the work was too short");
  ensure(after.fault_code === "", `the arm has the fault ${after.fault_code}`);
  return {
    cycles: after.cycles - before.cycles,
    missed: after.missed_cycles - before.missed_cycles,
    gaps: after.robot_gaps - before.robot_gaps,
    took_s,
  };
}

const spin = (ms: number): void => {
  const until_ms = performance.now() + ms;
  while (performance.now() < until_ms);
};

const rate = (name: string, reason: string, work: () => Promise<void> | void): HilCheck => ({
  name,
  reason,
  run: async (ctx) => {
    const { cycles, missed, took_s } = await cyclesDuring(ctx, 2, work);
    ctx.measure("rate", cycles / took_s, "Hz", CYCLE_HZ);
    ctx.timing("missed", missed / Math.max(1, cycles), "of all", 0.005);
    ensure(cycles / took_s > 0.5 * CYCLE_HZ, `only ${(cycles / took_s).toFixed(0)} cycles a second`);
  },
});

const roundTrips = async (ask: () => Promise<unknown>, count: number): Promise<number[]> => {
  const times: number[] = [];
  for (let i = 0; i < count; i += 1) {
    const begun_ms = performance.now();
    await ask();
    times.push(performance.now() - begun_ms);
  }
  return times;
};

export const timing: HilGroup = {
  group: "timing",
  about: "the 500 Hz loop under load, and how long calls take (measured; beyond a limit a check is slow)",
  checks: [
    rate("loop_runs_at_500_hz", "the controller takes a setpoint each 2 ms", () => sleepMs(2000)),
    rate("loop_runs_while_javascript_spins", "an endless loop in a program must not be one in the arm", () =>
      spin(2000),
    ),
    rate("loop_runs_while_garbage_is_collected", "a collection stops JavaScript, and nothing else", async () => {
      const until_ms = performance.now() + 2000;
      while (performance.now() < until_ms) {
        const heap: unknown[] = [];
        for (let i = 0; i < 30_000; i += 1) heap.push({ i, words: [i, `${i}`] });
        await new Promise((resolve) => setImmediate(resolve));
      }
    }),
    rate("loop_runs_while_json_is_parsed", "a model's answer is megabytes of text", async () => {
      const text = JSON.stringify(
        Array.from({ length: 20_000 }, (_, i) => ({ i, name: `object ${i}`, pose: [i, 2, 3] })),
      );
      const until_ms = performance.now() + 2000;
      while (performance.now() < until_ms) {
        JSON.parse(text);
        await new Promise((resolve) => setImmediate(resolve));
      }
    }),
    {
      name: "wake_ups_are_on_time",
      reason: "late setpoints shake the arm before they are missed",
      run: async (ctx) => {
        const arm = await ctx.bench.arm();
        await sleepMs(1500);
        const { wake_lateness: late } = arm.addon.timing();
        ensure(late.count > 100, `only ${late.count} cycles were measured`);
        ctx.measure("p50", 1e6 * late.p50_s, "us");
        ctx.timing("p99", 1e3 * late.p99_s, "ms", 1);
        ctx.timing("p99.9", 1e3 * late.p999_s, "ms", 2);
        ctx.measure("max", 1e3 * late.max_s, "ms");
      },
    },
    {
      name: "setpoints_are_cheap_to_send",
      reason: "what sending takes is missing to everything else of the cycle",
      run: async (ctx) => {
        const arm = await ctx.bench.arm();
        await sleepMs(1000);
        const { servo_call: call } = arm.addon.timing();
        ensure(call.count > 100, `only ${call.count} setpoints were sent`);
        ctx.timing("p99", 1e3 * call.p99_s, "ms", 1);
        ctx.measure("max", 1e3 * call.max_s, "ms");
      },
    },
    {
      name: "no_package_of_the_controller_is_lost",
      reason: "a state that was skipped is a cycle that was decided blindly",
      run: async (ctx) => {
        const { gaps, cycles } = await cyclesDuring(ctx, 2, () => sleepMs(2000));
        ctx.timing("skipped packages", gaps / Math.max(1, cycles), "of all", 0.01);
      },
    },
    {
      name: "reading_a_state_waits_for_nothing",
      reason: "whoever reads the state must not slow the loop, nor be slowed by it",
      run: async (ctx) => {
        const arm = await ctx.bench.arm();
        const count = 2000;
        const begun_ms = performance.now();
        for (let i = 0; i < count; i += 1) arm.state();
        ctx.timing("one reading", (1e3 * (performance.now() - begun_ms)) / count, "us", 100);
      },
    },
    {
      name: "events_are_not_dropped",
      reason: "an end of a motion that nobody hears is a program that waits",
      run: async (ctx) => {
        const arm = await ctx.bench.arm();
        ensure(arm.addon.timing().events_dropped === 0, `${arm.addon.timing().events_dropped} events were dropped`);
      },
    },
    {
      name: "state_over_the_protocol_is_quick",
      reason: "each step of a program asks for the state",
      run: async (ctx) => {
        const observer = await ctx.observer();
        const times = await roundTrips(() => observer.getState(), 200);
        ctx.measure("p50", quantile(times, 0.5), "ms");
        ctx.timing("p99", quantile(times, 0.99), "ms", 20);
        ensure(quantile(times, 0.5) < 1000, "half of all answers take more than a second");
      },
    },
    {
      name: "protocol_time_is_the_machines_clock",
      reason: "pictures, states and events are put in order by one clock",
      run: async (ctx) => {
        const observer = await ctx.observer();
        const before_s = now_s();
        await observer.getState();
        const after_s = now_s();
        ensure(
          observer.time_s >= before_s && observer.time_s <= after_s,
          `it says ${observer.time_s}, the clock went from ${before_s} to ${after_s}`,
        );
      },
    },
    {
      name: "motion_starts_soon",
      reason: "an arm that thinks before it moves makes each step of a program longer",
      moves: true,
      run: async (ctx) => {
        const conductor = await ctx.conductor();
        const rtde = await ctx.rtde(["actual_qd"], 500);
        await rtde.fresh();
        const motion = ctx.trajectory(conductor, conductor.q_rad, bent(conductor.q_rad, { wrist_3: 0.3 }));
        const sent_s = now_s();
        const { group, expected_end_time_s } = await ctx.start(conductor, [motion]);
        ctx.timing("accepted after", 1e3 * (now_s() - sent_s), "ms", 50);
        await ctx.finish(conductor, group, expected_end_time_s);
        const moved = rtde.samples.find(
          ({ arrival_s, values }) => arrival_s > sent_s && Math.abs(values.actual_qd![5]!) > 0.01,
        );
        ensure(moved, "a second reader saw no motion");
        ctx.timing("moving after", 1e3 * (moved.arrival_s - sent_s), "ms", 300);
      },
    },
    {
      name: "end_of_a_motion_is_told_soon",
      reason: "the next motion waits for it",
      moves: true,
      run: async (ctx) => {
        const conductor = await ctx.conductor();
        let heard_s = 0;
        conductor.client.onEvent((event) => {
          if (event.motion_ended) heard_s = now_s();
        });
        const motion = ctx.trajectory(conductor, conductor.q_rad, bent(conductor.q_rad, { wrist_3: 0.2 }));
        await ctx.start(conductor, [motion]);
        const event = await ctx.event(
          conductor,
          ({ motion_ended }) => motion_ended !== undefined,
          "end",
          motion.duration_s + 5,
        );
        ctx.timing("heard after", 1e3 * (heard_s - event.time_s), "ms", 50);
      },
    },
    {
      name: "emulated_controller_keeps_its_cycle",
      reason: "what is measured on an emulator that stutters is the emulator's",
      needs: ["emulated"],
      run: async (ctx) => {
        const { controller, bench } = (await ctx.bench.emulated.stats()) as Record<
          string,
          Record<string, Record<string, number>>
        >;
        const late_ms = bench?.plant?.late_p99_ms;
        ensure(controller?.lateness !== undefined && late_ms !== undefined, "they tell nothing of their cycles");
        ctx.timing("plant, p99", late_ms, "ms", 2);
        for (const [name, value] of Object.entries(controller.lateness))
          if (typeof value === "number") ctx.measure(`controller, ${name}`, value, /_us$/.test(name) ? "us" : "cycles");
      },
    },
  ],
};
