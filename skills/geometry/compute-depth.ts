import type { GetFoundationStereoDepthRequest } from "../../src/contract/generated/robot-api.js";
import { computeStereoDepth } from "../../src/runtime/native/stereo.js";
import type { Depth, Observation } from "../../src/runtime/observation-store.js";
import { OperationFailure } from "../../src/runtime/operation.js";
import type { OperationContext } from "../../src/runtime/operation-context.js";

const LEAST_VALID_FRACTION = 0.02;

/** Depth of an observation, computed once: from the stereo pair, or the sensor's where the view has no pair. */
export async function depthOf(context: OperationContext, observation: Observation): Promise<Depth> {
  const known = context.observations.depthOf(observation);
  if (known) return known;
  if (observation.right) {
    const { far_m, threads } = context.perception;
    const near_m = observation.view.role === "wrist" ? context.perception.wrist_near_m : context.perception.near_m;
    const { depth_m, model } = await computeStereoDepth(
      {
        left: observation.left,
        right: observation.right,
        width: observation.width,
        height: observation.height,
        channels: 3,
        calibration: { fx_px: observation.intrinsics.fx_px, baseline_m: observation.baseline_m },
      },
      { near_m, far_m, threads },
    );
    return context.observations.addDepth({ observation, depth_m, model });
  }
  if (!observation.sensor_depth_m)
    throw new OperationFailure("no_depth", "the view has neither a stereo pair nor a depth sensor");
  return context.observations.addDepth({ observation, depth_m: observation.sensor_depth_m, model: "sensor" });
}

/** Near is bright, unknown is black. */
function preview(depth_m: Float32Array, near_m: number, far_m: number): Uint8Array {
  const pixels = new Uint8Array(depth_m.length * 3);
  const span = Math.max(1e-3, far_m - near_m);
  for (let i = 0; i < depth_m.length; i++) {
    const value = depth_m[i]! > 0 ? Math.round(255 - 215 * Math.min(1, Math.max(0, (depth_m[i]! - near_m) / span))) : 0;
    pixels.fill(value, 3 * i, 3 * i + 3);
  }
  return pixels;
}

export async function computeDepth(
  context: OperationContext,
  { observation_ref }: GetFoundationStereoDepthRequest,
): Promise<Record<string, unknown>> {
  const observation = context.observations.observation(observation_ref);
  const depth = await depthOf(context, observation);
  const known = depth.depth_m.filter((z) => z > 0).sort();
  const valid_fraction = known.length / depth.depth_m.length;
  if (valid_fraction < LEAST_VALID_FRACTION)
    throw new OperationFailure(
      "no_depth",
      `only ${(100 * valid_fraction).toFixed(1)} % of the pixels have depth; is the view dark, blank or too near?`,
    );
  const [near_m, far_m] = [known[Math.floor(known.length * 0.01)]!, known[Math.ceil(known.length * 0.99) - 1]!];
  await context.scene.update(depth);
  const image = await context.images.save(
    "depth",
    preview(depth.depth_m, near_m, far_m),
    observation.width,
    observation.height,
  );
  context.trace.image({
    path: image.path,
    topic: "/perception/depth",
    time_s: observation.taken_at_s,
    png: image.png,
    frame_id: observation.view.left,
  });
  return {
    depth_ref: depth.ref,
    observation_ref: observation.ref,
    model: depth.model,
    valid_fraction,
    near_m,
    far_m,
    preview_path: image.path,
    ...context.observations.staleness(observation),
  };
}
