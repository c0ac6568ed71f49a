import type { ArmState, View } from "../../src/contract/generated/device.js";
import type { ViewName } from "../../src/contract/generated/robot-api.js";
import type { ArmRuntime } from "../../src/runtime/arms.js";
import type { DeviceFrame } from "../../src/runtime/device/device.js";
import { OperationFailure } from "../../src/runtime/operation.js";
import type { OperationContext } from "../../src/runtime/operation-context.js";
import { toPose } from "../../src/runtime/transforms.js";

/** Device time that taking a picture costs. */
const VIEW_COST_S = 0.1;

/** How far a joint may stand from the pose that a view needs: what goto_home leaves, and a little more [rad]. */
const LOOK_TOLERANCE_RAD = 0.03;

/** Throws `view_unavailable` where the view needs its arm at another pose than it had at the exposure. */
function ensureLooking({ role, arm, look_q_rad }: View, arms: readonly ArmState[]): void {
  if (look_q_rad.length === 0) return;
  const q_rad = arms.find((state) => state.name === arm)?.q_rad ?? [];
  const off_rad = Math.max(...look_q_rad.map((q, i) => Math.abs(q - (q_rad[i] ?? Number.NaN))));
  // Said this way round, so that a state without joints is no look pose.
  if (!(off_rad <= LOOK_TOLERANCE_RAD))
    throw new OperationFailure(
      "view_unavailable",
      `the ${role} view is taken by the wrist camera with the arm at its look pose, and a joint stands ${off_rad.toFixed(3)} rad from it (at most ${LOOK_TOLERANCE_RAD}): goto_home first`,
    );
}

/** Exposes the cameras of a view now and keeps the observation. */
export async function takeView(
  context: OperationContext,
  role: ViewName,
  arm?: ArmRuntime,
): Promise<Record<string, unknown>> {
  const view = context.device.capabilities.views.find(
    (entry) => entry.role === role && (arm === undefined || entry.arm === arm.name),
  );
  if (!view)
    throw new OperationFailure(
      "view_unavailable",
      `this backend has no ${role} view${arm ? ` on arm "${arm.name}"` : ""}`,
    );
  const names = [view.left, view.right, view.depth].filter((name) => name !== "");
  if (view.look_q_rad.length > 0) ensureLooking(view, (await context.state()).arms);
  await context.spend(VIEW_COST_S);
  const frames = await context.device.getFrames(names, { not_before_s: context.device.time_s });
  const frame = (name: string): DeviceFrame | null => frames.find((entry) => entry.camera === name) ?? null;
  const [left, right, depth] = [frame(view.left), frame(view.right), frame(view.depth)];
  if (left?.format !== "rgb8") throw new OperationFailure("camera_failed", `camera ${view.left} gave no colour frame`);
  ensureLooking(view, left.arms_at_exposure);

  const base = role === "wrist" && arm ? `wrist_${arm.name}` : role;
  const [leftImage, rightImage] = await Promise.all([
    context.images.save(`${base}_left`, left.pixels, left.width, left.height),
    right?.format === "rgb8" ? context.images.save(`${base}_right`, right.pixels, right.width, right.height) : null,
  ]);
  const observation = context.observations.addObservation({
    view,
    width: left.width,
    height: left.height,
    intrinsics: { fx_px: left.fx_px, fy_px: left.fy_px, cx_px: left.cx_px, cy_px: left.cy_px },
    X_world_camera: left.X_world_camera,
    left: left.pixels,
    right: right?.format === "rgb8" ? right.pixels : null,
    sensor_depth_m: depth?.format === "depth_f32" ? depth.pixels : null,
    baseline_m: view.baseline_m,
    taken_at_s: left.exposure_time_s,
    arms: left.arms_at_exposure,
    left_path: leftImage.path,
  });
  context.images.note(base, leftImage.path, context.stage.stage);
  context.trace.camera(left.camera, left.parent, left.X_parent_camera, left.exposure_time_s);
  context.trace.image({
    path: leftImage.path,
    topic: `/views/${base}/left`,
    time_s: left.exposure_time_s,
    png: leftImage.png,
    frame_id: left.camera,
  });
  if (rightImage && right)
    context.trace.image({
      path: rightImage.path,
      topic: `/views/${base}/right`,
      time_s: right.exposure_time_s,
      png: rightImage.png,
      frame_id: right.camera,
    });

  const exposed = arm && left.arms_at_exposure.find((state) => state.name === arm.name);
  return {
    observation_ref: observation.ref,
    left_image_path: leftImage.path,
    right_image_path: rightImage?.path ?? null,
    width: left.width,
    height: left.height,
    taken_at_s: left.exposure_time_s,
    ...(exposed ? { tcp_pose: toPose(exposed.X_world_tcp) } : {}),
  };
}
