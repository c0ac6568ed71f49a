import type { Arm } from "../../contract/generated/device.js";
import { multiply, type Transform } from "../../runtime/transforms.js";

/** Pose of the TCP in world: X_world_base, then one standard Denavit-Hartenberg transform a joint, then X_flange_tcp. */
export function forwardKinematics(arm: Arm, q_rad: readonly number[]): number[] {
  let pose: Transform = arm.X_world_base;
  for (const [joint, row] of arm.dh.entries()) {
    const theta = (q_rad[joint] ?? Number.NaN) + row.theta_offset_rad;
    const [ct, st, ca, sa] = [Math.cos(theta), Math.sin(theta), Math.cos(row.alpha_rad), Math.sin(row.alpha_rad)];
    const link = [
      ct,
      -st * ca,
      st * sa,
      row.a_m * ct,
      st,
      ct * ca,
      -ct * sa,
      row.a_m * st,
      0,
      sa,
      ca,
      row.d_m,
      0,
      0,
      0,
      1,
    ];
    pose = multiply(pose, link);
  }
  return multiply(pose, arm.X_flange_tcp);
}

export function distance_m(a: Transform, b: Transform): number {
  return Math.hypot(a[3]! - b[3]!, a[7]! - b[7]!, a[11]! - b[11]!);
}

/** Angle of the rotation between two poses, rad; exact for small angles too. */
export function angle_rad(a: Transform, b: Transform): number {
  let squared = 0;
  for (const index of [0, 1, 2, 4, 5, 6, 8, 9, 10]) squared += (a[index]! - b[index]!) ** 2;
  return 2 * Math.asin(Math.min(1, Math.sqrt(squared / 8)));
}

/** How far 16 numbers are from a rigid transform: the largest error of orthonormality, handedness and last row. */
export function rigidityError(x: Transform): number {
  if (x.length !== 16 || !x.every(Number.isFinite)) return Number.POSITIVE_INFINITY;
  let error = Math.max(Math.abs(x[12]!), Math.abs(x[13]!), Math.abs(x[14]!), Math.abs(x[15]! - 1));
  const row = (r: number): [number, number, number] => [x[4 * r]!, x[4 * r + 1]!, x[4 * r + 2]!];
  const dot = (u: readonly number[], v: readonly number[]): number => u[0]! * v[0]! + u[1]! * v[1]! + u[2]! * v[2]!;
  for (let i = 0; i < 3; i += 1)
    for (let j = 0; j < 3; j += 1) error = Math.max(error, Math.abs(dot(row(i), row(j)) - (i === j ? 1 : 0)));
  const [a, b, c] = [row(0), row(1), row(2)];
  const cross = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  return Math.max(error, Math.abs(dot(cross, c) - 1));
}
