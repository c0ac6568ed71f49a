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
  /** How far the top falls off from its middle to 0.7 of its radius, relative to the radius: 0 flat, about 0.29 for a ball; null where unknown. */
  dome: number | null;
};

const BOX_MARGIN_PX = 2;
const PROBES = 5;

type Point = [number, number, number];

/** Mask and geometry of a region by the contract's own operations; null where nothing can be measured. */
export async function measureRegion(context: SkillContext, observation_ref: string, depth_ref: string, region: Region, width: number): Promise<Shape | null> {
  const { x0, y0, x1, y1 } = region.box;
  const box = { x0: x0 - BOX_MARGIN_PX, y0: y0 - BOX_MARGIN_PX, x1: x1 + BOX_MARGIN_PX, y1: y1 + BOX_MARGIN_PX };
  const mask = await context.invoke("get_sam_mask_from_box", { observation_ref, box });
  if (mask.status !== "ok") return null;
  const geometry = await context.invoke("measure_visible_geometry", { mask_ref: mask.mask_ref, depth_ref });
  if (geometry.status !== "ok") return null;
  const upright = geometry.upright_box as { center: Point; size: Point; yaw_defined: boolean };
  const [a, b] = [upright.size[0], upright.size[1]];
  const support = geometry.support_z === null ? upright.center[2] - upright.size[2] / 2 : Number(geometry.support_z);
  const shape: Shape = { long_m: Math.max(a, b), short_m: Math.min(a, b), height_m: Number(geometry.top_z) - support, round: !upright.yaw_defined, dome: null };
  if (shape.long_m < 0.1) shape.dome = await domeOf(context, depth_ref, region, width, upright.center, (a + b) / 4);
  return shape;
}

/** Least squares of height against squared distance from the middle, over a grid of pixels of the top. */
async function domeOf(context: SkillContext, depth_ref: string, region: Region, width: number, center: Point, radius_m: number): Promise<number | null> {
  const { x0, y0, x1, y1 } = region.box;
  const own = new Set(region.pixels);
  const samples: { r2: number; z: number }[] = [];
  for (let i = 0; i < PROBES; i++) {
    for (let j = 0; j < PROBES; j++) {
      const u = Math.round(x0 + ((i + 0.5) * (x1 - x0)) / PROBES);
      const v = Math.round(y0 + ((j + 0.5) * (y1 - y0)) / PROBES);
      if (!own.has(v * width + u)) continue;
      const hit = await context.invoke("get_point_from_pixel", { depth_ref, u, v });
      if (hit.status !== "ok") continue;
      const [x, y, z] = hit.point as Point;
      const r2 = ((x - center[0]) ** 2 + (y - center[1]) ** 2) / radius_m ** 2;
      if (r2 < 0.75) samples.push({ r2, z });
    }
  }
  if (samples.length < 6) return null;
  const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [mr, mz] = [mean(samples.map((s) => s.r2)), mean(samples.map((s) => s.z))];
  const covariance = mean(samples.map((s) => (s.r2 - mr) * (s.z - mz)));
  const variance = mean(samples.map((s) => (s.r2 - mr) ** 2));
  return variance < 1e-3 ? null : (-covariance / variance) * (0.49 / radius_m);
}
