import type { OrientedBox, Vec3 } from "../../src/runtime/native/pose.js";
import { axis, position, type Transform } from "../../src/runtime/transforms.js";

/** What fingers may come near beside their own width, and beyond both ends of their way. */
const BESIDE_M = 0.03;
const BEYOND_M = 0.03;
/** What of a thing may reach below the fingertips. */
const BELOW_M = 0.03;
const LEAST_M = 1e-4;

export type Fingers = {
  /** Between the fingers. */
  opening_m: number;
  width_m: number;
  thickness_m: number;
  length_m: number;
};

const dot = (a: Vec3, b: Vec3): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a: Vec3, b: Vec3): Vec3 => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
const combined = (a: Vec3, b: Vec3, scale: number): Vec3 => [
  a[0] + b[0] * scale,
  a[1] + b[1] * scale,
  a[2] + b[2] * scale,
];
const unit = (a: Vec3): Vec3 => combined([0, 0, 0], a, 1 / Math.hypot(...a));

/**
 * What the fingers sweep on a straight way from one pose of the TCP to another: where a motion that is to end at contact may meet
 * what was seen. One box in world; its x axis is along the way, its z axis as near to the approach direction as that permits.
 */
export function sweptBox(from: Transform, to: Transform, fingers: Fingers): OrientedBox {
  const [start, end] = [position(from), position(to)];
  const way = combined(end, start, -1);
  const length_m = Math.hypot(...way);
  const approach = axis(to, 2);
  const x = length_m > LEAST_M ? unit(way) : axis(to, 0);
  const along = dot(approach, x);
  // A way along the approach direction itself has none beside it: the closing direction will do.
  const z =
    Math.abs(along) > 0.99 ? unit(combined(axis(to, 1), x, -dot(axis(to, 1), x))) : unit(combined(approach, x, -along));
  const y = cross(z, x);
  const across_m = 2 * fingers.thickness_m + fingers.opening_m + fingers.width_m + 2 * BESIDE_M;
  const steep = Math.abs(along) > 0.99;
  const height_m = steep ? across_m : fingers.length_m + BELOW_M;
  const middle = combined(combined(start, way, 0.5), z, steep ? 0 : BELOW_M - height_m / 2);
  return {
    X_world_box: [x[0], y[0], z[0], middle[0], x[1], y[1], z[1], middle[1], x[2], y[2], z[2], middle[2], 0, 0, 0, 1],
    size_m: [length_m + 2 * BEYOND_M, across_m, height_m],
  };
}
