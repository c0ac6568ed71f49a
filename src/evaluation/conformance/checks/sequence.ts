import { type CheckGroup, ensure } from "../check.js";
import { firstArm, jointTrajectory, nearby } from "../motion.js";
import { bodyOf, ensureRefused } from "../peer.js";

export const sequence: CheckGroup = {
  group: "sequence and deadlines",
  checks: [
    {
      name: "gap_in_the_sequence_is_refused",
      reason: "a request that overtook another one must not act before it",
      run: async (ctx) => {
        const session = await ctx.session("OBSERVER");
        await session.refused("ERROR_SEQUENCE", { get_state: {} }, { sequence: session.sequence + 1 });
        await session.must("state", { get_state: {} });
      },
    },
    {
      name: "step_back_in_the_sequence_is_refused",
      reason: "an old request with a new name would be done a second time",
      run: async (ctx) => {
        const session = await ctx.session("OBSERVER");
        await session.must("state", { get_state: {} });
        await session.refused("ERROR_SEQUENCE", { get_state: {} }, { sequence: session.sequence - 1 });
        await session.refused("ERROR_SEQUENCE", { get_state: {} }, { sequence: 0 });
        await session.must("state", { get_state: {} });
      },
    },
    {
      name: "sequences_are_the_session_s_own",
      reason: "clients must not have to agree on a numbering",
      run: async (ctx) => {
        const [first, second] = [await ctx.session("OBSERVER"), await ctx.session("OBSERVER")];
        for (let count = 0; count < 3; count += 1) await first.must("state", { get_state: {} });
        await second.must("state", { get_state: {} });
        await first.must("state", { get_state: {} });
      },
    },
    {
      name: "pipelined_requests_are_answered_in_order",
      reason: "a client that sends ahead must be able to rely on what was done first",
      run: async (ctx) => {
        const session = await ctx.session("OBSERVER");
        const requests = Array.from({ length: 50 }, () => {
          const bytes = session.encode({ get_state: {} }, { request_id: `p${session.sequence}` });
          session.sequence += 1;
          return bytes;
        });
        session.peer.send(requests[0]!);
        for (const request of requests.slice(1)) session.peer.send(request);
        for (const [index, request] of requests.entries()) {
          const { reply } = await session.answer(request);
          ensure(reply.request_id === `p${index + 1}`, `answer ${index} is to ${reply.request_id}`);
        }
      },
    },
    {
      name: "deadline_out_of_range_is_refused",
      reason: "a request without an end could be begun long after its sender gave up",
      run: async (ctx) => {
        const session = await ctx.session("OBSERVER");
        for (const deadline_ms of [0, 600_001])
          await session.refused("ERROR_BAD_ARGUMENT", { get_state: {} }, { deadline_ms });
      },
    },
    {
      name: "work_not_begun_in_time_is_not_done",
      reason: "a motion that its sender has given up on must not start",
      needs: ["sim_clock", "motion"],
      run: async (ctx) => {
        const session = await ctx.controller();
        const { arm, q_rad } = await firstArm(ctx, session);
        const motions = [{ joint_trajectory: jointTrajectory(arm, q_rad, nearby(q_rad)) }];
        const long = session.encode(
          { advance: { until_s: session.time_s + 60, through_motion_ends: true } },
          { deadline_ms: 300 },
        );
        session.sequence += 1;
        const late = session.encode({ execute: { stop_epoch: session.stop_epoch, motions } }, { deadline_ms: 1 });
        session.sequence += 1;
        session.peer.send(long);
        session.peer.send(late);
        bodyOf((await session.answer(long)).reply, "advance");
        ensureRefused((await session.answer(late)).reply, "ERROR_DEADLINE");
        const state = await ctx.state(session);
        ensure(
          state.groups.every((group) => !group.active),
          "the late Execute moves",
        );
      },
    },
    {
      name: "advance_returns_at_its_deadline",
      reason: "a simulator slower than expected must tell how far it got, not leave its client waiting",
      needs: ["sim_clock"],
      run: async (ctx) => {
        const session = await ctx.controller();
        await ctx.state(session);
        const from_s = session.time_s;
        const begun_ms = performance.now();
        await session.must(
          "advance",
          { advance: { until_s: from_s + 60, through_motion_ends: true } },
          { deadline_ms: 60 },
        );
        const took_ms = performance.now() - begun_ms;
        ensure(session.time_s > from_s, "no time passed before the deadline");
        // A simulator may finish all of it in time; if not, it returns soon after the deadline.
        ensure(session.time_s >= from_s + 60 - 1e-6 || took_ms < 1060, `it returned after ${took_ms.toFixed(0)} ms`);
      },
    },
  ],
};
