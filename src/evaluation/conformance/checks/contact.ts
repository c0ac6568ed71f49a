import type { Guard } from "../../../contract/generated/device.js";
import type { Init } from "../../../contract/wire/init.js";
import { type CheckGroup, CheckSkipped, ensure } from "../check.js";
import type { ConformanceContext } from "../context.js";
import { ensureEnded, firstArm, jointTrajectory, nearby, play } from "../motion.js";
import type { RawSession } from "../peer.js";
import { forwardKinematics } from "../transforms.js";

/** Bumping into the table is for simulators; a real arm is not told to. */
const needs = ["sim_clock", "privileged", "motion"] as const;

/** How far below the table the path would end. */
const DEPTH_M = 0.05;

/** A path on which the arm leans forward until its TCP would be below the table, `slower` times slower than usual. */
async function intoTheTable(ctx: ConformanceContext, session: RawSession, slower: number, guard: Init<Guard>) {
  if (!ctx.capabilities.workspace) throw new CheckSkipped("the backend does not tell where its table is");
  if (!ctx.capabilities.features.includes("contact_guard")) throw new CheckSkipped("the backend has no contact guard");
  const { arm, q_rad } = await firstArm(ctx, session);
  const { table_z_m } = ctx.capabilities.workspace;
  const height_m = (q: readonly number[]) => forwardKinematics(arm, q)[11]! - table_z_m;
  const lean = (angle: number) => q_rad.map((q, joint) => (joint === 1 ? q + angle : q));
  const direction = height_m(lean(0.01)) < height_m(q_rad) ? 1 : -1;
  let angle = 0;
  while (height_m(lean(direction * angle)) > -DEPTH_M) {
    angle += 0.01;
    if (angle > 2) throw new CheckSkipped("the arm does not reach the table by leaning forward");
  }
  const trajectory = jointTrajectory(arm, q_rad, lean(direction * angle), guard);
  trajectory.time_s = trajectory.time_s.map((time_s) => slower * time_s);
  return { joint_trajectory: trajectory };
}

/** Drives into the table with a guard that lets it, so that the arm's own limits are what ends it. */
async function crash(ctx: ConformanceContext, session: RawSession) {
  const motion = await intoTheTable(ctx, session, 1, { force_n: 5000, torque_nm: 5000 });
  return play(ctx, session, [motion]);
}

export const contact: CheckGroup = {
  group: "contact",
  checks: [
    {
      name: "contact_that_was_not_asked_for_ends_the_motion",
      reason: "an arm that meets something must stop pressing before anybody above has read a force",
      needs,
      run: async (ctx) => {
        const session = await ctx.controller();
        const status = await play(ctx, session, [await intoTheTable(ctx, session, 6, {})]);
        ensureEnded(status, "END_UNEXPECTED_CONTACT");
        const [motion] = status.motions;
        ensure(
          motion!.fraction_done > 0 && motion!.fraction_done < 1,
          `it was ${motion!.fraction_done} done at the contact`,
        );
        ensure(motion!.contact_force_n.length === 3, "the end does not tell the contact's force");
        ensure(!(await ctx.state(session)).stop_latched, "a gentle contact latched a stop");
      },
    },
    {
      name: "contact_that_was_asked_for_ends_as_such",
      reason: "touching is how a program finds a surface, and finding it is a success",
      needs,
      run: async (ctx) => {
        const session = await ctx.controller();
        const guard = { force_n: 10, direction_world: [0, 0, -1], contact_expected: true };
        const status = await play(ctx, session, [await intoTheTable(ctx, session, 6, guard)]);
        ensureEnded(status, "END_CONTACT");
        const force = status.motions[0]!.contact_force_n;
        ensure(
          force[2]! > 5,
          `the table's push is told as ${force.map((value) => value.toFixed(1)).join(", ")} N; it must point up`,
        );
      },
    },
    {
      name: "arm_moves_on_after_a_contact",
      reason: "the set-point is where the arm is, or the next motion would start with a jump",
      needs,
      run: async (ctx) => {
        const session = await ctx.controller();
        await play(ctx, session, [await intoTheTable(ctx, session, 6, {})]);
        const { arm, q_rad } = await firstArm(ctx, session);
        const away = jointTrajectory(arm, q_rad, arm.home_q_rad, { force_n: 200, torque_nm: 200 });
        ensureEnded(await play(ctx, session, [{ joint_trajectory: away }]), "END_COMPLETED");
      },
    },
    {
      name: "crash_latches_a_fault",
      reason: "contact above the arm's limits is a protective stop on the real one, so it is never free",
      needs,
      run: async (ctx) => {
        const record = await ctx.events();
        const session = await ctx.controller();
        ensureEnded(await crash(ctx, session), "END_PROTECTIVE_STOP");
        const found = await ctx.state(session);
        ensure(found.stop_latched, "no stop is latched");
        ensure(found.arms[0]!.mode === "PROTECTIVE_STOP", `the arm is ${found.arms[0]!.mode}`);
        const fault = await record.until("fault", (event) => event.fault?.code === "protective_stop");
        ensure(fault.fault!.message.length > 20, "the fault does not say what an operator does next");
        const { arm, q_rad } = await firstArm(ctx, session);
        const motions = [{ joint_trajectory: jointTrajectory(arm, q_rad, nearby(q_rad, 0.05)) }];
        await session.refused("ERROR_FAULT", { execute: { stop_epoch: session.stop_epoch, motions } });
      },
    },
    {
      name: "fault_is_cleared_by_a_person_s_token_once",
      reason: "a program must not be able to clear what a person has to look at",
      needs,
      run: async (ctx) => {
        const session = await ctx.controller();
        await crash(ctx, session);
        const epoch = session.stop_epoch;
        await session.refused("ERROR_RESUME_TOKEN", { resume: { stop_epoch: epoch } });
        await session.refused("ERROR_RESUME_TOKEN", { resume: { stop_epoch: epoch, token: "guessed" } });
        const token = await ctx.evaluator.resumeToken();
        await session.must("resume", { resume: { stop_epoch: epoch, token } });
        ensure(!(await ctx.state(session)).stop_latched, "the fault stays latched after Resume with the token");
        await ctx.stop("another one");
        await ctx.state(session);
        ensure(session.stop_epoch > epoch, "the next stop has the same epoch");
      },
    },
    {
      name: "stop_on_top_of_a_fault_keeps_the_fault",
      reason: "pressing the button must not make a fault easier to clear",
      needs,
      run: async (ctx) => {
        const session = await ctx.controller();
        await crash(ctx, session);
        await ctx.stop("conformance");
        await ctx.state(session);
        await session.refused("ERROR_RESUME_TOKEN", { resume: { stop_epoch: session.stop_epoch } });
      },
    },
  ],
};
