import type { GetPointFromPixelRequest } from "../../src/contract/generated/robot-api.js";
import { pointFromPixel as find, type SurfacePoint } from "../../src/runtime/native/scene.js";
import { type Depth, depthView } from "../../src/runtime/observation-store.js";
import { OperationFailure } from "../../src/runtime/operation.js";
import type { OperationContext } from "../../src/runtime/operation-context.js";

/** Surface under a pixel; throws `outside_image` or `no_depth`. */
export async function surfaceAt(depth: Depth, u: number, v: number): Promise<SurfacePoint> {
  const { width, height } = depth.observation;
  if (!(u >= -0.5 && u < width - 0.5 && v >= -0.5 && v < height - 0.5))
    throw new OperationFailure("outside_image", `pixel (${u}, ${v}) is outside the ${width} x ${height} image`);
  const hit = await find(depthView(depth.observation, depth.depth_m), u, v);
  if (!hit) throw new OperationFailure("no_depth", `no depth is known at pixel (${u}, ${v}) or close to it`);
  return hit;
}

export async function pointFromPixel(
  context: OperationContext,
  { depth_ref, u, v }: GetPointFromPixelRequest,
): Promise<Record<string, unknown>> {
  const depth = context.observations.depth(depth_ref);
  const hit = await surfaceAt(depth, u, v);
  return { point: hit.point_world, normal: hit.normal_world, ...context.observations.staleness(depth.observation) };
}
