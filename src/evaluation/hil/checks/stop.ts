import { Worker } from "node:worker_threads";
import { StopChannel } from "../../../runtime/device/stop-channel.js";
import { sleepMs } from "../../conformance/context.js";
import { distance, jointTrajectory } from "../../conformance/motion.js";
import { ensure, type HilGroup } from "../check.js";
import type { Conductor, HilContext } from "../context.js";
import { now_s } from "../plant-truth.js";
import type { RtdeObserver } from "../rtde-observer.js";
import { bent } from "./motion.js";

/** From the sending of a stop to the first setpoint that slows. */
const STOP_LIMIT_MS = 10;
/** The same as the controller's own target shows it: behind are its follower's lookahead of 50 ms, and jerk that is limited. */
const TARGET_LIMIT_MS = 120;
/** A joint at the speeds of these checks comes to rest within this, on a machine under load too. */
const STANDS_S = 1.5;
const STILL_RAD_S = 0.01;

/** Starts a motion of some seconds and lets it come to speed. */
export async function underWay(ctx: HilContext, conductor: Conductor, by_rad = 0.5) {
  const target = bent(conductor.q_rad, { wrist_3: by_rad, wrist_2: 0.2 });
  const motion = ctx.trajectory(conductor, conductor.q_rad, target, 2.5);
  const started = await ctx.start(conductor, [motion]);
  await sleepMs(Math.max(300, 1e3 * 0.35 * motion.duration_s));
  return { ...started, target, duration_s: motion.duration_s };
}

async function pressStop(
  ctx: HilContext,
  reason = "hil",
): Promise<{ sent_s: number; answered_s: number; stop_epoch: number; time_s: number }> {
  const { addresses } = await ctx.bench.backend();
  const channel = new StopChannel({ address: addresses.stop, lostAfterMs: 3000 });
  ctx.onCleanUp(() => channel.close());
  const sent_s = now_s();
  const reply = await channel.stop("", reason);
  return { ...reply, sent_s, answered_s: now_s() };
}

const speedOf = ({ values }: RtdeObserver["samples"][number]): number => Math.max(...values.actual_qd!.map(Math.abs));

/** Waits until the arm stands by a second reader's eyes; seconds since `since_s`. */
async function standsSince(rtde: RtdeObserver, since_s: number, patience_s = STANDS_S): Promise<number> {
  for (;;) {
    const sample = await rtde.fresh();
    if (sample.arrival_s > since_s && speedOf(sample) < STILL_RAD_S) return sample.arrival_s - since_s;
    ensure(
      sample.arrival_s - since_s < patience_s,
      `the arm still moves at ${speedOf(sample).toFixed(3)} rad/s ${patience_s} s later`,
    );
  }
}

export const stop: HilGroup = {
  group: "stop",
  about: "whoever stops the arm, and however the runtime fails, it comes to rest",
  checks: [
    {
      name: "stop_ends_a_motion",
      reason: "the one thing that must always work",
      moves: true,
      run: async (ctx) => {
        const conductor = await ctx.conductor();
        const rtde = await ctx.rtde(["actual_qd", "actual_q"]);
        const { group, expected_end_time_s } = await underWay(ctx, conductor);
        const { sent_s, stop_epoch } = await pressStop(ctx);
        ctx.timing("stood after", await standsSince(rtde, sent_s), "s", 0.6);
        const status = await ctx.finish(conductor, group, expected_end_time_s);
        const state = await ctx.state(conductor.client);
        const reason = status.motions[0]?.end_reason;
        ensure(reason === "END_STOPPED", `the motion ended with ${reason}`);
        ensure(state.stop_latched && conductor.client.stopEpoch === stop_epoch, "no stop is latched");
      },
    },
    {
      name: "stop_slows_the_arm_at_once",
      reason: "at 1 m/s each 10 ms are a centimetre",
      moves: true,
      run: async (ctx) => {
        const conductor = await ctx.conductor();
        await underWay(ctx, conductor);
        const { sent_s, time_s, answered_s } = await pressStop(ctx);
        ctx.timing("from sending to slowing", 1e3 * (time_s - sent_s), "ms", STOP_LIMIT_MS);
        ctx.timing("from sending to the answer", 1e3 * (answered_s - sent_s), "ms", 5 * STOP_LIMIT_MS);
        ensure(time_s - sent_s < 0.5, `it slowed ${(1e3 * (time_s - sent_s)).toFixed(0)} ms after the stop was sent`);
      },
    },
    {
      name: "stop_reaches_the_controller",
      reason: "what the driver says of a stop is worth what the controller sees of it",
      moves: true,
      run: async (ctx) => {
        const conductor = await ctx.conductor();
        const rtde = await ctx.rtde(["timestamp", "actual_qd", "target_qd"], 500);
        await underWay(ctx, conductor);
        const { sent_s } = await pressStop(ctx);
        await standsSince(rtde, sent_s);
        const targets = rtde.samples.map((sample) => ({
          at_s: rtde.madeAt(sample),
          speed: Math.max(...sample.values.target_qd!.map(Math.abs)),
        }));
        const before = targets.filter(({ at_s }) => at_s > sent_s - 0.1 && at_s <= sent_s).map(({ speed }) => speed);
        ensure(before.length > 0, "the second reader got nothing just before the stop");
        const cruising = Math.min(...before);
        const slowing = targets.find(({ at_s, speed }) => at_s > sent_s && speed < 0.97 * cruising);
        ensure(slowing, "the controller's target never slowed");
        ctx.timing("from sending to a slower target", 1e3 * (slowing.at_s - sent_s), "ms", TARGET_LIMIT_MS);
      },
    },
    {
      name: "stopping_distance_is_short",
      reason: "a person must know how far the arm still moves",
      moves: true,
      run: async (ctx) => {
        const conductor = await ctx.conductor();
        await underWay(ctx, conductor);
        const at = await ctx.q(conductor);
        const speed = Math.max(...(await ctx.state(conductor.client)).arms[0]!.qd_rad_s.map(Math.abs));
        await pressStop(ctx);
        await sleepMs(800);
        const way = distance(await ctx.q(conductor), at);
        ctx.measure("speed", speed, "rad/s");
        ctx.timing("way to standstill", 1e3 * way, "mrad", 1e3 * (speed * 0.3 + 0.02));
      },
    },
    {
      name: "stopped_arm_stays",
      reason: "an arm that creeps after a stop is not stopped",
      moves: true,
      run: async (ctx) => {
        const conductor = await ctx.conductor();
        await underWay(ctx, conductor);
        await pressStop(ctx);
        await sleepMs(800);
        const at = await ctx.q(conductor);
        await sleepMs(1500);
        const moved = distance(await ctx.q(conductor), at);
        ensure(moved < 0.001, `it moved by ${(1e3 * moved).toFixed(2)} mrad while stopped`);
      },
    },
    {
      name: "stop_says_who_and_why",
      reason: "the next person must see that it was stopped and why",
      run: async (ctx) => {
        const conductor = await ctx.conductor({ from: "anywhere" });
        await pressStop(ctx, "a hand in the cell");
        const state = await ctx.state(conductor.client);
        ensure(state.stop_reason.includes("a hand in the cell"), `the reason is "${state.stop_reason}"`);
        await ctx.event(conductor, ({ stopped }) => stopped !== undefined, "event of the stop");
      },
    },
    {
      name: "nothing_moves_until_it_is_resumed",
      reason: "a latched stop is cleared by a decision, not by the next motion",
      moves: true,
      run: async (ctx) => {
        const conductor = await ctx.conductor();
        await pressStop(ctx);
        await ctx.state(conductor.client);
        const motion = ctx.trajectory(conductor, conductor.q_rad, bent(conductor.q_rad, { wrist_3: 0.2 }));
        await ctx.refused(() => ctx.start(conductor, [motion]), "ERROR_STOP_EPOCH");
        await conductor.client.resume({ stop_epoch: conductor.client.stopEpoch });
        ensure(
          (await ctx.play(conductor, [motion])).motions[0]?.end_reason === "END_COMPLETED",
          "it does not move after Resume",
        );
      },
    },
    {
      name: "plans_from_before_a_stop_never_start",
      reason: "they know nothing of what made somebody press the button",
      moves: true,
      run: async (ctx) => {
        const conductor = await ctx.conductor();
        const before = conductor.client.stopEpoch;
        await pressStop(ctx);
        await ctx.state(conductor.client);
        await conductor.client.resume({ stop_epoch: conductor.client.stopEpoch });
        const motion = ctx.trajectory(conductor, conductor.q_rad, bent(conductor.q_rad, { wrist_3: 0.2 }));
        await ctx.refused(() => ctx.start(conductor, [motion], { stop_epoch: before }), "ERROR_STOP_EPOCH");
      },
    },
    {
      name: "two_stops_are_two_epochs",
      reason: "a second stop must also end what was planned after the first",
      run: async (ctx) => {
        await ctx.conductor({ from: "anywhere" });
        const [first, second] = [await pressStop(ctx, "one"), await pressStop(ctx, "two")];
        ensure(second.stop_epoch > first.stop_epoch, `their epochs are ${first.stop_epoch} and ${second.stop_epoch}`);
      },
    },
    {
      name: "stop_ends_the_grippers_motion",
      reason: "fingers that go on closing are a motion too",
      needs: ["gripper"],
      moves: true,
      run: async (ctx) => {
        const conductor = await ctx.conductor({ from: "anywhere" });
        const arm = conductor.arm.name;
        await ctx.play(conductor, [{ gripper_move: { arm, opening_m: 0.09 } }]);
        const { group } = await ctx.start(conductor, [{ gripper_move: { arm, opening_m: 0.01, speed_m_s: 0.02 } }]);
        await sleepMs(800);
        await pressStop(ctx);
        await sleepMs(300);
        const state = await ctx.state(conductor.client);
        const reason = state.groups.find((one) => one.group === group)?.motions[0]?.end_reason;
        ensure(reason === "END_STOPPED", `it ended with ${reason}`);
        const held = state.grippers[0]!.opening_m;
        await sleepMs(700);
        const moved = Math.abs((await ctx.state(conductor.client)).grippers[0]!.opening_m - held);
        ensure(moved < 0.002, `the fingers moved by ${(1e3 * moved).toFixed(1)} mm after the stop`);
      },
    },
    {
      name: "leaving_controller_stops_the_arm",
      reason: "a motion whose program is gone is nobody's",
      moves: true,
      run: async (ctx) => {
        const conductor = await ctx.conductor();
        const rtde = await ctx.rtde(["actual_qd"]);
        await underWay(ctx, conductor);
        const left_s = now_s();
        await conductor.client.bye();
        ctx.timing("stood after", await standsSince(rtde, left_s, 3), "s", 0.8);
      },
    },
    {
      name: "lapsed_lease_stops_the_arm",
      reason: "a runtime that hangs renews nothing, and says nothing either",
      moves: true,
      run: async (ctx) => {
        const conductor = await ctx.conductor({ leaseMs: 1500 });
        const rtde = await ctx.rtde(["actual_qd"]);
        await underWay(ctx, conductor, 0.9);
        const state = await conductor.client.getState();
        const silent_s = now_s();
        conductor.client.close();
        await standsSince(rtde, silent_s, 6);
        const observer = await ctx.observer();
        const after = await observer.getState();
        ensure(
          after.stop_latched && /lease/.test(after.stop_reason),
          `a stop is ${after.stop_latched ? "" : "not "}latched: "${after.stop_reason}"`,
        );
        ensure(after.stop_epoch > state.stop_epoch, "the epoch did not rise");
      },
    },
    {
      name: "stop_works_while_javascript_hangs",
      reason: "one endless loop must not take the stop button away",
      moves: true,
      breaks: true,
      run: async (ctx) => {
        await ctx.bench.closeBackend();
        const address = `ipc:///tmp/s2r-hil-${process.pid}-stop`;
        await ctx.bench.closeDriver("arm");
        const arm = await ctx.bench.arm(address);
        const q_rad = Array.from(arm.state().q_rad);
        const { time_s, q_rad: path } = jointTrajectory(limitsOf(ctx), q_rad, bent(q_rad, { wrist_3: 0.6 }));
        const slow = Float64Array.from(time_s.map((t) => 3 * t));
        arm.execute(1, arm.state().stop_epoch, { time_s: slow, q_rad: Float64Array.from(path) }, {
          force_n: 0,
          torque_nm: 0,
          direction_world: [],
          contact_expected: false,
        } as never);
        await sleepMs(400);
        const worker = new Worker(STOPPER, { eval: true, workerData: { address, after_ms: 400 } });
        const sent = new Promise<number>((resolve, reject) => {
          worker.once("message", resolve);
          worker.once("error", reject);
        });
        await new Promise((resolve) => worker.once("online", resolve));
        const until_ms = performance.now() + 2500;
        while (performance.now() < until_ms);
        const hung_until_s = now_s();
        const sent_s = await sent;
        void worker.terminate();
        ensure(sent_s < hung_until_s - 0.5, "the stop was not sent during the hang");
        const state = arm.state();
        ensure(state.stop_latched, "no stop is latched");
        const [before, after] = [arm.stateAt(sent_s - 0.02), arm.stateAt(Math.min(sent_s + 1, hung_until_s - 0.1))];
        ensure(before && after, "the time of the hang is not kept");
        const speed = (one: { qd_rad_s: ArrayLike<number> }): number => Math.max(...Array.from(one.qd_rad_s, Math.abs));
        ensure(speed(before) > 2 * STILL_RAD_S, "the arm did not move when the stop was sent");
        ensure(
          speed(after) < STILL_RAD_S,
          `during the hang it still moved at ${speed(after).toFixed(3)} rad/s after the stop`,
        );
      },
    },
    {
      name: "killed_backend_leaves_the_arm_at_rest",
      reason: "where nothing of ours runs any more, the controller's watchdog must end the motion",
      moves: true,
      breaks: true,
      run: async (ctx) => {
        const conductor = await ctx.conductor();
        const rtde = await ctx.rtde(["actual_qd"]);
        await underWay(ctx, conductor, 0.9);
        const { pid } = await ctx.bench.backend();
        const killed_s = now_s();
        process.kill(pid, "SIGKILL");
        ctx.timing("stood after", await standsSince(rtde, killed_s, 3), "s", 1);
      },
    },
    {
      name: "frozen_backend_leaves_the_arm_at_rest",
      reason: "a process that is held by a debugger or swapped out sends no setpoints",
      moves: true,
      breaks: true,
      run: async (ctx) => {
        const conductor = await ctx.conductor();
        const rtde = await ctx.rtde(["actual_qd"]);
        await underWay(ctx, conductor, 0.9);
        const { pid } = await ctx.bench.backend();
        const frozen_s = now_s();
        process.kill(pid, "SIGSTOP");
        try {
          ctx.timing("stood after", await standsSince(rtde, frozen_s, 3), "s", 1);
        } finally {
          process.kill(pid, "SIGCONT");
          await sleepMs(300);
        }
      },
    },
    {
      name: "closing_backend_brings_the_arm_to_rest",
      reason: "an ordinary end during a motion is no reason for a protective stop",
      moves: true,
      breaks: true,
      run: async (ctx) => {
        const conductor = await ctx.conductor();
        const rtde = await ctx.rtde(["actual_qd", "safety_status_bits"]);
        await underWay(ctx, conductor, 0.9);
        const closed_s = now_s();
        await ctx.bench.closeBackend();
        await standsSince(rtde, closed_s, 5);
        const bits = (await rtde.fresh()).values.safety_status_bits![0]!;
        ensure((bits & 1) === 1, `the controller's safety status is ${bits.toString(2)}, not normal`);
      },
    },
  ],
};

/** The arm's limits as a plan is made from them, without a backend. */
function limitsOf(ctx: HilContext): Parameters<typeof jointTrajectory>[0] {
  const { limits } = ctx.rig.arm;
  const of = limits.velocity_rad_s.map((velocity, joint) => ({
    velocity_rad_s: velocity * ctx.bench.speed,
    acceleration_rad_s2: limits.acceleration_rad_s2[joint]!,
  }));
  return { name: "arm", limits: of } as unknown as Parameters<typeof jointTrajectory>[0];
}

/** Sends one stop from a thread of its own; answers with when. */
const STOPPER = `
const { parentPort, workerData } = require("node:worker_threads");
const { Dealer } = require("zeromq");
const socket = new Dealer({ linger: 500 });
socket.connect(workerData.address);
setTimeout(() => {
  const at_s = Number(process.hrtime.bigint()) / 1e9;
  socket.send(Buffer.from([8, 1])).then(() => parentPort.postMessage(at_s));
}, workerData.after_ms);
`;
