import { describe, expect, it } from "vitest";
import type { Arm } from "../../contract/generated/device.js";
import { multiply } from "../../runtime/transforms.js";
import { angle_rad, distance_m, forwardKinematics, rigidityError } from "./transforms.js";

const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

const turnedAboutZ = (angle: number): number[] => {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  return [c, -s, 0, 0, s, c, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
};

/** Nominal UR5e, whose zero pose is known from its drawing: the arm stretched along -x, the flange facing -y. */
const UR5E = {
  X_world_base: IDENTITY,
  X_flange_tcp: IDENTITY,
  dh: [
    { a_m: 0, d_m: 0.1625, alpha_rad: Math.PI / 2, theta_offset_rad: 0 },
    { a_m: -0.425, d_m: 0, alpha_rad: 0, theta_offset_rad: 0 },
    { a_m: -0.3922, d_m: 0, alpha_rad: 0, theta_offset_rad: 0 },
    { a_m: 0, d_m: 0.1333, alpha_rad: Math.PI / 2, theta_offset_rad: 0 },
    { a_m: 0, d_m: 0.0997, alpha_rad: -Math.PI / 2, theta_offset_rad: 0 },
    { a_m: 0, d_m: 0.0996, alpha_rad: 0, theta_offset_rad: 0 },
  ],
} as unknown as Arm;

describe("forwardKinematics", () => {
  it("puts the stretched arm where its drawing has it", () => {
    const pose = forwardKinematics(UR5E, [0, 0, 0, 0, 0, 0]);
    expect(pose[3]).toBeCloseTo(-0.425 - 0.3922, 9);
    expect(pose[7]).toBeCloseTo(-0.1333 - 0.0996, 9);
    expect(pose[11]).toBeCloseTo(0.1625 - 0.0997, 9);
    expect(rigidityError(pose)).toBeLessThan(1e-12);
  });

  it("turns the whole arm about the base's z with the first joint", () => {
    const turned = forwardKinematics(UR5E, [0.7, 0.3, -0.2, 0.5, 0.1, 0.9]);
    const straight = forwardKinematics(UR5E, [0, 0.3, -0.2, 0.5, 0.1, 0.9]);
    const expected = multiply(turnedAboutZ(0.7), straight);
    expect(distance_m(turned, expected)).toBeLessThan(1e-12);
    expect(angle_rad(turned, expected)).toBeLessThan(1e-7);
  });
});

describe("angle_rad", () => {
  it("is exact for small and large angles", () => {
    for (const angle of [0, 1e-6, 1e-4, 0.5, 2, 3.1])
      expect(angle_rad(IDENTITY, turnedAboutZ(angle))).toBeCloseTo(angle, 9);
  });
});

describe("rigidityError", () => {
  it("sees scale, mirrors, wrong lengths and numbers that are none", () => {
    expect(rigidityError(IDENTITY)).toBe(0);
    expect(rigidityError(IDENTITY.map((value, index) => (index === 0 ? 1.01 : value)))).toBeGreaterThan(0.01);
    expect(rigidityError(IDENTITY.map((value, index) => (index === 10 ? -1 : value)))).toBe(2);
    expect(rigidityError([1, 0])).toBe(Number.POSITIVE_INFINITY);
    expect(rigidityError(IDENTITY.map((value, index) => (index === 3 ? Number.NaN : value)))).toBe(
      Number.POSITIVE_INFINITY,
    );
  });
});
