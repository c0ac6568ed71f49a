import type { Frame } from "../../../contract/generated/device.js";
import { multiply } from "../../../runtime/transforms.js";
import { type CheckGroup, ensure, ensureNear } from "../check.js";
import type { ConformanceContext } from "../context.js";
import { firstArm, jointTrajectory, nearby, play } from "../motion.js";
import { bodyOf, type RawSession } from "../peer.js";
import { angle_rad, distance_m, rigidityError } from "../transforms.js";

type Picture = { frame: Frame; pixels: Buffer };

async function pictures(session: RawSession, cameras: readonly string[], not_before_s = 0): Promise<Picture[]> {
  const answer = await session.ask({ get_frames: { cameras, not_before_s } });
  const { frames } = bodyOf(answer.reply, "frames");
  ensure(frames.length === cameras.length, `${cameras.length} cameras were asked for, ${frames.length} frames came`);
  return frames.map((frame, index) => {
    ensure(frame.camera === cameras[index], `frame ${index} is of ${frame.camera}, not ${cameras[index]}`);
    const pixels = answer.parts[frame.part];
    ensure(pixels, `the raw part ${frame.part} of ${frame.camera} did not come`);
    return { frame, pixels };
  });
}

const allCameras = (ctx: ConformanceContext): string[] => ctx.capabilities.cameras.map((camera) => camera.name);

/** Standard deviation of all bytes of an image. */
function spread(pixels: Buffer): number {
  let sum = 0;
  let squares = 0;
  for (const value of pixels) {
    sum += value;
    squares += value * value;
  }
  const mean = sum / pixels.length;
  return Math.sqrt(Math.max(0, squares / pixels.length - mean * mean));
}

export const frames: CheckGroup = {
  group: "frames",
  checks: [
    {
      name: "every_camera_gives_its_frame",
      reason: "size, format and intrinsics of the capabilities are what every measurement uses",
      needs: ["cameras"],
      run: async (ctx) => {
        const session = await ctx.controller();
        for (const camera of ctx.capabilities.cameras) {
          const [{ frame, pixels } = missing()] = await pictures(session, [camera.name]);
          for (const field of ["width", "height", "format", "parent"] as const)
            ensure(
              frame[field] === camera[field],
              `${field} of ${camera.name}'s frame is ${frame[field]}, not ${camera[field]}`,
            );
          for (const field of ["fx_px", "fy_px", "cx_px", "cy_px"] as const)
            ensureNear(frame[field], camera[field], 1e-9, `${field} of ${camera.name}'s frame`);
          const bytes = frame.width * frame.height * (frame.format === "rgb8" ? 3 : 4);
          ensure(pixels.byteLength === bytes, `${camera.name} sent ${pixels.byteLength} bytes, not ${bytes}`);
        }
      },
    },
    {
      name: "frames_of_one_view_are_of_one_moment",
      reason: "a stereo pair, or a picture and its depth, of two moments measures motion as depth",
      needs: ["cameras"],
      run: async (ctx) => {
        const session = await ctx.controller();
        const views = ctx.capabilities.views.map(({ left, right, depth }) =>
          [left, right, depth].filter((name) => name !== ""),
        );
        // Cameras of a real bench run free of each other; a simulated moment is one for all.
        for (const cameras of ctx.simulated ? [allCameras(ctx)] : views) {
          const found = await pictures(session, cameras);
          const times = new Set(found.map(({ frame }) => frame.exposure_time_s));
          ensure(times.size === 1, `one call for ${cameras.join(", ")} gave the exposures ${[...times].join(", ")} s`);
        }
      },
    },
    {
      name: "exposure_is_not_before_the_asked_time",
      reason: "a picture from before the last motion shows where things were",
      needs: ["cameras"],
      run: async (ctx) => {
        const session = await ctx.controller();
        const camera = allCameras(ctx)[0]!;
        await ctx.pass(session, 0.2);
        await ctx.state(session);
        const asked_s = session.time_s;
        const [{ frame } = missing()] = await pictures(session, [camera], asked_s);
        ensure(
          frame.exposure_time_s >= asked_s,
          `asked for ${asked_s} s or later, exposed at ${frame.exposure_time_s} s`,
        );
        ensure(frame.exposure_time_s <= session.time_s + 1e-9, "the exposure is in the future");
      },
    },
    {
      name: "exposure_that_cannot_be_is_refused",
      reason: "an old picture must never be given as a new one",
      needs: ["sim_clock", "cameras"],
      run: async (ctx) => {
        const session = await ctx.controller();
        await ctx.state(session);
        const get_frames = { cameras: [allCameras(ctx)[0]!], not_before_s: session.time_s + 1 };
        await session.refused(["ERROR_CAMERA", "ERROR_DEADLINE"], { get_frames }, { deadline_ms: 300 });
        await session.refused("ERROR_BAD_ARGUMENT", { get_frames: { ...get_frames, not_before_s: Number.NaN } });
      },
    },
    {
      name: "later_exposure_is_waited_for",
      reason: "on a real clock the next picture comes by itself",
      needs: ["wall_clock", "cameras"],
      run: async (ctx) => {
        const session = await ctx.controller();
        await ctx.state(session);
        const asked_s = session.time_s + 0.3;
        const [{ frame } = missing()] = await pictures(session, [allCameras(ctx)[0]!], asked_s);
        ensure(
          frame.exposure_time_s >= asked_s,
          `asked for ${asked_s} s or later, exposed at ${frame.exposure_time_s} s`,
        );
      },
    },
    {
      name: "unknown_and_repeated_cameras_are_refused",
      reason: "a misspelled camera must not give another one's picture",
      needs: ["cameras"],
      run: async (ctx) => {
        const session = await ctx.controller();
        const camera = allCameras(ctx)[0]!;
        await session.refused("ERROR_BAD_ARGUMENT", { get_frames: { cameras: ["no_such_camera"] } });
        await session.refused("ERROR_BAD_ARGUMENT", { get_frames: { cameras: [camera, camera] } });
        await session.refused("ERROR_BAD_ARGUMENT", { get_frames: { cameras: [] } });
      },
    },
    {
      name: "fixed_cameras_stay_where_they_are",
      reason: "a fixed camera's pose in world is its mount",
      needs: ["cameras"],
      run: async (ctx) => {
        for (const { frame } of await pictures(await ctx.controller(), allCameras(ctx))) {
          ensure(
            rigidityError(frame.X_world_camera) < 1e-6,
            `${frame.camera}'s X_world_camera is not a rigid transform`,
          );
          if (frame.parent !== "world") continue;
          ensure(distance_m(frame.X_world_camera, frame.X_parent_camera) < 1e-9, `${frame.camera} is not at its mount`);
          ensure(
            angle_rad(frame.X_world_camera, frame.X_parent_camera) < 1e-9,
            `${frame.camera} is turned from its mount`,
          );
        }
      },
    },
    {
      name: "riding_cameras_are_where_the_arm_was",
      reason: "a wrist picture is measured with the arm's pose at its exposure",
      needs: ["cameras", "motion"],
      run: async (ctx) => {
        const riding = ctx.capabilities.cameras
          .filter((camera) => camera.parent.startsWith("tcp:"))
          .map(({ name }) => name);
        if (riding.length === 0) return;
        const session = await ctx.controller();
        const { arm, q_rad } = await firstArm(ctx, session);
        const seen: number[][] = [];
        for (let moved = 0; moved < 2; moved += 1) {
          for (const { frame } of await pictures(session, riding)) {
            const carrier = frame.arms_at_exposure.find(({ name }) => `tcp:${name}` === frame.parent);
            ensure(carrier, `${frame.camera}'s frame does not tell the arm it rides on`);
            const expected = multiply(carrier.X_world_tcp, frame.X_parent_camera);
            ensure(
              distance_m(frame.X_world_camera, expected) < 1e-6,
              `${frame.camera} is not where the arm carried it`,
            );
            ensure(
              angle_rad(frame.X_world_camera, expected) < 1e-6,
              `${frame.camera} is not turned as the arm turned it`,
            );
            seen.push(frame.X_world_camera);
          }
          if (moved === 0) await play(ctx, session, [{ joint_trajectory: jointTrajectory(arm, q_rad, nearby(q_rad)) }]);
        }
        ensure(angle_rad(seen[0]!, seen.at(-1)!) > 0.05, "the camera did not turn with the arm");
      },
    },
    {
      name: "pictures_show_something",
      reason: "a black picture is a dead camera or a lost rendering context",
      needs: ["cameras"],
      run: async (ctx) => {
        for (const { frame, pixels } of await pictures(await ctx.controller(), allCameras(ctx)))
          if (frame.format === "rgb8") ensure(spread(pixels) > 3, `${frame.camera}'s picture is of one colour`);
      },
    },
    {
      name: "stereo_pair_differs",
      reason: "two pictures from one place hold no depth",
      needs: ["stereo"],
      run: async (ctx) => {
        const session = await ctx.controller();
        for (const view of ctx.capabilities.views.filter((candidate) => candidate.right !== "")) {
          const [left, right] = await pictures(session, [view.left, view.right]);
          ensure(
            Buffer.compare(left!.pixels, right!.pixels) !== 0,
            `left and right of the ${view.role} view are one picture`,
          );
        }
      },
    },
    {
      name: "riding_camera_sees_the_motion",
      reason: "a picture that does not change when its camera moves is an old one",
      needs: ["cameras", "motion"],
      run: async (ctx) => {
        const riding = ctx.capabilities.cameras.find((camera) => camera.parent.startsWith("tcp:"));
        if (!riding) return;
        const session = await ctx.controller();
        const { arm, q_rad } = await firstArm(ctx, session);
        const [before] = await pictures(session, [riding.name]);
        await play(ctx, session, [{ joint_trajectory: jointTrajectory(arm, q_rad, nearby(q_rad)) }]);
        const [after] = await pictures(session, [riding.name], session.time_s);
        ensure(Buffer.compare(before!.pixels, after!.pixels) !== 0, "the picture is the same after the arm moved");
      },
    },
    {
      name: "same_moment_gives_the_same_picture",
      reason: "image noise is drawn from seed, camera and time, so that runs repeat to the pixel",
      needs: ["sim_clock", "privileged", "cameras"],
      run: async (ctx) => {
        const runs: Picture[][] = [];
        for (let run = 0; run < 2; run += 1) {
          const session = await ctx.controller();
          await ctx.pass(session, 0.1);
          runs.push(await pictures(session, allCameras(ctx)));
          await session.bye();
        }
        for (const [index, { frame, pixels }] of runs[0]!.entries())
          ensure(
            Buffer.compare(pixels, runs[1]![index]!.pixels) === 0,
            `${frame.camera} gave two pictures of one moment`,
          );
      },
    },
    {
      name: "looking_changes_nothing",
      reason: "how often a program looks must not change what happens",
      needs: ["sim_clock", "privileged", "cameras"],
      run: async (ctx) => {
        const session = await ctx.controller();
        const before = await ctx.evaluator.stateHash();
        for (let count = 0; count < 3; count += 1) await pictures(session, allCameras(ctx));
        const after = await ctx.evaluator.stateHash();
        ensure(before.state_hash === after.state_hash, "the world changed while it was looked at");
      },
    },
    {
      name: "a_stopper_sees_no_frames",
      reason: "a stop button needs no pictures",
      needs: ["cameras"],
      run: async (ctx) => {
        await ctx.controller();
        const stopper = await ctx.session("STOPPER");
        await stopper.refused("ERROR_ROLE", { get_frames: { cameras: [allCameras(ctx)[0]!] } });
      },
    },
  ],
};

function missing(): never {
  throw new Error("a frame is missing");
}
