import type { GetSamMaskFromBoxRequest } from "../../src/contract/generated/robot-api.js";
import { type PixelBox, type Segmentation, segmentBox } from "../../src/runtime/native/scene.js";
import { depthView, type Observation } from "../../src/runtime/observation-store.js";
import { OperationFailure } from "../../src/runtime/operation.js";
import type { OperationContext } from "../../src/runtime/operation-context.js";
import { depthOf } from "./compute-depth.js";

const TINT = [255, 0, 255] as const;

/** The left image with the mask tinted and its border drawn. */
function overlay(observation: Observation, mask: Uint8Array): Uint8Array {
  const { width, height, left } = observation;
  const pixels = Uint8Array.from(left);
  for (let i = 0; i < mask.length; i++) {
    if (!mask[i]) continue;
    const [x, y] = [i % width, Math.floor(i / width)];
    const border =
      x === 0 ||
      y === 0 ||
      x === width - 1 ||
      y === height - 1 ||
      !mask[i - 1] ||
      !mask[i + 1] ||
      !mask[i - width] ||
      !mask[i + width];
    for (let c = 0; c < 3; c++)
      pixels[3 * i + c] = border ? TINT[c]! : Math.round(0.65 * left[3 * i + c]! + 0.35 * TINT[c]!);
  }
  return pixels;
}

/** Masks already cut, by observation and box: pointing and measuring ask for the same ones. */
const known = new WeakMap<Observation, Map<string, Promise<Segmentation>>>();

function segmentOnce(observation: Observation, depth_m: Float32Array, box: PixelBox): Promise<Segmentation> {
  const masks = known.get(observation) ?? new Map<string, Promise<Segmentation>>();
  known.set(observation, masks);
  const key = [box.x0, box.y0, box.x1, box.y1].join();
  const mask = masks.get(key) ?? segmentBox(depthView(observation, depth_m), box);
  masks.set(key, mask);
  return mask;
}

export async function maskFromBox(
  context: OperationContext,
  { observation_ref, box }: GetSamMaskFromBoxRequest,
): Promise<Record<string, unknown>> {
  const observation = context.observations.observation(observation_ref);
  const { width, height } = observation;
  if (!(box.x1 > box.x0 && box.y1 > box.y0))
    throw new OperationFailure(
      "invalid_argument",
      `box is empty: x0 ${box.x0} must be below x1 ${box.x1}, and y0 ${box.y0} below y1 ${box.y1}`,
    );
  const inside = {
    x0: Math.max(0, box.x0),
    y0: Math.max(0, box.y0),
    x1: Math.min(width, box.x1),
    y1: Math.min(height, box.y1),
  };
  if (inside.x1 - inside.x0 < 2 || inside.y1 - inside.y0 < 2) {
    throw new OperationFailure("outside_image", `box covers less than 2 x 2 pixels of the ${width} x ${height} image`);
  }
  const depth = await depthOf(context, observation);
  const { mask, area_px, bounds, rule } = await segmentOnce(observation, depth.depth_m, inside);
  if (area_px === 0)
    throw new OperationFailure(
      "empty_mask",
      "nothing in the box stands out from what is around it; look at the image again and frame one thing",
    );
  const entry = context.observations.addMask({ observation, mask, area_px });
  const image = await context.images.save("mask", overlay(observation, mask), width, height);
  context.trace.image({
    path: image.path,
    topic: "/perception/mask",
    time_s: observation.taken_at_s,
    png: image.png,
    frame_id: observation.view.left,
  });
  return {
    mask_ref: entry.ref,
    area_px,
    bounds,
    overlay_path: image.path,
    model: `scene/${rule}`,
    ...context.observations.staleness(observation),
  };
}
