import { isSkill2RealError } from "../../../contract/errors.js";
import type { DeviceFrame } from "../../../runtime/device/device.js";
import { invert, multiply } from "../../../runtime/transforms.js";
import { sleepMs } from "../../conformance/context.js";
import { distance } from "../../conformance/motion.js";
import { ensure, ensureNear, type HilGroup } from "../check.js";
import type { HilContext } from "../context.js";
import { now_s } from "../plant-truth.js";
import { bent } from "./motion.js";

const FRAME_MS = 6000;
const needs = ["cameras"] as const;

/** The middle of the picture, where lens and mask disturb least. */
const MIDDLE = { from: 0.3, to: 0.7 } as const;

const camerasOf = (ctx: HilContext): string[] => Object.keys(ctx.rig.cameras);

async function newest(ctx: HilContext, name: string, not_before_s = now_s()) {
  const camera = await ctx.bench.camera(name);
  return camera.newest({ not_before_s, deadline_ms: FRAME_MS });
}

/** For each camera of the rig. */
async function eachCamera(ctx: HilContext, look: (name: string) => Promise<void>): Promise<void> {
  for (const name of camerasOf(ctx)) {
    try {
      await look(name);
    } catch (error) {
      throw new Error(`camera "${name}": ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  }
}

/** Median height in world of what the middle of a depth picture shows. */
function medianHeight(frame: Extract<DeviceFrame, { format: "depth_f32" }>): { height_m: number; share: number } {
  const { width, height, pixels, fx_px, fy_px, cx_px, cy_px, X_world_camera: X } = frame;
  const heights: number[] = [];
  let looked = 0;
  for (let v = Math.round(MIDDLE.from * height); v < MIDDLE.to * height; v += 4)
    for (let u = Math.round(MIDDLE.from * width); u < MIDDLE.to * width; u += 4) {
      looked += 1;
      const z = pixels[v * width + u] ?? Number.NaN;
      if (!(z > 0)) continue;
      const [x, y] = [((u - cx_px) / fx_px) * z, ((v - cy_px) / fy_px) * z];
      heights.push(X[8]! * x + X[9]! * y + X[10]! * z + X[11]!);
    }
  heights.sort((a, b) => a - b);
  return { height_m: heights[heights.length >> 1] ?? Number.NaN, share: heights.length / looked };
}

async function depthAt(ctx: HilContext, name: string) {
  const { client } = await ctx.conductor();
  const [frame] = await client.getFrames([`${name}_depth`], { not_before_s: client.time_s, deadlineMs: FRAME_MS });
  ensure(frame?.format === "depth_f32", "it gives no depth");
  return medianHeight(frame);
}

export const camera: HilGroup = {
  group: "camera",
  about: "frames, their times, their geometry, and that a camera's trouble is its own",
  checks: [
    {
      name: "all_open_and_give_a_frame",
      reason: "a camera that only opens shows nothing",
      needs,
      run: async (ctx) => {
        await ctx.bench.closeBackend();
        await eachCamera(ctx, async (name) => {
          const begun_ms = performance.now();
          const frame = await newest(ctx, name, 0);
          ctx.timing(`${name}: first frame`, (performance.now() - begun_ms) / 1e3, "s", 6);
          ensure(frame.rgb8.length > 0, "its frame is empty");
        });
      },
    },
    {
      name: "are_the_cameras_of_the_rig",
      reason: "two cameras that are swapped show each other's world",
      needs,
      run: (ctx) =>
        eachCamera(ctx, async (name) => {
          const { info } = await ctx.bench.camera(name);
          const asked = ctx.rig.cameras[name]!;
          if ("serial" in asked && asked.serial)
            ensure(info.serial === asked.serial, `its serial is ${info.serial}, the rig says ${asked.serial}`);
          ensure(info.serial !== "" || asked.source === "recording", "it tells no serial");
        }),
    },
    {
      name: "run_in_processes_of_their_own",
      reason: "a camera library that hangs must not take the arm along",
      needs,
      run: (ctx) =>
        eachCamera(ctx, async (name) => {
          const { pid } = await ctx.bench.camera(name);
          ensure(pid !== undefined && pid !== process.pid, "it runs in this process");
        }),
    },
    {
      name: "intrinsics_are_plausible",
      reason: "a focal length of another mode scales the world",
      needs,
      run: (ctx) =>
        eachCamera(ctx, async (name) => {
          const { width, height, fx_px, fy_px, cx_px, cy_px } = (await ctx.bench.camera(name)).facts.left;
          const asked = ctx.rig.cameras[name]!;
          ensure(
            width === asked.width && height === asked.height,
            `its pictures are ${width} x ${height}, the rig says ${asked.width} x ${asked.height}`,
          );
          ensure(
            fx_px > 0.4 * width && fx_px < 3 * width && Math.abs(fx_px / fy_px - 1) < 0.05,
            `fx ${fx_px}, fy ${fy_px}`,
          );
          ensure(
            Math.abs(cx_px / width - 0.5) < 0.1 && Math.abs(cy_px / height - 0.5) < 0.1,
            `its centre is ${cx_px}, ${cy_px}`,
          );
        }),
    },
    {
      name: "pictures_show_something",
      reason: "a lens cap and a dead sensor are pictures too",
      needs,
      run: (ctx) =>
        eachCamera(ctx, async (name) => {
          const { rgb8 } = await newest(ctx, name);
          const mean = rgb8.reduce((sum, value) => sum + value, 0) / rgb8.length;
          const spread = Math.sqrt(rgb8.reduce((sum, value) => sum + (value - mean) ** 2, 0) / rgb8.length);
          ctx.measure(`${name}: contrast`, spread, "of 255");
          ensure(spread > 4 && mean > 5 && mean < 250, `mean ${mean.toFixed(0)}, spread ${spread.toFixed(1)}`);
        }),
    },
    {
      name: "depth_is_in_metres",
      reason: "a D405 counts in tenths of millimetres, a D435 in millimetres",
      needs,
      run: (ctx) =>
        eachCamera(ctx, async (name) => {
          if (ctx.rig.cameras[name]!.depth !== "sensor") return;
          const { depth_m, units_m } = await newest(ctx, name);
          ensure(depth_m, "it gives no depth");
          const known = depth_m.filter((value) => value > 0).sort();
          const median = known[known.length >> 1] ?? Number.NaN;
          ctx.measure(`${name}: unit`, 1e3 * units_m, "mm");
          ctx.measure(`${name}: median`, median, "m");
          ensure(
            known.length > 0.3 * depth_m.length,
            `only ${((100 * known.length) / depth_m.length).toFixed(0)} % of its depth is known`,
          );
          ensure(median > 0.1 && median < 5, `its median is ${median.toFixed(2)} m`);
          ensure(!depth_m.some((value) => value === 0), "unknown depth is 0 and not NaN");
        }),
    },
    {
      name: "not_before_is_kept",
      reason: "a picture from before the motion shows another world",
      needs,
      run: (ctx) =>
        eachCamera(ctx, async (name) => {
          for (let i = 0; i < 3; i += 1) {
            const asked_s = now_s();
            const { exposure_time_s } = await newest(ctx, name, asked_s);
            ensure(
              exposure_time_s >= asked_s,
              `it was exposed ${(1e3 * (asked_s - exposure_time_s)).toFixed(1)} ms before`,
            );
          }
        }),
    },
    {
      name: "waits_for_an_exposure_to_come",
      reason: "asked for a moment that is ahead, it must wait and not shrug",
      needs,
      run: (ctx) =>
        eachCamera(ctx, async (name) => {
          const asked_s = now_s() + 0.6;
          const { exposure_time_s } = await newest(ctx, name, asked_s);
          ensure(exposure_time_s >= asked_s && now_s() >= asked_s, "it answered too early");
        }),
    },
    {
      name: "deadline_is_kept",
      reason: "a program that waits for a picture must get its turn back",
      needs,
      run: (ctx) =>
        eachCamera(ctx, async (name) => {
          const driver = await ctx.bench.camera(name);
          const begun_ms = performance.now();
          let code = "";
          try {
            await driver.newest({ not_before_s: now_s() + 30, deadline_ms: 300 });
          } catch (error) {
            code = isSkill2RealError(error) ? error.code : String(error);
          }
          ctx.timing(`${name}: given up after`, performance.now() - begun_ms, "ms", 500);
          ensure(code === "deadline_exceeded", `it ended with "${code}"`);
        }),
    },
    {
      name: "times_rise_in_one_clock",
      reason: "stamps of two clocks in one stream order the world wrongly",
      needs,
      run: (ctx) =>
        eachCamera(ctx, async (name) => {
          const frames = [];
          for (let i = 0; i < 4; i += 1) frames.push(await newest(ctx, name));
          ensure(new Set(frames.map(({ domain }) => domain)).size === 1, "its clock changes");
          for (const [i, frame] of frames.entries()) {
            const before = frames[i - 1];
            ensure(!before || frame.exposure_time_s > before.exposure_time_s, "its times do not rise");
            ensure(!before || frame.frame_number !== before.frame_number, "two frames have one number");
            ensure(!frame.clamped, "an exposure was stamped in the future");
          }
        }),
    },
    {
      name: "latency_is_told",
      reason: "the pose of a camera that rides on the arm hangs on when the picture was taken",
      needs,
      run: (ctx) =>
        eachCamera(ctx, async (name) => {
          const { arrival_time_s, exposure_time_s, uncertainty_s } = await newest(ctx, name);
          const latency_s = arrival_time_s - exposure_time_s;
          ctx.timing(`${name}: latency`, 1e3 * latency_s, "ms", 300);
          ctx.measure(`${name}: uncertainty`, 1e3 * uncertainty_s, "ms");
          ensure(latency_s > 0, `it arrived ${(-1e3 * latency_s).toFixed(1)} ms before it was exposed`);
        }),
    },
    {
      name: "frames_come_with_the_arm_at_their_exposure",
      reason: "a picture is placed in the world by where the arm was then, not by where it is now",
      needs: ["tool_camera"],
      moves: true,
      run: async (ctx) => {
        const conductor = await ctx.conductor();
        const { client } = conductor;
        const name = camerasOf(ctx).find((one) => ctx.rig.cameras[one]!.mount === "tcp")!;
        const motion = ctx.trajectory(conductor, conductor.q_rad, bent(conductor.q_rad, { wrist_3: 0.4 }), 3);
        const { group, expected_end_time_s } = await ctx.start(conductor, [motion]);
        await sleepMs(500);
        const [frame] = await client.getFrames([`${name}_left`], { not_before_s: client.time_s, deadlineMs: FRAME_MS });
        await ctx.finish(conductor, group, expected_end_time_s);
        const [arm] = frame!.arms_at_exposure;
        ensure(arm, "no state of the arm came with it");
        ensure(
          Math.abs(arm.time_s - frame!.exposure_time_s) < 0.02,
          `the state is of ${(1e3 * (arm.time_s - frame!.exposure_time_s)).toFixed(0)} ms beside the exposure`,
        );
        const X = multiply(arm.X_world_tcp, frame!.X_parent_camera);
        ensure(
          X.every((value, i) => Math.abs(value - frame!.X_world_camera[i]!) < 1e-6),
          "its pose is not that of the arm and the mount",
        );
      },
    },
    {
      name: "table_is_where_the_tool_camera_sees_it",
      reason: "a hand-eye calibration that is off shows as a table that is too high",
      needs: ["tool_camera", "topdown"],
      moves: true,
      run: async (ctx) => {
        const { look_q_rad } = ctx.rig.arm;
        const { topdown } = ctx.rig.views;
        const conductor = await ctx.conductor();
        if (!look_q_rad || distance(conductor.q_rad, look_q_rad) > 0.05)
          await ctx.moveTo(conductor, look_q_rad ?? conductor.q_rad);
        await conductor.client.bye();
        const { height_m, share } = await depthAt(ctx, topdown!);
        const off_m = height_m - ctx.rig.workspace.table_z_m;
        ctx.measure("table off by", 1e3 * off_m, "mm", 12);
        ensure(share > 0.3, `only ${(100 * share).toFixed(0)} % of the depth there is known`);
        ensure(Math.abs(off_m) < 0.02, `the table is seen ${(1e3 * off_m).toFixed(1)} mm from where the rig says`);
      },
    },
    {
      name: "table_is_where_the_bench_camera_sees_it",
      reason: "two cameras that disagree about the table disagree about everything on it",
      needs: ["bench_camera"],
      run: async (ctx) => {
        const name = camerasOf(ctx).find((one) => ctx.rig.cameras[one]!.mount === "world")!;
        const { height_m, share } = await depthAt(ctx, name);
        const off_m = height_m - ctx.rig.workspace.table_z_m;
        ctx.measure("table off by", 1e3 * off_m, "mm", 20);
        ensure(share > 0.3, `only ${(100 * share).toFixed(0)} % of the depth there is known`);
        ensure(Math.abs(off_m) < 0.04, `the table is seen ${(1e3 * off_m).toFixed(1)} mm from where the rig says`);
      },
    },
    {
      name: "camera_and_arm_move_as_one",
      reason: "a mount that is loose or turned shows when the arm turns",
      needs: ["tool_camera", "topdown"],
      moves: true,
      run: async (ctx) => {
        const conductor = await ctx.conductor();
        const name = camerasOf(ctx).find((one) => ctx.rig.cameras[one]!.mount === "tcp")!;
        const heights: number[] = [];
        for (const wrist_3 of [0, 0.35, -0.35]) {
          await ctx.moveTo(conductor, bent(conductor.q_rad, { wrist_3, wrist_1: wrist_3 / 4 }));
          await sleepMs(200);
          await ctx.state(conductor.client);
          const [frame] = await conductor.client.getFrames([`${name}_depth`], {
            not_before_s: conductor.client.time_s,
            deadlineMs: FRAME_MS,
          });
          ensure(frame?.format === "depth_f32", "it gives no depth");
          heights.push(medianHeight(frame).height_m);
        }
        await ctx.moveTo(conductor, conductor.q_rad);
        const spread = Math.max(...heights) - Math.min(...heights);
        ctx.measure("table moves by", 1e3 * spread, "mm", 12);
        ensure(spread < 0.025, `turned by 20 degrees the table seems to move by ${(1e3 * spread).toFixed(1)} mm`);
      },
    },
    {
      name: "mount_is_a_rigid_transform",
      reason: "a matrix that scales puts everything elsewhere",
      needs,
      run: async (ctx) => {
        const { capabilities } = await ctx.observer();
        for (const { name, X_parent_camera } of capabilities.cameras) {
          const round = multiply(X_parent_camera, invert(X_parent_camera));
          ensure(
            round.every((value, i) => Math.abs(value - (i % 5 === 0 ? 1 : 0)) < 1e-6),
            `the pose of ${name} is none`,
          );
        }
      },
    },
    {
      name: "unknown_camera_is_refused_with_the_known_ones",
      reason: "a name that is misspelt must not look like a broken camera",
      run: async (ctx) => {
        const observer = await ctx.observer();
        const words = await ctx.refused(() => observer.getFrames(["no_such_camera"]), "ERROR_BAD_ARGUMENT");
        for (const { name } of observer.capabilities.cameras)
          ensure(words.includes(name), `it does not name ${name}: ${words}`);
      },
    },
    {
      name: "pictures_do_not_disturb_a_motion",
      reason: "the same machine carries the 500 Hz loop and megabytes of pixels",
      needs,
      moves: true,
      run: async (ctx) => {
        const conductor = await ctx.conductor();
        const { client } = conductor;
        const target = bent(conductor.q_rad, { wrist_3: 0.3 });
        const motion = ctx.trajectory(conductor, conductor.q_rad, target, 3);
        const { group, expected_end_time_s } = await ctx.start(conductor, [motion]);
        let pictures = 0;
        for (; client.time_s < expected_end_time_s; pictures += 1)
          await client.getFrames([`${camerasOf(ctx)[0]!}_left`], { not_before_s: client.time_s, deadlineMs: FRAME_MS });
        const status = await ctx.finish(conductor, group, expected_end_time_s);
        ctx.measure("pictures", pictures, "");
        ensure(status.motions[0]?.end_reason === "END_COMPLETED", `it ended with ${status.motions[0]?.end_reason}`);
        const off = distance(await ctx.q(conductor), target);
        ensure(off < 0.003, `it ended ${(1e3 * off).toFixed(1)} mrad off`);
        ensureNear(status.motions[0]?.fraction_done ?? 0, 1, 1e-6, "its fraction");
      },
    },
  ],
};
