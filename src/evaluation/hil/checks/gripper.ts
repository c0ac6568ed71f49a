import { isSkill2RealError } from "../../../contract/errors.js";
import type { GripperEvent } from "../../../runtime/native/gripper.js";
import { sleepMs } from "../../conformance/context.js";
import { ensure, ensureNear, type HilCheck, type HilGroup } from "../check.js";
import type { HilContext } from "../context.js";
import { now_s } from "../plant-truth.js";

const needs = ["gripper"] as const;
/** A finger's telemetry against what was asked. */
const OPENING_TOLERANCE_M = 0.0015;

type Ended = Extract<GripperEvent, { type: "motion_ended" }>;

/** Starts a move of the driver in this process and waits for its end. */
async function move(
  ctx: HilContext,
  opening_m: number,
  more: { force_n?: number; speed_m_s?: number } = {},
): Promise<Ended & { took_s: number }> {
  const { addon } = await ctx.bench.gripper();
  const begun_s = now_s();
  let remove = (): void => {};
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve, reject) => {
      let id = -1;
      remove = addon.onEvent((event) => {
        if (event.type === "motion_ended" && event.motion === id) resolve({ ...event, took_s: now_s() - begun_s });
      });
      timer = setTimeout(() => reject(new Error(`the move to ${1e3 * opening_m} mm did not end in 12 s`)), 12_000);
      id = addon.move({ opening_m, ...more });
    });
  } finally {
    clearTimeout(timer);
    remove();
  }
}

const reaches = (opening_m: number): HilCheck => ({
  name: `reaches_${Math.round(1e3 * opening_m)}_mm`,
  reason: "a grasp is planned to the millimetre",
  needs,
  moves: true,
  run: async (ctx) => {
    const { reason, opening_m: told_m } = await move(ctx, opening_m);
    ensure(reason === "completed", `it ended with ${reason}`);
    ctx.measure("off by", 1e3 * Math.abs((told_m ?? Number.NaN) - opening_m), "mm", 1e3 * OPENING_TOLERANCE_M);
    ensureNear(told_m ?? Number.NaN, opening_m, OPENING_TOLERANCE_M, "the opening [m]");
  },
});

const refusesOpening = (name: string, opening_m: number): HilCheck => ({
  name,
  reason: "an opening that does not exist must be refused in words, not driven into an end",
  needs,
  run: async (ctx) => {
    const { addon } = await ctx.bench.gripper();
    let code = "";
    try {
      addon.move({ opening_m });
    } catch (error) {
      code = isSkill2RealError(error) ? error.code : String(error);
    }
    ensure(code === "bad_argument", `opening ${opening_m}: ${code || "accepted"}`);
  },
});

export const gripper: HilGroup = {
  group: "gripper",
  about: "the line, openings, forces, ends and refusals of the gripper",
  checks: [
    {
      name: "opens_and_nothing_moves",
      reason: "giving power must not drop or crush what is held",
      needs,
      run: async (ctx) => {
        await ctx.bench.closeBackend();
        await ctx.bench.closeDriver("gripper");
        const { addon } = await ctx.bench.gripper();
        const first = addon.state().opening_m ?? Number.NaN;
        await sleepMs(600);
        ensureNear(addon.state().opening_m ?? Number.NaN, first, 0.001, "the opening after power was given [m]");
      },
    },
    {
      name: "is_powered_and_well",
      reason: "a motor without power follows nothing",
      needs,
      run: async (ctx) => {
        const state = (await ctx.bench.gripper()).addon.state();
        ensure(state.fault === null, `it has the fault ${state.fault?.code}: ${state.fault?.message}`);
        ensure(state.enabled, "its motor is off");
        ctx.measure("supply", state.voltage_v ?? 0, "V");
      },
    },
    {
      name: "telemetry_is_fresh",
      reason: "older than 100 ms is not known",
      needs,
      run: async (ctx) => {
        const { addon } = await ctx.bench.gripper();
        let oldest = 0;
        for (let i = 0; i < 40; i += 1) {
          await sleepMs(25);
          oldest = Math.max(oldest, now_s() - (addon.state().time_s ?? 0));
        }
        ctx.timing("oldest of 40", 1e3 * oldest, "ms", 100);
        ensure(oldest < 1, `it was ${oldest.toFixed(2)} s old`);
      },
    },
    {
      name: "current_limit_is_the_rigs",
      reason: "the first close with another limit may break what it holds",
      needs,
      run: async (ctx) => {
        const { info } = (await ctx.bench.gripper()).addon;
        ensureNear(info.current_limit_a, ctx.rig.gripper!.current_limit_a, 0.011, "the current limit [A]");
      },
    },
    reaches(0.09),
    reaches(0.06),
    reaches(0.03),
    reaches(0.005),
    {
      name: "dialect_is_known_after_a_move",
      reason: "the two firmwares take other numbers for the same command",
      needs,
      moves: true,
      run: async (ctx) => {
        await move(ctx, 0.05);
        const { dialect } = (await ctx.bench.gripper()).addon.info;
        ensure(dialect !== "auto", "it is still unknown");
        const { dialect: asked } = ctx.rig.gripper!;
        ensure(asked === "auto" || asked === dialect, `it speaks "${dialect}", the rig says "${asked}"`);
      },
    },
    {
      name: "line_is_clean",
      reason: "noise on the line is a cable that fails next week",
      needs,
      run: async (ctx) => {
        const { addon } = await ctx.bench.gripper();
        const before = addon.info;
        await sleepMs(1000);
        const { reports, syntax_errors, noise_bytes } = addon.info;
        ctx.measure("reports", reports - before.reports, "1/s");
        ensure(reports - before.reports > 5, `only ${reports - before.reports} reports came in a second`);
        ensure(
          noise_bytes - before.noise_bytes < 20 && syntax_errors - before.syntax_errors <= 1,
          `${syntax_errors - before.syntax_errors} broken reports and ${noise_bytes - before.noise_bytes} foreign bytes in a second`,
        );
      },
    },
    {
      name: "slow_moves_are_slow",
      reason: "a thing that is touched at speed jumps away",
      needs,
      moves: true,
      run: async (ctx) => {
        await move(ctx, 0.08);
        const slow = await move(ctx, 0.04, { speed_m_s: 0.02 });
        await move(ctx, 0.08);
        const fast = await move(ctx, 0.04, { speed_m_s: 0.15 });
        ctx.measure("at 20 mm/s", slow.took_s, "s");
        ctx.measure("at 150 mm/s", fast.took_s, "s");
        ensure(
          slow.took_s > fast.took_s + 0.5,
          `it took ${slow.took_s.toFixed(2)} s slowly and ${fast.took_s.toFixed(2)} s fast`,
        );
      },
    },
    refusesOpening("negative_opening_is_refused", -0.01),
    refusesOpening("too_wide_opening_is_refused", 0.2),
    refusesOpening("opening_that_is_no_number_is_refused", Number.NaN),
    {
      name: "second_move_is_refused_while_one_runs",
      reason: "the end of a move must be that move's",
      needs,
      moves: true,
      run: async (ctx) => {
        await move(ctx, 0.08);
        const { addon } = await ctx.bench.gripper();
        addon.move({ opening_m: 0.03, speed_m_s: 0.03 });
        let code = "";
        try {
          addon.move({ opening_m: 0.06 });
        } catch (error) {
          code = isSkill2RealError(error) ? error.code : String(error);
        }
        addon.hold();
        ensure(code === "gripper_busy", `it was ${code || "accepted"}`);
      },
    },
    {
      name: "hold_stops_the_fingers",
      reason: "a stop must be one for the fingers too",
      needs,
      moves: true,
      run: async (ctx) => {
        await move(ctx, 0.08);
        const { addon } = await ctx.bench.gripper();
        const ended = new Promise<Ended>((resolve) => {
          const remove = addon.onEvent((event) => {
            if (event.type !== "motion_ended") return;
            remove();
            resolve(event);
          });
        });
        addon.move({ opening_m: 0.01, speed_m_s: 0.03 });
        await sleepMs(600);
        addon.hold();
        ensure((await ended).reason === "stopped", `the move ended with ${(await ended).reason}`);
        await sleepMs(300);
        const held = addon.state().opening_m ?? Number.NaN;
        await sleepMs(500);
        ensureNear(addon.state().opening_m ?? Number.NaN, held, 0.001, "the opening half a second later [m]");
        ensure(held > 0.02, "the fingers had closed already");
      },
    },
    {
      name: "newtons_are_estimates_of_the_current",
      reason: "the device measures no force; a number that claims more misleads",
      needs,
      run: async (ctx) => {
        const { addon } = await ctx.bench.gripper();
        const { force_estimate_n, current_a } = addon.state();
        ensure(Number.isFinite(force_estimate_n) && Number.isFinite(current_a), "force or current are no numbers");
        const per_amp = ctx.rig.gripper!.max_force_n / 2;
        ensure(
          Math.abs(force_estimate_n) <= Math.abs(current_a) * per_amp + 1.5,
          `${force_estimate_n.toFixed(1)} N are told at ${current_a.toFixed(2)} A`,
        );
      },
    },
    {
      name: "opening_survives_reopening",
      reason: "a program that ends must not open or close the hand",
      needs,
      moves: true,
      run: async (ctx) => {
        await move(ctx, 0.045);
        await ctx.bench.closeDriver("gripper");
        const { addon } = await ctx.bench.gripper();
        ensureNear(
          addon.state().opening_m ?? Number.NaN,
          0.045,
          0.002,
          "the opening after the line was opened anew [m]",
        );
      },
    },
    {
      name: "told_opening_is_the_real_one",
      reason: "an opening that is not the fingers' own grasps air",
      needs: ["gripper", "emulated"],
      moves: true,
      run: async (ctx) => {
        const truth = ctx.truth();
        for (const opening_m of [0.07, 0.02]) {
          await move(ctx, opening_m);
          await sleepMs(300);
          const off = Math.abs(
            ((await ctx.bench.gripper()).addon.state().opening_m ?? Number.NaN) - truth.read().opening_m,
          );
          ctx.measure(`at ${1e3 * opening_m} mm`, 1e3 * off, "mm", 1.5);
          ensure(off < 0.0015, `at ${1e3 * opening_m} mm it is ${(1e3 * off).toFixed(2)} mm off`);
        }
      },
    },
    {
      name: "gripper_over_the_protocol_ends_as_the_driver_does",
      reason: "programs know the gripper by the device protocol alone",
      needs,
      moves: true,
      run: async (ctx) => {
        const conductor = await ctx.conductor({ from: "anywhere" });
        const arm = conductor.arm.name;
        for (const opening_m of [0.08, 0.04]) {
          const status = await ctx.play(conductor, [{ gripper_move: { arm, opening_m } }]);
          ensure(status.motions[0]?.end_reason === "END_COMPLETED", `it ended with ${status.motions[0]?.end_reason}`);
          const [jaw] = (await ctx.state(conductor.client)).grippers;
          ensureNear(jaw!.opening_m, opening_m, 0.002, "the opening [m]");
        }
        await ctx.refused(
          () => ctx.start(conductor, [{ gripper_move: { arm, opening_m: 0.5 } }]),
          "ERROR_BAD_ARGUMENT",
        );
      },
    },
  ],
};
