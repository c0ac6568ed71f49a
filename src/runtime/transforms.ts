/**
 * Rigid transforms as 16 numbers, row-major: `X_a_b` maps coordinates of frame b to frame a. Poses of the contract are
 * position [m] and unit quaternion x y z w.
 */
import type { Pose } from "../contract/generated/robot-api.js";

export type Transform = readonly number[];
export type Vec3 = [number, number, number];

const at = (X: Transform, row: number, column: number): number => X[4 * row + column]!;

export function multiply(X_a_b: Transform, X_b_c: Transform): number[] {
  const out = new Array<number>(16);
  for (let row = 0; row < 4; row++) {
    for (let column = 0; column < 4; column++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += at(X_a_b, row, k) * at(X_b_c, k, column);
      out[4 * row + column] = sum;
    }
  }
  return out;
}

/** X_b_a of X_a_b. */
export function invert(X: Transform): number[] {
  const out = [...IDENTITY];
  for (let row = 0; row < 3; row++) {
    for (let column = 0; column < 3; column++) out[4 * row + column] = at(X, column, row);
    out[4 * row + 3] = -(at(X, 0, row) * at(X, 0, 3) + at(X, 1, row) * at(X, 1, 3) + at(X, 2, row) * at(X, 2, 3));
  }
  return out;
}

export const IDENTITY: Transform = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

export const position = (X: Transform): Vec3 => [at(X, 0, 3), at(X, 1, 3), at(X, 2, 3)];
export const axis = (X: Transform, column: 0 | 1 | 2): Vec3 => [at(X, 0, column), at(X, 1, column), at(X, 2, column)];

/** p_a of p_b. */
export function transformPoint(X_a_b: Transform, p: readonly number[]): Vec3 {
  const [x, y, z] = [p[0]!, p[1]!, p[2]!];
  return [0, 1, 2].map(
    (row) => at(X_a_b, row, 0) * x + at(X_a_b, row, 1) * y + at(X_a_b, row, 2) * z + at(X_a_b, row, 3),
  ) as Vec3;
}

/** A pose of position `p` whose x axis is turned by `yaw_rad` about z. */
export function fromYaw(p: readonly number[], yaw_rad: number): number[] {
  const [c, s] = [Math.cos(yaw_rad), Math.sin(yaw_rad)];
  return [c, -s, 0, p[0]!, s, c, 0, p[1]!, 0, 0, 1, p[2]!, 0, 0, 0, 1];
}

/** The quaternion is normalised; one of length below 0.5 has no direction and gives null. */
export function fromPose(pose: Pose): number[] | null {
  const length = Math.hypot(pose.qx, pose.qy, pose.qz, pose.qw);
  if (!(length > 0.5)) return null;
  const [x, y, z, w] = [pose.qx / length, pose.qy / length, pose.qz / length, pose.qw / length];
  return [
    1 - 2 * (y * y + z * z),
    2 * (x * y - z * w),
    2 * (x * z + y * w),
    pose.x,
    2 * (x * y + z * w),
    1 - 2 * (x * x + z * z),
    2 * (y * z - x * w),
    pose.y,
    2 * (x * z - y * w),
    2 * (y * z + x * w),
    1 - 2 * (x * x + y * y),
    pose.z,
    0,
    0,
    0,
    1,
  ];
}

/** Rotation to quaternion by the largest of the four components (Shepperd 1978), w kept non-negative. */
export function toPose(X: Transform): Pose {
  const [x, y, z] = position(X);
  const trace = at(X, 0, 0) + at(X, 1, 1) + at(X, 2, 2);
  const squares = [at(X, 0, 0), at(X, 1, 1), at(X, 2, 2), trace];
  const largest = squares.indexOf(Math.max(...squares));
  let q: [number, number, number, number];
  if (largest === 3) {
    q = [at(X, 2, 1) - at(X, 1, 2), at(X, 0, 2) - at(X, 2, 0), at(X, 1, 0) - at(X, 0, 1), 1 + trace];
  } else {
    const [i, j, k] = [largest, (largest + 1) % 3, (largest + 2) % 3] as [number, number, number];
    q = [0, 0, 0, at(X, k, j) - at(X, j, k)];
    q[i] = 1 + at(X, i, i) - at(X, j, j) - at(X, k, k);
    q[j] = at(X, j, i) + at(X, i, j);
    q[k] = at(X, k, i) + at(X, i, k);
  }
  const scale = (q[3] < 0 ? -1 : 1) / Math.hypot(...q);
  const [qx, qy, qz, qw] = q.map((value) => value * scale) as [number, number, number, number];
  return { x, y, z, qx, qy, qz, qw };
}

/** Distance of the origins [m] and angle between the orientations [rad]. */
export function difference(X_a: Transform, X_b: Transform): { distance_m: number; angle_rad: number } {
  const relative = multiply(invert(X_a), X_b);
  const trace = at(relative, 0, 0) + at(relative, 1, 1) + at(relative, 2, 2);
  const sine = Math.hypot(
    at(relative, 2, 1) - at(relative, 1, 2),
    at(relative, 0, 2) - at(relative, 2, 0),
    at(relative, 1, 0) - at(relative, 0, 1),
  );
  return { distance_m: Math.hypot(...position(relative)), angle_rad: Math.atan2(sine, trace - 1) };
}
