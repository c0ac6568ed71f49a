import { expect, it } from "vitest";
import { fromPose, invert, transformPoint } from "../../src/runtime/transforms.js";
import { sweptBox } from "./asked-contact.js";

const fingers = { opening_m: 0, width_m: 0.02, thickness_m: 0.01, length_m: 0.05 };
const down = { qx: 1, qy: 0, qz: 0, qw: 0 };
const at = (x: number, y: number, z: number) => fromPose({ x, y, z, ...down })!;

/** Whether a point of world lies in the box. */
function holds(from: readonly number[], to: readonly number[], point: readonly number[]): boolean {
  const { X_world_box, size_m } = sweptBox(from, to, fingers);
  const p = transformPoint(invert(X_world_box), point);
  return p.every((value, i) => Math.abs(value) <= size_m[i]! / 2);
}

it("holds what the fingers sweep, and neither the hand above them nor what stands aside", () => {
  const [from, to] = [at(0.4, 0, 0.03), at(0.4, 0.1, 0.03)];
  for (const y of [0, 0.05, 0.1, 0.125])
    for (const z of [0.005, 0.03, 0.07]) expect(holds(from, to, [0.41, y, z]), `${y} ${z}`).toBe(true);
  expect(holds(from, to, [0.4, 0.05, 0.1])).toBe(false);
  expect(holds(from, to, [0.46, 0.05, 0.03])).toBe(false);
  expect(holds(from, to, [0.4, 0.15, 0.03])).toBe(false);
  expect(holds(from, to, [0.4, -0.04, 0.03])).toBe(false);
});

it("is a box of world for a way along the approach, and for one that goes nowhere", () => {
  for (const to of [at(0.4, 0, 0.1), at(0.4, 0, 0.3)]) {
    const { X_world_box: X } = sweptBox(at(0.4, 0, 0.3), to, fingers);
    const columns = [0, 1, 2].map((c) => [X[c]!, X[4 + c]!, X[8 + c]!]);
    for (const [i, a] of columns.entries())
      for (const [j, b] of columns.entries())
        expect(a[0]! * b[0]! + a[1]! * b[1]! + a[2]! * b[2]!).toBeCloseTo(i === j ? 1 : 0, 9);
  }
  expect(holds(at(0.4, 0, 0.3), at(0.4, 0, 0.1), [0.41, 0.01, 0.08])).toBe(true);
  expect(holds(at(0.4, 0, 0.3), at(0.4, 0, 0.1), [0.47, 0, 0.2])).toBe(false);
});
