import { type CheckGroup, ensure, ensureNear } from "../check.js";
import type { ConformanceContext } from "../context.js";
import { finish, firstArm, jointTrajectory, start } from "../motion.js";
import type { RawSession } from "../peer.js";
import { angle_rad, distance_m, forwardKinematics, rigidityError } from "../transforms.js";

const KINEMATIC_STATES = 50;
const POSITION_TOLERANCE_M = 1e-4;
const ANGLE_TOLERANCE_RAD = (0.01 * Math.PI) / 180;

/** Numbers from 0 to 1 that repeat. */
function* numbers(seed: number): Generator<number> {
  let value = seed;
  for (;;) {
    value = (Math.imul(value, 1664525) + 1013904223) >>> 0;
    yield value / 2 ** 32;
  }
}

/** Joint positions about home, with less swing the further a joint throws the arm. */
function aboutHome(home: readonly number[], random: Generator<number>): number[] {
  const swings = [0.3, 0.12, 0.15, 0.4, 0.4, 0.8];
  return home.map((q, joint) => q + (2 * (random.next().value as number) - 1) * (swings[joint] ?? 0.3));
}

async function compareKinematics(ctx: ConformanceContext, session: RawSession, seen: Set<string>): Promise<void> {
  const { arm, q_rad, state } = await firstArm(ctx, session);
  const X_world_tcp = state.arms[0]!.X_world_tcp;
  const expected = forwardKinematics(arm, q_rad);
  const apart_m = distance_m(expected, X_world_tcp);
  const turned_rad = angle_rad(expected, X_world_tcp);
  const at = `at joints ${q_rad.map((q) => q.toFixed(4)).join(", ")}`;
  ensure(
    apart_m <= POSITION_TOLERANCE_M,
    `${at} the TCP is ${(apart_m * 1000).toFixed(3)} mm from its forward kinematics`,
  );
  ensure(turned_rad <= ANGLE_TOLERANCE_RAD, `${at} the TCP is turned ${turned_rad} rad from its forward kinematics`);
  seen.add(q_rad.map((q) => q.toFixed(3)).join());
}

export const state: CheckGroup = {
  group: "state",
  checks: [
    {
      name: "state_lists_all_arms_and_grippers",
      reason: "a name in the capabilities must be a thing that can be read",
      run: async (ctx) => {
        const session = await ctx.controller();
        const found = await ctx.state(session);
        const names = (list: readonly { name: string }[]) => list.map(({ name }) => name).join();
        ensure(names(found.arms) === names(ctx.capabilities.arms), `the state's arms are ${names(found.arms)}`);
        const arms = (list: readonly { arm: string }[]) => list.map(({ arm }) => arm).join();
        ensure(
          arms(found.grippers) === arms(ctx.capabilities.grippers),
          `the state's grippers are on ${arms(found.grippers)}`,
        );
      },
    },
    {
      name: "state_is_finite_and_rigid",
      reason: "one NaN in a pose spreads through every plan",
      run: async (ctx) => {
        const found = await ctx.state(await ctx.controller());
        for (const arm of found.arms) {
          const joints = ctx.capabilities.arms.find(({ name }) => name === arm.name)!.dh.length;
          ensure(
            arm.q_rad.length === joints && arm.qd_rad_s.length === joints,
            `${arm.name} tells ${arm.q_rad.length} joints`,
          );
          ensure(arm.tcp_wrench.length === 6, `${arm.name}'s wrench has ${arm.tcp_wrench.length} numbers`);
          for (const value of [...arm.q_rad, ...arm.qd_rad_s, ...arm.tcp_wrench])
            ensure(Number.isFinite(value), `${arm.name} tells ${value}`);
          ensure(rigidityError(arm.X_world_tcp) < 1e-6, `${arm.name}'s X_world_tcp is not a rigid transform`);
        }
      },
    },
    {
      name: "state_is_of_now",
      reason: "a plan from where the arm was is a jump",
      run: async (ctx) => {
        const session = await ctx.controller();
        await ctx.pass(session, 0.5);
        const found = await ctx.state(session);
        for (const { time_s, name } of found.arms)
          ensureNear(time_s, session.time_s, 0.1, `the time of ${name}'s state`);
        for (const { time_s } of found.grippers)
          ensureNear(time_s, session.time_s, 0.2, "the time of the gripper's state");
      },
    },
    {
      name: "joints_are_within_their_limits",
      reason: "limits that the arm itself does not keep are wrong numbers",
      run: async (ctx) => {
        const { arm, q_rad } = await firstArm(ctx, await ctx.controller());
        for (const [joint, q] of q_rad.entries()) {
          const { position_min_rad, position_max_rad } = arm.limits[joint]!;
          ensure(q >= position_min_rad - 1e-3 && q <= position_max_rad + 1e-3, `joint ${joint} is at ${q} rad`);
        }
      },
    },
    {
      name: "idle_arm_is_at_rest",
      reason: "an arm that creeps loses what it was calibrated for",
      run: async (ctx) => {
        const session = await ctx.controller();
        await ctx.pass(session, 0.5);
        const before = await firstArm(ctx, session);
        await ctx.pass(session, 1);
        const { q_rad, state: found } = await firstArm(ctx, session);
        for (const [joint, q] of q_rad.entries())
          ensureNear(q, before.q_rad[joint]!, 0.002, `joint ${joint} a second later`);
        for (const speed of found.arms[0]!.qd_rad_s) ensureNear(speed, 0, 0.02, "a joint's speed at rest");
      },
    },
    {
      name: "wrench_in_free_space_is_small",
      reason: "contact is decided against it; an offset would stop every motion or none",
      needs: ["motion"],
      run: async (ctx) => {
        const session = await ctx.controller();
        await ctx.pass(session, 0.5);
        const found = await ctx.state(session);
        for (const arm of found.arms) {
          const limits = ctx.capabilities.arms.find(({ name }) => name === arm.name)!;
          const force_n = Math.hypot(...arm.tcp_wrench.slice(0, 3));
          const limit_n = limits.contact_force_default_n || 25;
          ensure(
            force_n < limit_n,
            `${arm.name} feels ${force_n.toFixed(1)} N in free space; its contact guard is ${limit_n} N`,
          );
        }
      },
    },
    {
      name: "forward_kinematics_equals_the_tcp",
      reason:
        "the runtime plans with the model of the capabilities; where it differs from the arm's own, every grasp is off",
      needs: ["motion"],
      run: async (ctx) => {
        const session = await ctx.controller();
        const random = numbers(20_017);
        const seen = new Set<string>();
        await compareKinematics(ctx, session, seen);
        while (seen.size < KINEMATIC_STATES) {
          const { arm, q_rad } = await firstArm(ctx, session);
          const trajectory = jointTrajectory(arm, q_rad, aboutHome(arm.home_q_rad, random));
          const { group, expected_end_time_s } = await start(session, [{ joint_trajectory: trajectory }]);
          for (let part = 1; part < 6; part += 1) {
            await ctx.pass(session, trajectory.time_s.at(-1)! / 6);
            await compareKinematics(ctx, session, seen);
          }
          await finish(ctx, session, group, expected_end_time_s);
          await compareKinematics(ctx, session, seen);
        }
      },
    },
    {
      name: "state_may_be_read_by_every_role",
      reason: "watching is open to all who may connect",
      run: async (ctx) => {
        await ctx.controller();
        for (const role of ["OBSERVER", "STOPPER"] as const) await ctx.state(await ctx.session(role));
      },
    },
    {
      name: "nothing_is_ready_before_the_first_reset",
      reason: "a world that nobody chose must not be taken for a task",
      needs: ["sim_clock", "fresh_process"],
      run: async (ctx) => {
        const other = await ctx.another();
        const session = await other.session("CONTROLLER");
        await session.refused("ERROR_NOT_READY", { get_state: {} });
        await session.refused("ERROR_NOT_READY", { advance: { until_s: 1 } });
        await session.must("renew", { renew: {} });
      },
    },
    {
      name: "sessions_do_not_survive_the_process",
      reason: "a restarted backend has forgotten where everything was",
      needs: ["fresh_process"],
      run: async (ctx) => {
        const session = await ctx.session("OBSERVER");
        const other = await ctx.another();
        const foreign = await other.session("OBSERVER");
        await foreign.refused("ERROR_UNKNOWN_SESSION", { get_state: {} }, { session: session.session, sequence: 1 });
      },
    },
  ],
};
