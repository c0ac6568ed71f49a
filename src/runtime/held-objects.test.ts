import { describe, expect, it } from "vitest";
import { type GraspTarget, HeldObjects, heldObjectState } from "./held-objects.js";
import { fromPose, fromYaw, multiply, transformPoint } from "./transforms.js";

/** The tool pointing straight down at a place: z of the TCP is -z of the world. */
const pointingDown = (x: number, y: number, z: number): number[] => fromPose({ x, y, z, qx: 1, qy: 0, qz: 0, qw: 0 })!;

const target = (): GraspTarget => ({
  X_world_contact: pointingDown(0.4, 0.1, 0.02),
  X_world_box: fromYaw([0.4, 0.1, 0.03], 0.3),
  size_m: [0.04, 0.05, 0.06],
  round: false,
  points_world_m: new Float32Array(),
});

describe("HeldObjects", () => {
  it("holds what was compiled when the gripper closes at the contact pose", () => {
    const held = new HeldObjects();
    held.setTarget("left", target());
    const X_world_tcp = pointingDown(0.402, 0.1, 0.02);
    const grasped = held.grasped("left", X_world_tcp, 0.038, 4.2);
    expect(grasped).toMatchObject({
      arm: "left",
      size_m: [0.04, 0.05, 0.06],
      opening_m: 0.038,
      basis: "grasp",
      measured_at_s: 4.2,
    });
    // It is rigid with the tool: seen from the world it is where it was.
    const again = multiply(X_world_tcp, grasped!.X_tcp_box);
    for (const [i, value] of target().X_world_box.entries()) expect(again[i]).toBeCloseTo(value, 12);
    expect(held.states()).toHaveLength(1);
  });

  it("invents nothing: without a target, or where the gripper closed elsewhere, nothing is known", () => {
    const held = new HeldObjects();
    expect(held.grasped("left", pointingDown(0.4, 0.1, 0.02), 0.03, 1)).toBeNull();
    held.setTarget("left", target());
    expect(held.grasped("left", pointingDown(0.42, 0.1, 0.02), 0.03, 1)).toBeNull();
    expect(held.grasped("right", pointingDown(0.4, 0.1, 0.02), 0.03, 1)).toBeNull();
    expect(held.states()).toEqual([]);
  });

  it("forgets what was released, once, and forgets targets", () => {
    const held = new HeldObjects();
    held.setTarget("left", target());
    held.grasped("left", pointingDown(0.4, 0.1, 0.02), 0.03, 1);
    expect(held.clear("left")).toMatchObject({ arm: "left" });
    expect(held.clear("left")).toBeNull();
    held.setTarget("left", null);
    expect(held.target("left")).toBeNull();
  });

  it("says in public words how far it reaches below the tool", () => {
    const held = new HeldObjects();
    held.setTarget("left", target());
    const state = heldObjectState(held.grasped("left", pointingDown(0.4, 0.1, 0.02), 0.03, 1)!);
    // The box spans z 0 to 0.06 in world; the TCP is at 0.02 and points down.
    expect(state.bottom_below_tcp_m).toBeCloseTo(0.02, 12);
    expect(state.center_tcp[2]).toBeCloseTo(-0.01, 12);
  });

  it("reaches as far as the lowest corner of a box that hangs askew", () => {
    const X_tcp_box = fromPose({ x: 0, y: 0, z: 0.05, qx: Math.sin(0.2), qy: 0, qz: 0, qw: Math.cos(0.2) })!;
    const size_m: [number, number, number] = [0.04, 0.05, 0.06];
    const corners = [-1, 1].flatMap((i) => [-1, 1].flatMap((j) => [-1, 1].map((k) => [i, j, k])));
    const lowest = Math.max(
      ...corners.map(
        (corner) =>
          transformPoint(
            X_tcp_box,
            corner.map((sign, axis) => (sign * size_m[axis]!) / 2),
          )[2],
      ),
    );
    const held = {
      arm: "left",
      X_tcp_box,
      size_m,
      round: false,
      opening_m: 0,
      basis: "refresh" as const,
      measured_at_s: 0,
    };
    expect(heldObjectState(held).bottom_below_tcp_m).toBeCloseTo(lowest, 12);
  });
});
