import { stopRequestCodec } from "../../../contract/wire/device-codec.js";
import { type CheckGroup, ensure, ensureNear } from "../check.js";
import type { ConformanceContext } from "../context.js";
import { sleepMs } from "../context.js";
import { distance, ensureEnded, firstArm, jointTrajectory, nearby, start } from "../motion.js";
import { bodyOf, type RawSession } from "../peer.js";

/** Starts a motion that takes seconds, and lets it come to speed. */
async function slowMotion(ctx: ConformanceContext, session: RawSession) {
  const { arm, q_rad } = await firstArm(ctx, session);
  const trajectory = jointTrajectory(arm, q_rad, nearby(q_rad, 0.5));
  trajectory.time_s = trajectory.time_s.map((time_s) => 2 * time_s);
  const started = await start(session, [{ joint_trajectory: trajectory }]);
  await ctx.pass(session, trajectory.time_s.at(-1)! * 0.4);
  return { arm, trajectory, target: nearby(q_rad, 0.5), from: q_rad, ...started };
}

export const stop: CheckGroup = {
  group: "stop",
  checks: [
    {
      name: "stop_raises_the_epoch",
      reason: "everything planned before a stop is told by its epoch",
      run: async (ctx) => {
        const session = await ctx.controller();
        const before = session.stop_epoch;
        const { stop_epoch } = await ctx.stop("conformance");
        ensure(stop_epoch === before + 1, `the epoch went from ${before} to ${stop_epoch}`);
        await ctx.state(session);
        ensure(session.stop_epoch === stop_epoch, `replies still tell the epoch ${session.stop_epoch}`);
      },
    },
    {
      name: "every_stop_raises_the_epoch",
      reason: "a second stop must also end what was planned after the first",
      run: async (ctx) => {
        await ctx.controller();
        const first = await ctx.stop("one");
        const second = await ctx.stop("two");
        ensure(
          second.stop_epoch === first.stop_epoch + 1,
          `two stops gave ${first.stop_epoch} and ${second.stop_epoch}`,
        );
      },
    },
    {
      name: "stop_is_latched_with_its_reason",
      reason: "whoever comes later must see that the arm was stopped, and why",
      run: async (ctx) => {
        const session = await ctx.controller();
        await ctx.stop("because of conformance");
        const state = await ctx.state(session);
        ensure(state.stop_latched, "the state does not tell the stop");
        ensure(state.stop_reason.includes("because of conformance"), `the reason is "${state.stop_reason}"`);
        for (const arm of state.arms) ensure(arm.mode === "STOPPED", `${arm.name} is ${arm.mode}`);
      },
    },
    {
      name: "stop_needs_no_session",
      reason: "a person with a button must not have to say Hello first",
      run: async (ctx) => {
        const session = await ctx.controller();
        const request = { protocol_major: 1, session: "of-nobody", reason: "stranger" };
        await ctx.stop(stopRequestCodec.encode(request));
        ensure((await ctx.state(session)).stop_latched, "the stop of an unknown session was not honoured");
      },
    },
    {
      name: "stop_of_another_version_is_honoured",
      reason: "when in doubt, the arm stands",
      run: async (ctx) => {
        const session = await ctx.controller();
        await ctx.stop(stopRequestCodec.encode({ protocol_major: 9, reason: "from the future" }));
        ensure((await ctx.state(session)).stop_latched, "the stop was not honoured");
      },
    },
    {
      name: "unreadable_stop_leaves_the_stop_socket_alive",
      reason: "garbage must not disarm the one socket that must always work",
      run: async (ctx) => {
        const session = await ctx.controller();
        const peer = ctx.peer(ctx.target.addresses.stop);
        for (const bytes of [Buffer.alloc(0), Buffer.from([0xff, 0xff, 0xff]), Buffer.alloc(2000, 7)]) peer.send(bytes);
        peer.send(Buffer.from("a"), Buffer.from("b"));
        await ctx.stop("after garbage");
        ensure((await ctx.state(session)).stop_latched, "no stop is latched after garbage and a good stop");
      },
    },
    {
      name: "execute_is_refused_while_stopped",
      reason: "a latched stop is cleared by a decision, not by the next motion",
      needs: ["motion"],
      run: async (ctx) => {
        const session = await ctx.controller();
        const { arm, q_rad } = await firstArm(ctx, session);
        const { stop_epoch } = await ctx.stop("conformance");
        const motions = [{ joint_trajectory: jointTrajectory(arm, q_rad, nearby(q_rad)) }];
        await session.refused("ERROR_STOP_EPOCH", { execute: { stop_epoch, motions } });
        const { q_rad: after } = await firstArm(ctx, session);
        ensure(distance(after, q_rad) < 0.01, "the arm moved");
      },
    },
    {
      name: "execute_of_an_older_epoch_is_refused_for_ever",
      reason: "a plan from before the stop knows nothing of what made somebody press the button",
      needs: ["motion"],
      run: async (ctx) => {
        const session = await ctx.controller();
        const { arm, q_rad } = await firstArm(ctx, session);
        const before = session.stop_epoch;
        await ctx.stop("conformance");
        await ctx.state(session);
        await ctx.resume(session);
        const motions = [{ joint_trajectory: jointTrajectory(arm, q_rad, nearby(q_rad)) }];
        await session.refused("ERROR_STOP_EPOCH", { execute: { stop_epoch: before, motions } });
        await session.refused("ERROR_STOP_EPOCH", { execute: { stop_epoch: session.stop_epoch + 1, motions } });
        await ctx.pass(session, 0.3);
        const { q_rad: after } = await firstArm(ctx, session);
        ensure(distance(after, q_rad) < 0.01, "the arm moved");
      },
    },
    {
      name: "stop_brings_the_arm_to_rest",
      reason: "stopped means standing, within a second and near where it was",
      needs: ["motion"],
      run: async (ctx) => {
        const session = await ctx.controller();
        const { group, target } = await slowMotion(ctx, session);
        const { q_rad: at_stop } = await firstArm(ctx, session);
        await ctx.stop("conformance");
        await ctx.pass(session, 1);
        const { state, q_rad: rest } = await firstArm(ctx, session);
        await ctx.pass(session, 0.5);
        const { q_rad: later } = await firstArm(ctx, session);
        ensure(distance(rest, at_stop) < 0.3, `the arm went on by ${distance(rest, at_stop)} rad`);
        ensure(distance(rest, target) > 0.02, "the arm finished its motion");
        ensure(distance(later, rest) < 0.003, `the arm still moves, by ${distance(later, rest)} rad in half a second`);
        const speed = Math.max(...state.arms[0]!.qd_rad_s.map(Math.abs));
        ensure(speed < 0.02, `a joint turns at ${speed} rad/s one second after the stop`);
        const status = state.groups.find((candidate) => candidate.group === group);
        ensure(status && !status.active, "the group is still active");
        ensureEnded(status, "END_STOPPED");
      },
    },
    {
      name: "stop_is_served_during_a_long_advance",
      reason: "a stop waits for nothing, least of all for simulated time to pass",
      needs: ["sim_clock"],
      run: async (ctx) => {
        const session = await ctx.controller();
        await ctx.state(session);
        const from_s = session.time_s;
        const request = session.encode({ advance: { until_s: from_s + 60, through_motion_ends: true } });
        session.sequence += 1;
        session.peer.send(request);
        await sleepMs(30);
        const { stop_epoch, time_s } = await ctx.stop("conformance");
        const { reply } = await session.answer(request);
        const events = bodyOf(reply, "advance").events.map((event) => event.stopped?.stop_epoch);
        if (reply.time_s >= from_s + 60 - 1e-6) return; // it was faster than the stop could be sent
        ensure(events.includes(stop_epoch), "the Advance that the stop ended does not tell it");
        ensure(reply.time_s <= time_s + 0.1, `the Advance went on to ${reply.time_s} s after a stop at ${time_s} s`);
      },
    },
    {
      name: "stop_tells_when_the_arm_began_to_slow",
      reason: "the delay from a button to the arm is a figure that is measured and promised",
      run: async (ctx) => {
        const session = await ctx.controller();
        await ctx.state(session);
        const before_s = session.time_s;
        const { time_s } = await ctx.stop("conformance");
        await ctx.state(session);
        ensure(
          time_s >= before_s && time_s <= session.time_s,
          `${time_s} s is not between ${before_s} and ${session.time_s} s`,
        );
      },
    },
    {
      name: "resume_clears_the_stop",
      reason: "after a look, work goes on without a restart",
      needs: ["motion"],
      run: async (ctx) => {
        const session = await ctx.controller();
        await ctx.stop("conformance");
        await ctx.state(session);
        await ctx.resume(session);
        const { arm, q_rad, state } = await firstArm(ctx, session);
        ensure(!state.stop_latched, "the stop is still latched");
        ensure(
          state.arms.every(({ mode }) => mode === "IDLE"),
          `arms are ${state.arms.map(({ mode }) => mode).join(", ")}`,
        );
        await start(session, [{ joint_trajectory: jointTrajectory(arm, q_rad, nearby(q_rad, 0.05)) }]);
      },
    },
    {
      name: "resume_names_the_current_epoch",
      reason: "a Resume that crossed a second stop must not clear it",
      run: async (ctx) => {
        const session = await ctx.controller();
        const before = session.stop_epoch;
        await ctx.stop("one");
        await ctx.stop("two");
        await session.refused("ERROR_STOP_EPOCH", { resume: { stop_epoch: before + 1 } });
        ensure((await ctx.state(session)).stop_latched, "the second stop was cleared");
      },
    },
    {
      name: "only_the_controller_resumes",
      reason: "who does not hold the lease does not decide that the arm may move again",
      run: async (ctx) => {
        const session = await ctx.controller();
        const { stop_epoch } = await ctx.stop("conformance");
        for (const role of ["OBSERVER", "STOPPER"] as const) {
          const other = await ctx.session(role);
          await other.refused("ERROR_ROLE", { resume: { stop_epoch } });
        }
        ensure((await ctx.state(session)).stop_latched, "the stop was cleared");
      },
    },
    {
      name: "stop_keeps_the_grip",
      reason: "a stop must not drop what is held",
      needs: ["motion", "gripper"],
      run: async (ctx) => {
        const session = await ctx.controller();
        const gripper = ctx.capabilities.grippers[0]!;
        const opening = async () => (await ctx.state(session)).grippers[0]!.opening_m;
        const closing = { gripper_move: { arm: gripper.arm, opening_m: 0.3 * gripper.max_opening_m } };
        await start(session, [closing]);
        await ctx.pass(session, 3);
        const before_m = await opening();
        await ctx.stop("conformance");
        await ctx.pass(session, 1);
        ensureNear(await opening(), before_m, 0.002, "the opening after the stop");
      },
    },
    {
      name: "bye_of_the_controller_stops_its_motion",
      reason: "nobody is left who would watch it",
      needs: ["motion"],
      run: async (ctx) => {
        const watcher = await ctx.session("OBSERVER");
        const session = await ctx.controller();
        await slowMotion(ctx, session);
        await session.bye();
        ensure((await ctx.state(watcher)).stop_latched, "the motion goes on after its controller left");
        const next = await ctx.session("CONTROLLER");
        await ctx.state(next);
        await ctx.resume(next);
      },
    },
  ],
};
