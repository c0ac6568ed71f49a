import type { DeviceErrorCode, Motion } from "../../../contract/generated/device.js";
import type { Init } from "../../../contract/wire/init.js";
import { type CheckGroup, ensure, ensureNear } from "../check.js";
import type { ConformanceContext } from "../context.js";
import { distance, ensureEnded, finish, firstArm, jointTrajectory, nearby, play, start } from "../motion.js";

/** Sends motions made from where the arm is, demands their refusal, and that the arm stays. */
async function refuses(
  ctx: ConformanceContext,
  codes: DeviceErrorCode | readonly DeviceErrorCode[],
  make: (given: { trajectory: ReturnType<typeof jointTrajectory>; q_rad: number[] }) => Init<Motion>[],
): Promise<void> {
  const session = await ctx.controller();
  const { arm, q_rad } = await firstArm(ctx, session);
  const motions = make({ trajectory: jointTrajectory(arm, q_rad, nearby(q_rad)), q_rad });
  await session.refused(codes, { execute: { stop_epoch: session.stop_epoch, motions } });
  await ctx.pass(session, 0.2);
  const { state, q_rad: after } = await firstArm(ctx, session);
  ensure(
    state.groups.every((group) => !group.active),
    "a group is active after the refusal",
  );
  ensure(distance(after, q_rad) < 0.01, "the arm moved");
  await session.bye();
}

const BAD = "ERROR_BAD_ARGUMENT" as const;

export const execute: CheckGroup = {
  group: "execute",
  checks: [
    {
      name: "trajectory_ends_at_its_last_point",
      reason: "everything above plans with where motions end",
      needs: ["motion"],
      run: async (ctx) => {
        const session = await ctx.controller();
        const { arm, q_rad } = await firstArm(ctx, session);
        const target = nearby(q_rad);
        const status = await play(ctx, session, [{ joint_trajectory: jointTrajectory(arm, q_rad, target) }]);
        ensureEnded(status, "END_COMPLETED");
        ensureNear(status.motions[0]!.fraction_done, 1, 1e-6, "fraction_done");
        await ctx.pass(session, 0.3);
        const { q_rad: reached } = await firstArm(ctx, session);
        ensure(distance(reached, target) < 0.01, `the arm is ${distance(reached, target)} rad from the last point`);
      },
    },
    {
      name: "motion_takes_the_time_it_was_given",
      reason: "motions of several arms are stretched to one duration and must stay together",
      needs: ["motion"],
      run: async (ctx) => {
        const session = await ctx.controller();
        const { arm, q_rad } = await firstArm(ctx, session);
        const trajectory = jointTrajectory(arm, q_rad, nearby(q_rad));
        const duration_s = trajectory.time_s.at(-1)!;
        const { group, start_time_s, expected_end_time_s } = await session.must("execute", {
          execute: { stop_epoch: session.stop_epoch, motions: [{ joint_trajectory: trajectory }] },
        });
        ensureNear(
          expected_end_time_s - start_time_s,
          duration_s,
          2 * ctx.capabilities.control_period_s + 1e-9,
          "the expected duration",
        );
        const status = await finish(ctx, session, group, expected_end_time_s);
        ensure(
          status.motions[0]!.end_time_s >= start_time_s + duration_s - 1e-6,
          "it ended before its last point was due",
        );
        ensure(status.motions[0]!.end_time_s <= start_time_s + duration_s + 1, "it ended more than a second late");
      },
    },
    {
      name: "arm_follows_the_trajectory",
      reason: "a straight line that is not followed hits what it was to pass",
      needs: ["sim_clock", "motion"],
      run: async (ctx) => {
        const session = await ctx.controller();
        const { arm, q_rad } = await firstArm(ctx, session);
        const trajectory = jointTrajectory(arm, q_rad, nearby(q_rad));
        const { start_time_s } = await session.must("execute", {
          execute: { stop_epoch: session.stop_epoch, motions: [{ joint_trajectory: trajectory }] },
        });
        const joints = q_rad.length;
        for (let point = 20; point < trajectory.time_s.length; point += 20) {
          await session.must("advance", {
            advance: { until_s: start_time_s + trajectory.time_s[point]!, through_motion_ends: true },
          });
          const { q_rad: now } = await firstArm(ctx, session);
          const commanded = trajectory.q_rad.slice(point * joints, (point + 1) * joints);
          ensure(
            distance(now, commanded) < 0.05,
            `the arm is ${distance(now, commanded)} rad behind at point ${point}`,
          );
        }
      },
    },
    {
      name: "groups_are_numbered_upwards",
      reason: "an event must never be taken for one of an earlier motion",
      needs: ["motion"],
      run: async (ctx) => {
        const session = await ctx.controller();
        const groups: number[] = [];
        for (const amount of [0.05, 0.1]) {
          const { arm, q_rad } = await firstArm(ctx, session);
          groups.push(
            (await play(ctx, session, [{ joint_trajectory: jointTrajectory(arm, q_rad, nearby(q_rad, amount)) }]))
              .group,
          );
        }
        ensure(groups[1]! > groups[0]!, `groups are numbered ${groups.join(", ")}`);
        const listed = (await ctx.state(session)).groups.map((group) => group.group);
        ensure(
          listed.at(-1) === groups[1] && listed.includes(groups[0]!),
          `the state lists the groups ${listed.join(", ")}`,
        );
      },
    },
    {
      name: "arm_is_moving_while_it_moves",
      reason: "a person reads the mode before reaching in",
      needs: ["motion"],
      run: async (ctx) => {
        const session = await ctx.controller();
        const { arm, q_rad, state } = await firstArm(ctx, session);
        ensure(state.arms[0]!.mode === "IDLE", `the arm is ${state.arms[0]!.mode} before it moves`);
        const started = await start(session, [{ joint_trajectory: jointTrajectory(arm, q_rad, nearby(q_rad, 0.4)) }]);
        await ctx.pass(session, 0.1);
        const during = (await ctx.state(session)).arms[0]!.mode;
        ensure(during === "MOVING", `the arm is ${during} while it moves`);
        await finish(ctx, session, started.group, started.expected_end_time_s);
        await ctx.pass(session, 0.5);
        const after = (await ctx.state(session)).arms[0]!.mode;
        ensure(after === "IDLE", `the arm is ${after} after it moved`);
      },
    },
    {
      name: "second_motion_of_a_moving_arm_is_refused",
      reason: "one arm follows one plan",
      needs: ["motion"],
      run: async (ctx) => {
        const session = await ctx.controller();
        const { arm, q_rad } = await firstArm(ctx, session);
        const motions = [{ joint_trajectory: jointTrajectory(arm, q_rad, nearby(q_rad, 0.4)) }];
        const started = await start(session, motions);
        await session.refused("ERROR_BUSY", { execute: { stop_epoch: session.stop_epoch, motions } });
        const status = await finish(ctx, session, started.group, started.expected_end_time_s);
        ensureEnded(status, "END_COMPLETED");
      },
    },
    {
      name: "trajectory_from_elsewhere_is_refused",
      reason: "a jump to the first point would be as fast as the motors can",
      needs: ["motion"],
      run: async (ctx) => {
        const session = await ctx.controller();
        const { arm, q_rad } = await firstArm(ctx, session);
        const elsewhere = q_rad.map((q, joint) => (joint === q_rad.length - 1 ? q + (q > 0 ? -0.2 : 0.2) : q));
        const motions = [{ joint_trajectory: jointTrajectory(arm, elsewhere, q_rad) }];
        await session.refused("ERROR_NOT_START", { execute: { stop_epoch: session.stop_epoch, motions } });
        const { q_rad: after } = await firstArm(ctx, session);
        ensure(distance(after, q_rad) < 0.01, "the arm moved");
      },
    },
    {
      name: "nan_and_infinity_are_refused",
      reason: "a number that is none has no place in a controller",
      needs: ["motion"],
      run: async (ctx) => {
        for (const value of [Number.NaN, Number.POSITIVE_INFINITY])
          await refuses(ctx, BAD, ({ trajectory }) => {
            trajectory.q_rad[trajectory.q_rad.length - 1] = value;
            return [{ joint_trajectory: trajectory }];
          });
        await refuses(ctx, BAD, ({ trajectory }) => {
          trajectory.time_s[trajectory.time_s.length - 1] = Number.NaN;
          return [{ joint_trajectory: trajectory }];
        });
      },
    },
    {
      name: "times_start_at_zero_and_rise",
      reason: "time that stands still or runs back has no speed",
      needs: ["motion"],
      run: async (ctx) => {
        await refuses(ctx, BAD, ({ trajectory }) => {
          trajectory.time_s[3] = trajectory.time_s[2]!;
          return [{ joint_trajectory: trajectory }];
        });
        await refuses(ctx, BAD, ({ trajectory }) => {
          const later = trajectory.time_s.map((time_s) => time_s + 0.5);
          return [{ joint_trajectory: { ...trajectory, time_s: later } }];
        });
      },
    },
    {
      name: "numbers_fit_the_joints",
      reason: "a list that is one number short turns every later joint into its neighbour",
      needs: ["motion"],
      run: async (ctx) => {
        await refuses(ctx, BAD, ({ trajectory }) => [
          { joint_trajectory: { ...trajectory, q_rad: trajectory.q_rad.slice(1) } },
        ]);
        await refuses(ctx, BAD, ({ trajectory }) => [{ joint_trajectory: { ...trajectory, time_s: [], q_rad: [] } }]);
      },
    },
    {
      name: "positions_beyond_the_limits_are_refused",
      reason: "the backend is the last to know the arm's limits",
      needs: ["motion"],
      run: async (ctx) => {
        await refuses(ctx, BAD, ({ trajectory, q_rad }) => {
          const joints = q_rad.length;
          const beyond = ctx.capabilities.arms[0]!.limits[joints - 1]!.position_max_rad + 0.1;
          // A line at a speed within the limits, so that the position is what is wrong.
          const end_s = 60;
          const time_s = Array.from({ length: 601 }, (_, index) => (index * end_s) / 600);
          const path = time_s.flatMap((t) =>
            q_rad.map((q, joint) => (joint === joints - 1 ? q + (t / end_s) * (beyond - q) : q)),
          );
          return [{ joint_trajectory: { ...trajectory, time_s, q_rad: path } }];
        });
      },
    },
    {
      name: "unknown_arm_is_refused",
      reason: "a misspelled name must not move another arm",
      needs: ["motion"],
      run: async (ctx) => {
        await refuses(ctx, BAD, ({ trajectory }) => [{ joint_trajectory: { ...trajectory, arm: "no_such_arm" } }]);
        await refuses(ctx, BAD, ({ trajectory }) => [{ joint_trajectory: { ...trajectory, arm: "" } }]);
      },
    },
    {
      name: "group_moves_each_arm_once",
      reason: "two plans for one arm in one group cannot both be followed",
      needs: ["motion"],
      run: async (ctx) => {
        await refuses(ctx, BAD, ({ trajectory }) => [
          { joint_trajectory: trajectory },
          { joint_trajectory: trajectory },
        ]);
      },
    },
    {
      name: "empty_and_oversized_groups_are_refused",
      reason: "a group of nothing never ends, and one of many has a mistake in it",
      needs: ["motion"],
      run: async (ctx) => {
        await refuses(ctx, BAD, () => []);
        await refuses(ctx, BAD, () => [{}]);
        await refuses(ctx, BAD, ({ trajectory }) =>
          Array.from({ length: 5 }, () => ({ joint_trajectory: trajectory })),
        );
      },
    },
    {
      name: "guard_out_of_range_is_refused",
      reason: "a guard that is none would let the arm press on",
      needs: ["motion"],
      run: async (ctx) => {
        for (const guard of [
          { force_n: -1 },
          { torque_nm: Number.NaN },
          { direction_world: [0, 0] },
          { direction_world: [0, 0, 0] },
        ])
          await refuses(ctx, BAD, ({ trajectory }) => [{ joint_trajectory: { ...trajectory, guard } }]);
      },
    },
    {
      name: "motion_kind_without_its_feature_is_unsupported",
      reason: "a client must learn that this backend cannot, rather than wait for a motion",
      needs: ["motion"],
      run: async (ctx) => {
        const { features } = ctx.capabilities;
        if (features.includes("tcp_path") && features.includes("joint_trajectory")) return;
        const X_world_tcp = [1, 0, 0, 0.4, 0, 1, 0, 0, 0, 0, 1, 0.4, 0, 0, 0, 1];
        const path = { time_s: [0, 1], X_world_tcp: [...X_world_tcp, ...X_world_tcp] };
        await refuses(ctx, "ERROR_UNSUPPORTED", ({ trajectory }) =>
          features.includes("tcp_path")
            ? [{ joint_trajectory: trajectory }]
            : [{ tcp_path: { ...path, arm: trajectory.arm ?? "" } }],
        );
      },
    },
    {
      name: "only_the_controller_executes",
      reason: "who looks on does not move the arm",
      needs: ["motion"],
      run: async (ctx) => {
        const controller = await ctx.controller();
        const { arm, q_rad } = await firstArm(ctx, controller);
        const motions = [{ joint_trajectory: jointTrajectory(arm, q_rad, nearby(q_rad)) }];
        for (const role of ["OBSERVER", "STOPPER"] as const) {
          const other = await ctx.session(role);
          await other.refused("ERROR_ROLE", { execute: { stop_epoch: controller.stop_epoch, motions } });
        }
      },
    },
    {
      name: "arm_and_gripper_move_in_one_group",
      reason: "motions that a program issues together start together",
      needs: ["motion", "gripper"],
      run: async (ctx) => {
        const session = await ctx.controller();
        const { arm, q_rad, state } = await firstArm(ctx, session);
        const gripper = state.grippers.find((candidate) => candidate.arm === arm.name);
        if (!gripper) return;
        const wide_m = ctx.capabilities.grippers.find((candidate) => candidate.arm === arm.name)!.max_opening_m;
        const opening_m = gripper.opening_m > wide_m / 2 ? 0.3 * wide_m : 0.8 * wide_m;
        const target = nearby(q_rad);
        const status = await play(ctx, session, [
          { joint_trajectory: jointTrajectory(arm, q_rad, target) },
          { gripper_move: { arm: arm.name, opening_m } },
        ]);
        ensureEnded(status, "END_COMPLETED", 0);
        ensureEnded(status, "END_COMPLETED", 1);
        const after = await ctx.state(session);
        ensure(distance(after.arms[0]!.q_rad, target) < 0.02, "the arm is not at its target");
        ensureNear(
          after.grippers.find((candidate) => candidate.arm === arm.name)!.opening_m,
          opening_m,
          0.003,
          "the opening",
        );
      },
    },
  ],
};
