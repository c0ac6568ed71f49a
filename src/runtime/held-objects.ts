import type { HeldObjectState } from "../contract/generated/robot-api.js";
import type { OrientedBox } from "./native/pose.js";
import type { Transform, Vec3 } from "./transforms.js";
import { invert, multiply, position, toPose } from "./transforms.js";

/** Geometry of a carried object: a box rigid with the TCP; its own z was up when it was measured. */
export type HeldObject = {
  arm: string;
  X_tcp_box: number[];
  size_m: Vec3;
  /** Its outline has no yaw (can, ball). */
  round: boolean;
  opening_m: number;
  basis: "grasp" | "refresh";
  measured_at_s: number;
};

/** What was grasped at: the contact pose last compiled for an arm with a mask and depth. */
export type GraspTarget = {
  X_world_contact: Transform;
  X_world_box: Transform;
  size_m: Vec3;
  round: boolean;
  points_world_m: Float32Array;
};

/** A closing within this of a compiled contact pose is the grasp of what was compiled. */
const CONTACT_TOLERANCE_M = 0.015;

/** What each arm carries, as far as measurements tell; and what it was last told to grasp. */
export class HeldObjects {
  readonly #held = new Map<string, HeldObject>();
  readonly #targets = new Map<string, GraspTarget>();
  readonly #places = new Map<string, OrientedBox>();

  get(arm: string): HeldObject | null {
    return this.#held.get(arm) ?? null;
  }
  target(arm: string): GraspTarget | null {
    return this.#targets.get(arm) ?? null;
  }
  setTarget(arm: string, target: GraspTarget | null): void {
    if (target) this.#targets.set(arm, target);
    else this.#targets.delete(arm);
  }
  /** Surface on which the arm's object was last told to be put down: it may be touched there. */
  place(arm: string): OrientedBox | null {
    return this.#places.get(arm) ?? null;
  }
  setPlace(arm: string, support: OrientedBox): void {
    this.#places.set(arm, support);
  }
  set(held: HeldObject): void {
    this.#held.set(held.arm, held);
  }
  /** Forgets what an arm carries (released, or closed on nothing); gives what it was. */
  clear(arm: string): HeldObject | null {
    const held = this.get(arm);
    this.#held.delete(arm);
    this.#places.delete(arm);
    return held;
  }

  /**
   * The gripper closed and stalled with the TCP at `X_world_tcp`: where that is the compiled contact pose, the target's
   * geometry is now held. Elsewhere nothing is known of what is between the fingers, and nothing is invented.
   */
  grasped(arm: string, X_world_tcp: Transform, opening_m: number, time_s: number): HeldObject | null {
    const target = this.#targets.get(arm);
    if (!target) return null;
    const [a, b] = [position(target.X_world_contact), position(X_world_tcp)];
    if (Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]) > CONTACT_TOLERANCE_M) return null;
    const held: HeldObject = {
      arm,
      X_tcp_box: multiply(invert(X_world_tcp), target.X_world_box),
      size_m: target.size_m,
      round: target.round,
      opening_m,
      basis: "grasp",
      measured_at_s: time_s,
    };
    this.set(held);
    return held;
  }

  /** Public words of what is held, one entry per arm that holds. */
  states(): HeldObjectState[] {
    return [...this.#held.values()].map(heldObjectState);
  }
}

export function heldObjectState(held: HeldObject): HeldObjectState {
  const X = held.X_tcp_box;
  // The lowest corner when the tool points down is the one farthest along the TCP's +z.
  const reach = [0, 1, 2].reduce((sum, i) => sum + (Math.abs(X[8 + i]!) * held.size_m[i]!) / 2, X[11]!);
  return {
    arm: held.arm,
    center_tcp: position(X),
    size: held.size_m,
    pose_tcp: toPose(X),
    bottom_below_tcp_m: reach,
    opening_m: held.opening_m,
    basis: held.basis,
    measured_at_s: held.measured_at_s,
  };
}
