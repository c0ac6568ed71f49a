import type { SkillContext } from "../../src/runtime/operation.js";
import type { Region } from "./regions.js";

/** What the contract's measurements say of a region. */
export type Shape = {
  /** Horizontal sides, longer first. */
  long_m: number;
  short_m: number;
  /** Above what it stands on. */
  height_m: number;
  round: boolean;
  /** How the top leans outwards from its middle: 0 for a plate, 1 for a ball; null where unknown. */
  dome: number | null;
};

const BOX_MARGIN_PX = 2;
const PROBES = 8;
const LEAST_PROBES = 4;
const NEAREST = 0.2;
const FARTHEST = 0.72;
const STEEPEST = 0.5;

type Point = [number, number, number];

/** Mask and geometry of a region by the contract's own operations; null where nothing can be measured. */
export async function measureRegion(
  context: SkillContext,
  observation_ref: string,
  depth_ref: string,
  region: Region,
  width: number,
): Promise<Shape | null> {
  const { x0, y0, x1, y1 } = region.box;
  const box = { x0: x0 - BOX_MARGIN_PX, y0: y0 - BOX_MARGIN_PX, x1: x1 + BOX_MARGIN_PX, y1: y1 + BOX_MARGIN_PX };
  const mask = await context.invoke("get_sam_mask_from_box", { observation_ref, box });
  if (mask.status !== "ok") return null;
  const geometry = await context.invoke("measure_visible_geometry", { mask_ref: mask.mask_ref, depth_ref });
  if (geometry.status !== "ok") return null;
  const upright = geometry.upright_box;
  const [a, b] = [upright.size[0], upright.size[1]];
  const support = geometry.support_z === null ? upright.center[2] - upright.size[2] / 2 : geometry.support_z;
  const shape: Shape = {
    long_m: Math.max(a, b),
    short_m: Math.min(a, b),
    height_m: geometry.top_z - support,
    round: !upright.yaw_defined,
    dome: null,
  };
  if (shape.long_m < 0.1) shape.dome = await domeOf(context, depth_ref, region, width, upright.center, (a + b) / 4);
  return shape;
}

/**
 * How much the surface leans outwards with the distance from its middle, over a grid of pixels of the top: on a sphere the
 * normal's part along the radius equals the distance over the sphere's radius, on a flat top it is 0.
 */
async function domeOf(
  context: SkillContext,
  depth_ref: string,
  region: Region,
  width: number,
  center: Point,
  radius_m: number,
): Promise<number | null> {
  const { x0, y0, x1, y1 } = region.box;
  const own = new Set(region.pixels);
  let leaning = 0;
  let distance = 0;
  let count = 0;
  for (let i = 0; i < PROBES; i++) {
    for (let j = 0; j < PROBES; j++) {
      const u = Math.round(x0 + ((i + 0.5) * (x1 - x0)) / PROBES);
      const v = Math.round(y0 + ((j + 0.5) * (y1 - y0)) / PROBES);
      if (!own.has(v * width + u)) continue;
      const hit = await context.invoke("get_point_from_pixel", { depth_ref, u, v });
      if (hit.status !== "ok" || hit.normal === null) continue;
      const [x, y] = hit.point;
      const [nx, ny, nz] = hit.normal;
      const [dx, dy] = [x - center[0], y - center[1]];
      const r = Math.hypot(dx, dy) / radius_m;
      // Beyond this a cylinder's rim and sides begin; a normal that lies down is of a side.
      if (r < NEAREST || r > FARTHEST || nz < STEEPEST) continue;
      leaning += (nx * dx + ny * dy) / (r * radius_m);
      distance += r;
      count += 1;
    }
  }
  return count < LEAST_PROBES ? null : leaning / distance;
}
