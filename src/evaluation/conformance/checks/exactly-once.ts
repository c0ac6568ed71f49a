import { type CheckGroup, ensure } from "../check.js";
import { distance, finish, firstArm, jointTrajectory, nearby } from "../motion.js";
import { type Answer, bodyOf, ensureRefused } from "../peer.js";

const sameWire = (a: Answer, b: Answer): boolean =>
  a.wire.length === b.wire.length && a.wire.every((part, index) => Buffer.compare(part, b.wire[index]!) === 0);

export const exactlyOnce: CheckGroup = {
  group: "exactly once",
  checks: [
    {
      name: "repeated_request_gets_the_first_reply",
      reason: "a client that heard nothing asks again, and must learn what happened the first time",
      run: async (ctx) => {
        const session = await ctx.session("OBSERVER");
        const first = await session.ask({ get_state: {} });
        await session.ask({ get_state: {} });
        ensure(sameWire(first, await session.exchange(first.request)), "the repeated request got other bytes");
      },
    },
    {
      name: "repeated_execute_moves_once",
      reason: "a motion that is played twice ends somewhere else than planned",
      needs: ["motion"],
      run: async (ctx) => {
        const session = await ctx.controller();
        const { arm, q_rad } = await firstArm(ctx, session);
        const target = nearby(q_rad);
        const motions = [{ joint_trajectory: jointTrajectory(arm, q_rad, target) }];
        const first = await session.ask({ execute: { stop_epoch: session.stop_epoch, motions } });
        const { group, expected_end_time_s } = bodyOf(first.reply, "execute");
        ensure(
          sameWire(first, await session.exchange(first.request)),
          "the repeated Execute got another reply while it moved",
        );
        await finish(ctx, session, group, expected_end_time_s);
        ensure(
          sameWire(first, await session.exchange(first.request)),
          "the repeated Execute got another reply after it moved",
        );
        await ctx.pass(session, 0.3);
        const { state, q_rad: reached } = await firstArm(ctx, session);
        ensure(
          state.groups.every((known) => !known.active),
          "a group is active after the repeated Execute",
        );
        ensure(
          state.groups.filter((known) => known.group > group).length === 0,
          "the repeated Execute started a second group",
        );
        ensure(distance(reached, target) < 0.02, "the arm is not where the one motion ends");
      },
    },
    {
      name: "repeated_advance_passes_time_once",
      reason: "a lost reply must not cost simulated time, or runs would not repeat",
      needs: ["sim_clock"],
      run: async (ctx) => {
        const session = await ctx.controller();
        await ctx.state(session);
        const first = await session.ask({ advance: { until_s: session.time_s + 0.2 } });
        ensure(sameWire(first, await session.exchange(first.request)), "the repeated Advance got another reply");
        const { time_s } = (await session.ask({ get_state: {} })).reply;
        ensure(time_s === first.reply.time_s, `time went on from ${first.reply.time_s} to ${time_s} s`);
      },
    },
    {
      name: "repeated_frames_are_the_same_pixels",
      reason: "a picture asked for again after a lost reply must be that picture, not a later one",
      needs: ["cameras"],
      run: async (ctx) => {
        const session = await ctx.controller();
        const camera = ctx.capabilities.cameras[0]!.name;
        const first = await session.ask({ get_frames: { cameras: [camera] } });
        bodyOf(first.reply, "frames");
        await ctx.pass(session, 0.1);
        ensure(sameWire(first, await session.exchange(first.request)), "the repeated GetFrames got other parts");
      },
    },
    {
      name: "repeated_refusal_is_the_same",
      reason: "what was refused once must not be done when asked again in the same words",
      run: async (ctx) => {
        const session = await ctx.session("OBSERVER");
        const first = await session.refused("ERROR_BAD_ARGUMENT", { get_frames: { cameras: ["no_such_camera"] } });
        ensure(sameWire(first, await session.exchange(first.request)), "the repeated request got another refusal");
      },
    },
    {
      name: "request_id_with_other_bytes_is_refused",
      reason: "one name for two requests is a defect of the client, and neither answer would be right",
      run: async (ctx) => {
        const session = await ctx.session("OBSERVER");
        await session.must("state", { get_state: {} }, { request_id: "same" });
        await session.refused("ERROR_DUPLICATE_ID", { get_state: {} }, { request_id: "same" });
        await session.must("state", { get_state: {} });
      },
    },
    {
      name: "request_ids_are_the_session_s_own",
      reason: "two clients that count alike must not get each other's replies",
      run: async (ctx) => {
        const first = await ctx.session("OBSERVER");
        const second = await ctx.session("OBSERVER");
        await first.must("state", { get_state: {} }, { request_id: "q1" });
        await second.must("state", { get_state: {} }, { request_id: "q1" });
      },
    },
    {
      name: "last_256_replies_are_kept",
      reason: "a retry may come after many pipelined requests",
      run: async (ctx) => {
        const session = await ctx.session("OBSERVER");
        const first = await session.ask({ get_state: {} });
        for (let count = 0; count < 255; count += 1) await session.must("state", { get_state: {} });
        ensure(sameWire(first, await session.exchange(first.request)), "the reply of 255 requests ago is not kept");
      },
    },
    {
      name: "an_id_beyond_the_kept_ones_is_not_served_anew",
      reason: "forgetting a reply must not mean doing the request again",
      run: async (ctx) => {
        const session = await ctx.session("OBSERVER");
        const first = await session.ask({ get_state: {} });
        for (let count = 0; count < 600; count += 1) await session.must("state", { get_state: {} });
        const again = await session.exchange(first.request);
        if (!sameWire(first, again)) ensureRefused(again.reply, "ERROR_EXPIRED_ID");
      },
    },
    {
      name: "repeated_bye_gets_its_reply",
      reason: "a goodbye whose reply was lost is said again",
      run: async (ctx) => {
        const session = await ctx.session("OBSERVER");
        const bytes = session.encode({ bye: {} });
        const first = await session.exchange(bytes);
        bodyOf(first.reply, "bye");
        ensure(sameWire(first, await session.exchange(bytes)), "the repeated Bye got another reply");
        session.ended = true;
      },
    },
  ],
};
