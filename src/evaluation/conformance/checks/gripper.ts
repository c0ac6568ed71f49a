import type { Gripper } from "../../../contract/generated/device.js";
import { type CheckGroup, CheckSkipped, ensure, ensureNear } from "../check.js";
import type { ConformanceContext } from "../context.js";
import { ensureEnded, play, start } from "../motion.js";
import type { RawSession } from "../peer.js";

const needs = ["motion", "gripper"] as const;

function movable(ctx: ConformanceContext): Gripper {
  const gripper = ctx.capabilities.grippers.find((candidate) => candidate.control !== "none");
  if (!gripper) throw new CheckSkipped("no gripper of this backend can be commanded");
  return gripper;
}

async function gripperState(ctx: ConformanceContext, session: RawSession, gripper: Gripper) {
  const found = (await ctx.state(session)).grippers.find((candidate) => candidate.arm === gripper.arm);
  ensure(found, `the state has no gripper on ${gripper.arm}`);
  return found;
}

async function moveTo(ctx: ConformanceContext, session: RawSession, gripper: Gripper, opening_m: number) {
  const status = await play(ctx, session, [{ gripper_move: { arm: gripper.arm, opening_m } }]);
  await ctx.pass(session, 0.2);
  return { status, after: await gripperState(ctx, session, gripper) };
}

export const gripper: CheckGroup = {
  group: "gripper",
  checks: [
    {
      name: "gripper_goes_where_it_is_told",
      reason: "an opening is set in metres to fit between what stands around the object",
      needs,
      run: async (ctx) => {
        const session = await ctx.controller();
        const gripper = movable(ctx);
        const parts = gripper.control === "width" ? [0.8, 0.3, 0.6] : [1, 0];
        for (const part of parts) {
          const opening_m = part * gripper.max_opening_m;
          const { status, after } = await moveTo(ctx, session, gripper, opening_m);
          ensureEnded(status, "END_COMPLETED");
          if (gripper.measured) ensureNear(after.opening_m, opening_m, 0.002, "the opening");
          ensureNear(after.target_opening_m, opening_m, 1e-6, "the target opening");
          ensure(!after.moving, "the gripper still moves after its motion ended");
        }
      },
    },
    {
      name: "gripper_closed_on_nothing_does_not_stall",
      reason: "a stall is the evidence that something is held",
      needs,
      run: async (ctx) => {
        const session = await ctx.controller();
        const { status, after } = await moveTo(ctx, session, movable(ctx), 0);
        ensureEnded(status, "END_COMPLETED");
        ensure(!after.stalled, "the gripper says that it stalled, with nothing between its fingers");
      },
    },
    {
      name: "gripper_opens_to_its_limit",
      reason: "the usable opening decides which objects can be grasped",
      needs,
      run: async (ctx) => {
        const session = await ctx.controller();
        const gripper = movable(ctx);
        await moveTo(ctx, session, gripper, 0.5 * gripper.max_opening_m);
        const { status, after } = await moveTo(ctx, session, gripper, gripper.max_opening_m);
        ensureEnded(status, "END_COMPLETED");
        if (gripper.measured) ensureNear(after.opening_m, gripper.max_opening_m, 0.002, "the opening");
      },
    },
    {
      name: "gripper_moves_while_it_moves",
      reason: "a program that waits for the fingers reads it",
      needs,
      run: async (ctx) => {
        const session = await ctx.controller();
        const gripper = movable(ctx);
        await moveTo(ctx, session, gripper, gripper.max_opening_m);
        await start(session, [{ gripper_move: { arm: gripper.arm, opening_m: 0.1 * gripper.max_opening_m } }]);
        await ctx.pass(session, 0.06);
        const during = await gripperState(ctx, session, gripper);
        ensure(during.moving, "the gripper does not say that it moves");
        if (gripper.measured)
          ensure(
            during.opening_m < gripper.max_opening_m && during.opening_m > 0.1 * gripper.max_opening_m,
            `the opening is ${during.opening_m} m in the middle of the motion`,
          );
      },
    },
    {
      name: "gripper_values_out_of_range_are_refused",
      reason: "a wrong unit, centimetres for metres, must not be clamped in silence",
      needs,
      run: async (ctx) => {
        const session = await ctx.controller();
        const { arm, max_opening_m, max_force_n, max_speed_m_s } = movable(ctx);
        const wrong = [
          { opening_m: -0.01 },
          { opening_m: max_opening_m + 0.01 },
          { opening_m: Number.NaN },
          { opening_m: 0.02, force_n: -1 },
          { opening_m: 0.02, force_n: max_force_n + 10 },
          { opening_m: 0.02, speed_m_s: max_speed_m_s + 1 },
        ];
        for (const move of wrong) {
          const motions = [{ gripper_move: { arm, ...move } }];
          await session.refused("ERROR_BAD_ARGUMENT", { execute: { stop_epoch: session.stop_epoch, motions } });
        }
      },
    },
    {
      name: "gripper_of_an_unknown_arm_is_refused",
      reason: "a misspelled arm must not move another one's fingers",
      needs,
      run: async (ctx) => {
        const session = await ctx.controller();
        const motions = [{ gripper_move: { arm: "no_such_arm", opening_m: 0.02 } }];
        await session.refused("ERROR_BAD_ARGUMENT", { execute: { stop_epoch: session.stop_epoch, motions } });
      },
    },
    {
      name: "slower_is_slower",
      reason: "soft objects are closed upon slowly",
      needs,
      run: async (ctx) => {
        const session = await ctx.controller();
        const gripper = movable(ctx);
        if (gripper.control !== "width" || !gripper.max_speed_m_s) throw new CheckSkipped("the gripper has one speed");
        const times: number[] = [];
        for (const speed_m_s of [gripper.max_speed_m_s, gripper.max_speed_m_s / 4]) {
          await moveTo(ctx, session, gripper, gripper.max_opening_m);
          const from_s = session.time_s;
          const move = { arm: gripper.arm, opening_m: 0.2 * gripper.max_opening_m, speed_m_s };
          const status = await play(ctx, session, [{ gripper_move: move }]);
          times.push(status.motions[0]!.end_time_s - from_s);
        }
        ensure(times[1]! > 2 * times[0]!, `at a quarter of the speed it took ${times[1]} s instead of ${times[0]} s`);
      },
    },
  ],
};
