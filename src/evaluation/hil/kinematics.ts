import { multiply } from "../../runtime/transforms.js";

export type DhRow = { a_m: number; d_m: number; alpha_rad: number; theta_offset_rad: number };

/** X_base_flange by standard Denavit-Hartenberg rows: Rz(q + offset) Tz(d) Tx(a) Rx(alpha). Row-major 16. */
export function dhTransform(rows: readonly DhRow[], q_rad: readonly number[]): number[] {
  let X: number[] = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
  for (const [joint, { a_m, d_m, alpha_rad, theta_offset_rad }] of rows.entries()) {
    const theta = (q_rad[joint] ?? 0) + theta_offset_rad;
    const [c, s, ca, sa] = [Math.cos(theta), Math.sin(theta), Math.cos(alpha_rad), Math.sin(alpha_rad)];
    X = [...multiply(X, [c, -s * ca, s * sa, a_m * c, s, c * ca, -c * sa, a_m * s, 0, sa, ca, d_m, 0, 0, 0, 1])];
  }
  return X;
}
