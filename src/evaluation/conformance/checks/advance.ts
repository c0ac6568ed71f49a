import { type CheckGroup, ensure, ensureNear } from "../check.js";
import { sleepMs } from "../context.js";
import { firstArm, jointTrajectory, nearby, start } from "../motion.js";

export const advance: CheckGroup = {
  group: "time",
  checks: [
    {
      name: "simulated_time_stands_still",
      reason: "the same calls must give the same world, however long anybody thinks between them",
      needs: ["sim_clock"],
      run: async (ctx) => {
        const session = await ctx.controller();
        await ctx.state(session);
        const before_s = session.time_s;
        await sleepMs(200);
        await ctx.state(session);
        ensure(session.time_s === before_s, `time went from ${before_s} to ${session.time_s} s by itself`);
      },
    },
    {
      name: "wall_time_passes",
      reason: "on a real clock, device time is what motions and exposures are told in",
      needs: ["wall_clock"],
      run: async (ctx) => {
        const session = await ctx.session("OBSERVER");
        await ctx.state(session);
        const before_s = session.time_s;
        await sleepMs(300);
        await ctx.state(session);
        ensure(session.time_s > before_s, "time stands still on a wall clock");
      },
    },
    {
      name: "advance_on_a_wall_clock_is_refused",
      reason: "nobody can move real time, and a client that thinks so has the wrong backend",
      needs: ["wall_clock"],
      run: async (ctx) => {
        const session = await ctx.controller();
        await session.refused("ERROR_CLOCK", { advance: { until_s: session.time_s + 1 } });
      },
    },
    {
      name: "advance_arrives",
      reason: "a wait of a tenth of a second is a tenth of a second",
      needs: ["sim_clock"],
      run: async (ctx) => {
        const session = await ctx.controller();
        await ctx.state(session);
        for (const duration_s of [0.1, 0.5, 0.02, 1.234]) {
          const until_s = session.time_s + duration_s;
          await session.must("advance", { advance: { until_s } });
          ensureNear(session.time_s, until_s, ctx.capabilities.control_period_s + 1e-9, "the time after Advance");
        }
      },
    },
    {
      name: "advance_returns_at_the_end_of_a_motion",
      reason: "the program that waits for the motion goes on then, not later",
      needs: ["sim_clock", "motion"],
      run: async (ctx) => {
        const session = await ctx.controller();
        const { arm, q_rad } = await firstArm(ctx, session);
        const { group, expected_end_time_s } = await start(session, [
          { joint_trajectory: jointTrajectory(arm, q_rad, nearby(q_rad)) },
        ]);
        const { events } = await session.must("advance", { advance: { until_s: session.time_s + 30 } });
        const ended = events.find((event) => event.motion_ended?.group === group);
        ensure(ended, "no motion_ended event of the group came with the Advance");
        ensure(
          session.time_s < expected_end_time_s + 1,
          `it returned at ${session.time_s} s, the end was due at ${expected_end_time_s} s`,
        );
        ensureNear(session.time_s, ended.time_s, 0.021, "the time of the return");
      },
    },
    {
      name: "advance_through_motion_ends_goes_on",
      reason: "settling and sleeping take their whole time, whatever ends meanwhile",
      needs: ["sim_clock", "motion"],
      run: async (ctx) => {
        const session = await ctx.controller();
        const { arm, q_rad } = await firstArm(ctx, session);
        const { expected_end_time_s } = await start(session, [
          { joint_trajectory: jointTrajectory(arm, q_rad, nearby(q_rad)) },
        ]);
        const until_s = expected_end_time_s + 2;
        await session.must("advance", { advance: { until_s, through_motion_ends: true } });
        ensureNear(session.time_s, until_s, ctx.capabilities.control_period_s + 1e-9, "the time after Advance");
      },
    },
    {
      name: "advance_too_far_is_refused",
      reason: "a mistaken time must not be computed for hours",
      needs: ["sim_clock"],
      run: async (ctx) => {
        const session = await ctx.controller();
        await ctx.state(session);
        const from_s = session.time_s;
        for (const until_s of [from_s + 61, Number.NaN, Number.POSITIVE_INFINITY])
          await session.refused("ERROR_BAD_ARGUMENT", { advance: { until_s } });
        await ctx.state(session);
        ensure(session.time_s === from_s, "time passed in a refused Advance");
      },
    },
    {
      name: "only_the_controller_advances",
      reason: "time belongs to the session whose program runs in it",
      needs: ["sim_clock"],
      run: async (ctx) => {
        const session = await ctx.controller();
        await ctx.state(session);
        const observer = await ctx.session("OBSERVER");
        await observer.refused("ERROR_ROLE", { advance: { until_s: session.time_s + 0.1 } });
      },
    },
    {
      name: "one_advance_equals_many",
      reason: "how a client cuts its waits must not change what happens",
      needs: ["sim_clock", "privileged", "motion"],
      run: async (ctx) => {
        const hashes: string[] = [];
        for (const steps of [1, 7]) {
          const session = await ctx.controller();
          const { arm, q_rad } = await firstArm(ctx, session);
          await start(session, [{ joint_trajectory: jointTrajectory(arm, q_rad, nearby(q_rad)) }]);
          const from_s = session.time_s;
          const periods = Math.round(0.7 / ctx.capabilities.control_period_s / 7);
          const step_s = periods * ctx.capabilities.control_period_s * (7 / steps);
          for (let step = 1; step <= steps; step += 1)
            await session.must("advance", { advance: { until_s: from_s + step * step_s, through_motion_ends: true } });
          hashes.push((await ctx.evaluator.stateHash()).state_hash);
          await session.bye();
        }
        ensure(hashes[0] === hashes[1], "one Advance and seven gave different worlds");
      },
    },
    {
      name: "same_calls_give_the_same_world",
      reason: "results can be compared only where they repeat",
      needs: ["sim_clock", "privileged", "motion"],
      run: async (ctx) => {
        const hashes: string[] = [];
        for (let run = 0; run < 2; run += 1) {
          const { state_hash } = await ctx.evaluator.reset({ task: ctx.task.name, seed: ctx.task.seed });
          const session = await ctx.session("CONTROLLER");
          const { arm, q_rad } = await firstArm(ctx, session);
          await start(session, [{ joint_trajectory: jointTrajectory(arm, q_rad, nearby(q_rad)) }]);
          await session.must("advance", { advance: { until_s: session.time_s + 1, through_motion_ends: true } });
          hashes.push(state_hash, (await ctx.evaluator.stateHash()).state_hash);
          await session.bye();
        }
        ensure(hashes[0] === hashes[2], "two resets with one seed gave different worlds");
        ensure(hashes[1] === hashes[3], "the same calls after the same reset gave different worlds");
        ensure(hashes[0] !== hashes[1], "the state hash does not change while the arm moves");
      },
    },
  ],
};
