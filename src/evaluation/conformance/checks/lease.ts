import { type CheckGroup, ensure } from "../check.js";
import { sleepMs } from "../context.js";
import { firstArm, jointTrajectory, nearby, start } from "../motion.js";

const LEASE_MS = 200;

export const lease: CheckGroup = {
  group: "lease",
  checks: [
    {
      name: "lapsed_lease_latches_a_stop",
      reason: "an arm whose program died must not finish what it was doing",
      run: async (ctx) => {
        const watcher = await ctx.session("OBSERVER");
        const controller = await ctx.controller(LEASE_MS);
        const epoch = controller.stop_epoch;
        await sleepMs(4 * LEASE_MS);
        const state = await ctx.state(watcher);
        ensure(state.stop_latched, `nothing is latched ${4 * LEASE_MS} ms after the controller fell silent`);
        ensure(/lease/i.test(state.stop_reason), `the stop's reason is "${state.stop_reason}"; it must name the lease`);
        ensure(watcher.stop_epoch > epoch, `the epoch stayed ${epoch}`);
        await ctx.resume(controller);
      },
    },
    {
      name: "lapsed_lease_ends_the_motion",
      reason: "stopping means that the arm stands, not only that a flag is set",
      needs: ["motion"],
      run: async (ctx) => {
        const watcher = await ctx.session("OBSERVER");
        const controller = await ctx.controller(LEASE_MS);
        const { arm, q_rad } = await firstArm(ctx, controller);
        const trajectory = jointTrajectory(arm, q_rad, nearby(q_rad));
        // Ten times slower, so that it cannot end by itself meanwhile.
        trajectory.time_s = trajectory.time_s.map((time_s) => 10 * time_s);
        const { group } = await start(controller, [{ joint_trajectory: trajectory }]);
        await sleepMs(4 * LEASE_MS);
        ensure((await ctx.state(watcher)).stop_latched, "no stop was latched");
        await ctx.pass(controller, 1.5);
        const status = (await ctx.state(watcher)).groups.find((candidate) => candidate.group === group);
        ensure(status && !status.active, "the group is still active");
        ensure(status.motions[0]?.end_reason === "END_STOPPED", `it ended with ${status.motions[0]?.end_reason}`);
        await ctx.resume(controller);
      },
    },
    {
      name: "any_request_renews_the_lease",
      reason: "a controller at work need not renew besides",
      run: async (ctx) => {
        const controller = await ctx.controller(LEASE_MS * 2);
        for (let count = 0; count < 12; count += 1) {
          await sleepMs(LEASE_MS / 2);
          ensure(!(await ctx.state(controller)).stop_latched, "the lease lapsed while requests came");
        }
      },
    },
    {
      name: "renew_keeps_the_lease",
      reason: "a program that thinks must be able to keep its arm",
      run: async (ctx) => {
        const controller = await ctx.controller(LEASE_MS * 2);
        for (let count = 0; count < 12; count += 1) {
          await sleepMs(LEASE_MS / 2);
          const { lease_ms } = await controller.must("renew", { renew: {} });
          ensure(lease_ms > 0 && lease_ms <= LEASE_MS * 2, `Renew told a lease of ${lease_ms} ms`);
        }
        ensure(!(await ctx.state(controller)).stop_latched, "the lease lapsed while Renew came");
      },
    },
    {
      name: "watchers_do_not_renew_the_lease",
      reason: "somebody who looks on does not prove that the controller lives",
      run: async (ctx) => {
        const watcher = await ctx.session("OBSERVER");
        const controller = await ctx.controller(LEASE_MS);
        let latched = false;
        for (let count = 0; count < 16 && !latched; count += 1) {
          await sleepMs(LEASE_MS / 4);
          latched = (await ctx.state(watcher)).stop_latched;
        }
        ensure(latched, "the lease did not lapse while an observer asked");
        await ctx.resume(controller);
      },
    },
    {
      name: "time_inside_a_request_does_not_count",
      reason: "a simulator that computes for long must not take its own time for the controller's silence",
      needs: ["sim_clock"],
      run: async (ctx) => {
        const controller = await ctx.controller(100);
        await ctx.state(controller);
        const until_s = controller.time_s + 30;
        await controller.must("advance", { advance: { until_s, through_motion_ends: true } }, { deadline_ms: 600 });
        ensure(
          !(await ctx.state(controller)).stop_latched,
          "a stop was latched while the backend was busy for its controller",
        );
      },
    },
    {
      name: "another_controller_may_take_over_a_lapsed_lease",
      reason: "a robot whose program died must be usable without restarting its backend",
      run: async (ctx) => {
        await ctx.controller(LEASE_MS);
        await sleepMs(4 * LEASE_MS);
        const next = await ctx.session("CONTROLLER");
        ensure((await ctx.state(next)).stop_latched, "the stop of the lapsed lease is gone");
        await ctx.resume(next);
        ensure(!(await ctx.state(next)).stop_latched, "the stop stays after Resume");
      },
    },
    {
      name: "lapsed_lease_is_published",
      reason: "people and programs that watch must learn why the arm stopped",
      run: async (ctx) => {
        const events = await ctx.events();
        const controller = await ctx.controller(LEASE_MS);
        const stopped = await events.until("stopped", (event) => /lease/i.test(event.stopped?.reason ?? ""));
        ensure((stopped.stopped?.stop_epoch ?? 0) > 0, "the stopped event names no epoch");
        await ctx.resume(controller);
      },
    },
  ],
};
