import type { MeasureVisibleGeometryRequest } from "../../src/contract/generated/robot-api.js";
import { measureGeometry as measure, type VisibleGeometry } from "../../src/runtime/native/scene.js";
import { type Depth, depthView, type Mask } from "../../src/runtime/observation-store.js";
import { OperationFailure } from "../../src/runtime/operation.js";
import type { OperationContext } from "../../src/runtime/operation-context.js";

/** Mask and depth of one observation; throws `mismatched_refs` for two. */
export function maskedDepth(
  context: OperationContext,
  mask_ref: string,
  depth_ref: string,
): { mask: Mask; depth: Depth } {
  const mask = context.observations.mask(mask_ref);
  const depth = context.observations.depth(depth_ref);
  if (mask.observation !== depth.observation) {
    throw new OperationFailure(
      "mismatched_refs",
      `mask_ref is of ${mask.observation.ref}, depth_ref of ${depth.observation.ref}: take both from one observation`,
    );
  }
  return { mask, depth };
}

/** Geometry with the points it rests on; throws `no_points`. */
export async function measured(mask: Mask, depth: Depth): Promise<VisibleGeometry & { points_world: Float32Array }> {
  const geometry = await measure(depthView(depth.observation, depth.depth_m), mask.mask, { points: true });
  if (!geometry?.points_world)
    throw new OperationFailure(
      "no_points",
      `of the mask's ${mask.area_px} pixels too few have depth; choose another view or box`,
    );
  return { ...geometry, points_world: geometry.points_world };
}

export async function measureGeometry(
  context: OperationContext,
  { mask_ref, depth_ref }: MeasureVisibleGeometryRequest,
): Promise<Record<string, unknown>> {
  const { mask, depth } = maskedDepth(context, mask_ref, depth_ref);
  const geometry = await measured(mask, depth);
  const box = geometry.upright_box;
  context.trace.object({
    id: mask.ref,
    time_s: depth.observation.taken_at_s,
    center_world: box.center_world,
    size_m: box.size_m,
    yaw_rad: box.yaw_rad,
    points_world: geometry.points_world,
  });
  return {
    centroid: geometry.centroid_world,
    top_z: geometry.top_z_m,
    support_z: geometry.support_z_m,
    extents: geometry.extents_m,
    principal_axes: geometry.principal_axes.map((xyz) => ({ xyz })),
    upright_box: { center: box.center_world, size: box.size_m, yaw_rad: box.yaw_rad, yaw_defined: box.yaw_defined },
    point_count: geometry.point_count,
    geometry_confidence: geometry.confidence,
    ...context.observations.staleness(depth.observation),
  };
}
