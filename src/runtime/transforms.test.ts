import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  axis,
  difference,
  fromPose,
  fromYaw,
  IDENTITY,
  invert,
  multiply,
  position,
  toPose,
  transformPoint,
} from "./transforms.js";

const metres = fc.double({ min: -5, max: 5, noNaN: true });
const component = fc.double({ min: -1, max: 1, noNaN: true });
/** A random rigid transform, by a quaternion that has a direction. */
const transform = fc
  .tuple(metres, metres, metres, component, component, component, component)
  .filter(([, , , x, y, z, w]) => Math.hypot(x, y, z, w) > 0.55)
  .map(([x, y, z, qx, qy, qz, qw]) => fromPose({ x, y, z, qx, qy, qz, qw })!);
const point = fc.tuple(metres, metres, metres);

function expectClose(actual: readonly number[], wanted: readonly number[]): void {
  expect(actual).toHaveLength(wanted.length);
  for (const [i, value] of actual.entries()) expect(Math.abs(value - wanted[i]!)).toBeLessThan(1e-9);
}

describe("transforms", () => {
  it("have an inverse on both sides", () => {
    fc.assert(
      fc.property(transform, (X) => {
        expectClose(multiply(X, invert(X)), IDENTITY);
        expectClose(multiply(invert(X), X), IDENTITY);
      }),
    );
  });

  it("compose as their points do", () => {
    fc.assert(
      fc.property(transform, transform, point, (A, B, p) => {
        expectClose(transformPoint(multiply(A, B), p), transformPoint(A, transformPoint(B, p)));
      }),
    );
  });

  it("keep lengths and handedness", () => {
    fc.assert(
      fc.property(transform, (X) => {
        const [x, y, z] = [axis(X, 0), axis(X, 1), axis(X, 2)];
        for (const one of [x, y, z]) expect(Math.hypot(...one)).toBeCloseTo(1, 9);
        expectClose(z, [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]]);
      }),
    );
  });

  it("come back from their pose, whose quaternion is of unit length with w not negative", () => {
    fc.assert(
      fc.property(transform, (X) => {
        const pose = toPose(X);
        expect(Math.hypot(pose.qx, pose.qy, pose.qz, pose.qw)).toBeCloseTo(1, 12);
        expect(pose.qw).toBeGreaterThanOrEqual(0);
        expectClose(fromPose(pose)!, X);
      }),
    );
  });

  it("come back from half turns about each axis, where w vanishes", () => {
    for (const [qx, qy, qz] of [
      [1, 0, 0],
      [0, 1, 0],
      [0, 0, 1],
      [Math.SQRT1_2, Math.SQRT1_2, 0],
    ] as const) {
      const X = fromPose({ x: 0, y: 0, z: 0, qx, qy, qz, qw: 0 })!;
      expectClose(fromPose(toPose(X))!, X);
    }
  });

  it("take a quaternion of another length, and none without a direction", () => {
    const X = fromPose({ x: 1, y: 2, z: 3, qx: 0, qy: 0, qz: 3, qw: 3 })!;
    expectClose(X, fromYaw([1, 2, 3], Math.PI / 2));
    expect(fromPose({ x: 0, y: 0, z: 0, qx: 0, qy: 0, qz: 0, qw: 0.4 })).toBeNull();
    expect(fromPose({ x: 0, y: 0, z: 0, qx: Number.NaN, qy: 0, qz: 0, qw: 1 })).toBeNull();
  });

  it("measure how far they are apart, in metres and radians, the same from either side", () => {
    const turn = fc.double({ min: -Math.PI + 1e-6, max: Math.PI - 1e-6, noNaN: true });
    fc.assert(
      fc.property(transform, turn, metres, (X, yaw, x) => {
        const Y = multiply(X, fromYaw([x, 0, 0], yaw));
        const { distance_m, angle_rad } = difference(X, Y);
        expect(distance_m).toBeCloseTo(Math.abs(x), 9);
        expect(angle_rad).toBeCloseTo(Math.abs(yaw), 6);
        const back = difference(Y, X);
        expect(back.distance_m).toBeCloseTo(distance_m, 9);
        expect(back.angle_rad).toBeCloseTo(angle_rad, 9);
      }),
    );
  });

  it("give their origin", () => {
    expect(position(fromYaw([1, -2, 3], 0.4))).toEqual([1, -2, 3]);
  });
});
