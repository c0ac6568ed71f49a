import type { ArmModel, Transform, Vec3 } from "./pose-types.js";

/** A row-major transform from three column vectors and an origin. */
export function pose(x: Vec3, y: Vec3, z: Vec3, p: Vec3): number[] {
  return [x[0], y[0], z[0], p[0], x[1], y[1], z[1], p[1], x[2], y[2], z[2], p[2], 0, 0, 0, 1];
}

export const IDENTITY: Transform = pose([1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]);

/** Tool straight down at a place, closing along world y. */
export const toolDown = (p: Vec3): number[] => pose([1, 0, 0], [0, -1, 0], [0, 0, -1], p);

/** Joints of an arm in front of its base with the tool straight down. */
export const HOME_RAD = [Math.PI, -Math.PI / 2, Math.PI / 2, -Math.PI / 2, -Math.PI / 2, 0];

const six = (value: number): number[] => Array.from({ length: 6 }, () => value);

/** A UR5e (published Denavit-Hartenberg parameters and limits) with a two-finger gripper of 95 mm, for tests. */
export function testArm(overrides: Partial<ArmModel> = {}): ArmModel {
  const a = [0, -0.425, -0.3922, 0, 0, 0];
  const d = [0.1625, 0, 0, 0.1333, 0.0997, 0.0996];
  const alpha = [Math.PI / 2, 0, 0, Math.PI / 2, -Math.PI / 2, 0];
  return {
    name: "ur5e",
    dh: a.map((a_m, i) => ({ a_m, d_m: d[i]!, alpha_rad: alpha[i]! })),
    X_world_base: IDENTITY,
    X_flange_tcp: pose([1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0.1275]),
    position_min_rad: [-2, -2, -1, -2, -2, -2].map((turns) => turns * Math.PI),
    position_max_rad: [2, 2, 1, 2, 2, 2].map((turns) => turns * Math.PI),
    velocity_max_rad_s: six(Math.PI),
    acceleration_max_rad_s2: six(8),
    jerk_max_rad_s3: six(80),
    capsules: [
      { link: 2, p0_m: [0.425, 0, 0.138], p1_m: [0, 0, 0.138], radius_m: 0.055 },
      { link: 3, p0_m: [0.3922, 0, 0.02], p1_m: [0, 0, 0.02], radius_m: 0.045 },
      { link: 5, p0_m: [0, 0.03, 0], p1_m: [0, -0.02, 0], radius_m: 0.04 },
      { link: 6, p0_m: [0, -0.045, 0.03], p1_m: [0, 0.045, 0.03], radius_m: 0.035 },
    ],
    gripper: {
      capsules: [],
      max_opening_m: 0.095,
      finger: { length_m: 0.06, width_m: 0.02, thickness_m: 0.012, tip_beyond_tcp_m: 0.01 },
    },
    ...overrides,
  };
}
