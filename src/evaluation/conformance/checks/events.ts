import { type CheckGroup, ensure } from "../check.js";
import { finish, firstArm, jointTrajectory, nearby, start } from "../motion.js";

export const events: CheckGroup = {
  group: "events",
  checks: [
    {
      name: "events_are_numbered_without_gaps",
      reason: "who listens must see that something was missed",
      run: async (ctx) => {
        const record = await ctx.events();
        const session = await ctx.controller();
        for (let count = 0; count < 3; count += 1) {
          await ctx.stop(`number ${count}`);
          await ctx.state(session);
          await ctx.resume(session);
        }
        await record.until("resumed", (event) => event.resumed?.stop_epoch === session.stop_epoch);
        const numbers = record.events.map((event) => event.number);
        for (const [index, number] of numbers.entries())
          ensure(index === 0 || number === numbers[index - 1]! + 1, `events are numbered ${numbers.join(", ")}`);
      },
    },
    {
      name: "motion_is_published_from_start_to_end",
      reason: "a page or a log shows motions that it did not start",
      needs: ["motion"],
      run: async (ctx) => {
        const record = await ctx.events();
        const session = await ctx.controller();
        const { arm, q_rad } = await firstArm(ctx, session);
        const { group, expected_end_time_s } = await start(session, [
          { joint_trajectory: jointTrajectory(arm, q_rad, nearby(q_rad)) },
        ]);
        await finish(ctx, session, group, expected_end_time_s);
        const ended = await record.until("motion_ended", (event) => event.motion_ended?.group === group);
        const started = record.of("group_started").find((event) => event.group_started?.group === group);
        ensure(started, "no group_started event came");
        ensure(
          started.number < ended.number && started.time_s < ended.time_s,
          "the end was published before the start",
        );
        ensure(
          ended.motion_ended!.motions[0]!.end_reason === "END_COMPLETED",
          `it ended with ${ended.motion_ended!.motions[0]!.end_reason}`,
        );
      },
    },
    {
      name: "progress_is_at_most_ten_a_second",
      reason: "watching must not cost what it watches",
      needs: ["motion"],
      run: async (ctx) => {
        const record = await ctx.events();
        const session = await ctx.controller();
        const { arm, q_rad } = await firstArm(ctx, session);
        const trajectory = jointTrajectory(arm, q_rad, nearby(q_rad));
        trajectory.time_s = trajectory.time_s.map((time_s) => 2 * time_s);
        const { group, expected_end_time_s } = await start(session, [{ joint_trajectory: trajectory }]);
        await finish(ctx, session, group, expected_end_time_s);
        await record.until("motion_ended", (event) => event.motion_ended?.group === group);
        const progress = record.of("group_progress").filter((event) => event.group_progress?.group === group);
        const most = 10 * trajectory.time_s.at(-1)! + 2;
        ensure(progress.length <= most, `${progress.length} progress events came in ${trajectory.time_s.at(-1)} s`);
        ensure(progress.length > 0, "no progress was told");
        const done = progress.map((event) => event.group_progress!.motions[0]!.fraction_done);
        ensure(
          done.every((value, index) => index === 0 || value >= done[index - 1]!),
          `progress went ${done.join(", ")}`,
        );
      },
    },
    {
      name: "stop_and_resume_are_published",
      reason: "everybody who shows the robot must show that it is stopped",
      run: async (ctx) => {
        const record = await ctx.events();
        const session = await ctx.controller();
        const { stop_epoch } = await ctx.stop("for all to see");
        const stopped = await record.until("stopped", (event) => event.stopped?.stop_epoch === stop_epoch);
        ensure(stopped.stopped!.reason.includes("for all to see"), `the reason is "${stopped.stopped!.reason}"`);
        await ctx.state(session);
        await ctx.resume(session);
        await record.until("resumed", (event) => event.resumed?.stop_epoch === stop_epoch);
      },
    },
    {
      name: "advance_tells_the_events_that_are_published",
      reason: "a client that waits in Advance must learn the same as one that listens",
      needs: ["sim_clock", "motion"],
      run: async (ctx) => {
        const record = await ctx.events();
        const session = await ctx.controller();
        const { arm, q_rad } = await firstArm(ctx, session);
        await start(session, [{ joint_trajectory: jointTrajectory(arm, q_rad, nearby(q_rad)) }]);
        const told = await session.must("advance", { advance: { until_s: session.time_s + 10 } });
        const numbers = told.events.map((event) => event.number);
        ensure(numbers.length > 0, "the Advance told no event of a motion that ended in it");
        await record.until("motion_ended", (event) => event.number === numbers.at(-1));
        const published = record.events.map((event) => event.number);
        for (const number of numbers) ensure(published.includes(number), `event ${number} was told and not published`);
      },
    },
  ],
};
