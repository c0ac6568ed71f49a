import type { ArmState } from "../contract/generated/device.js";
import type { ArmRuntime, Arms } from "./arms.js";
import type { HeldObjects } from "./held-objects.js";
import type { MotionLimits } from "./motion-limits.js";
import type { Capsule, OrientedBox, Scene, Vec3 } from "./native/pose.js";
import { pointCloud } from "./native/scene.js";
import type { Depth } from "./observation-store.js";
import { depthView } from "./observation-store.js";
import { invert, multiply, transformPoint } from "./transforms.js";

const CLOUD_STRIDE = 2;
/** Points below this over the table are the table; it is checked as a plane. */
const ABOVE_TABLE_M = 0.012;
const HIGHEST_M = 0.6;
/** Own surfaces seen by a camera are blurred by the matching window. */
const SELF_MARGIN_M = 0.035;
const VOXEL_M = 0.01;
/** A voxel with fewer points than this is a speck of the matcher, not a surface. */
const VOXEL_POINTS = 3;
const HELD_MARGIN_M = 0.03;

/** What was last seen to stand on the table, for collision checks. */
export class ObservedScene {
  readonly #arms: Arms;
  readonly #limits: MotionLimits;
  readonly #held: HeldObjects;
  readonly #clouds = new WeakMap<Depth, Promise<Float32Array>>();
  #cloud: Float32Array | null = null;
  #taken_at_s: number | null = null;

  constructor(arms: Arms, limits: MotionLimits, held: HeldObjects) {
    this.#arms = arms;
    this.#limits = limits;
    this.#held = held;
  }

  /** Device time of the exposure that the cloud is from; null before the first. */
  get takenAt_s(): number | null {
    return this.#taken_at_s;
  }

  /** Points of a depth image that are neither table, nor the robot, nor what it held; computed once per depth. */
  cloudOf(depth: Depth): Promise<Float32Array> {
    const known = this.#clouds.get(depth) ?? this.#filtered(depth);
    this.#clouds.set(depth, known);
    return known;
  }

  async #filtered(depth: Depth): Promise<Float32Array> {
    const cloud = await pointCloud(depthView(depth.observation, depth.depth_m), { stride: CLOUD_STRIDE });
    const own = this.#ownCapsules(depth.observation.arms);
    const boxes = this.#heldBoxes(depth.observation.arms, depth.observation.taken_at_s);
    const { table_z_m, min_xyz, max_xyz } = this.#limits;
    const kept: number[] = [];
    for (let i = 0; i < cloud.length; i += 3) {
      const [x, y, z] = [cloud[i]!, cloud[i + 1]!, cloud[i + 2]!];
      if (z < table_z_m + ABOVE_TABLE_M || z > table_z_m + HIGHEST_M) continue;
      if (x < min_xyz[0] - 0.2 || x > max_xyz[0] + 0.2 || y < min_xyz[1] - 0.2 || y > max_xyz[1] + 0.2) continue;
      if (own.some((capsule) => distanceToAxis(capsule, x, y, z) < capsule.radius_m + SELF_MARGIN_M)) continue;
      if (boxes.some((box) => insideBox(box, x, y, z))) continue;
      kept.push(x, y, z);
    }
    return dropSpecks(Float32Array.from(kept));
  }

  /** Takes the cloud of the newest depth; an older exposure than the present one is not taken. */
  async update(depth: Depth): Promise<void> {
    if (this.#taken_at_s !== null && depth.observation.taken_at_s < this.#taken_at_s) return;
    const cloud = await this.cloudOf(depth);
    this.#cloud = cloud;
    this.#taken_at_s = depth.observation.taken_at_s;
  }

  /** What `arm` must not touch: table, zones, other arms where they are, the newest cloud without the arm's grasp target and the surface it puts down on. */
  forArm(arm: ArmRuntime, states: readonly ArmState[], cloud: Float32Array | null = this.#cloud): Scene {
    const target = this.#held.target(arm.name);
    const place = this.#held.place(arm.name);
    const grown = (size_m: Vec3): Vec3 => size_m.map((size) => size + 0.016) as unknown as Vec3;
    return {
      table_z_m: this.#limits.table_z_m,
      zones: this.#limits.zoneBoxes(),
      obstacles: this.#otherArms(arm, states),
      cloud_world_m: cloud,
      exclude_points_world_m: target?.points_world_m ?? null,
      exclude_radius_m: 0.012,
      exclude_boxes: [
        ...(target ? [{ X_world_box: target.X_world_box, size_m: grown(target.size_m) }] : []),
        ...(place ? [place] : []),
      ],
    };
  }

  #capsulesOf(arm: ArmRuntime, q_rad: readonly number[]): (Capsule & { name: string })[] {
    const frames = arm.kinematics.linkFrames(q_rad);
    return arm.kinematics.model.capsules.map((capsule) => ({
      name: `${arm.name} link ${capsule.link}`,
      p0_m: transformPoint(frames[capsule.link]!, capsule.p0_m),
      p1_m: transformPoint(frames[capsule.link]!, capsule.p1_m),
      radius_m: capsule.radius_m,
    }));
  }

  #otherArms(arm: ArmRuntime, states: readonly ArmState[]): (Capsule & { name: string })[] {
    return this.#arms.all().flatMap((other) => {
      const state = states.find((entry) => entry.name === other.name);
      return other.name === arm.name || !state ? [] : this.#capsulesOf(other, state.q_rad);
    });
  }

  #ownCapsules(states: readonly ArmState[]): Capsule[] {
    return this.#arms.all().flatMap((arm) => {
      const state = states.find((entry) => entry.name === arm.name);
      if (!state) return [];
      const reach = arm.gripper ? arm.gripper.max_opening_m / 2 : 0;
      const length = arm.gripper?.finger_length_m ?? 0;
      const fingers: Capsule = {
        p0_m: transformPoint(state.X_world_tcp, [0, 0, -length]),
        p1_m: transformPoint(state.X_world_tcp, [0, 0, 0.01]),
        radius_m: reach,
      };
      return [...this.#capsulesOf(arm, state.q_rad), ...(arm.gripper ? [fingers] : [])];
    });
  }

  #heldBoxes(states: readonly ArmState[], taken_at_s: number): { X_box_world: number[]; half_m: Vec3 }[] {
    return states.flatMap((state) => {
      const held = this.#held.get(state.name);
      if (!held || taken_at_s < held.measured_at_s) return [];
      const box: OrientedBox = { X_world_box: multiply(state.X_world_tcp, held.X_tcp_box), size_m: held.size_m };
      return [
        {
          X_box_world: invert(box.X_world_box),
          half_m: held.size_m.map((size) => size / 2 + HELD_MARGIN_M) as unknown as Vec3,
        },
      ];
    });
  }
}

function distanceToAxis(capsule: Capsule, x: number, y: number, z: number): number {
  const [a, b] = [capsule.p0_m, capsule.p1_m];
  const d = [b[0] - a[0], b[1] - a[1], b[2] - a[2]] as const;
  const r = [x - a[0], y - a[1], z - a[2]] as const;
  const square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
  const t = square > 0 ? Math.min(1, Math.max(0, (r[0] * d[0] + r[1] * d[1] + r[2] * d[2]) / square)) : 0;
  return Math.hypot(r[0] - t * d[0], r[1] - t * d[1], r[2] - t * d[2]);
}

function insideBox(box: { X_box_world: number[]; half_m: Vec3 }, x: number, y: number, z: number): boolean {
  const p = transformPoint(box.X_box_world, [x, y, z]);
  return p.every((value, i) => Math.abs(value) <= box.half_m[i]!);
}

/** Drops points whose voxel holds too few of them. */
export function dropSpecks(cloud: Float32Array, voxel_m = VOXEL_M, least = VOXEL_POINTS): Float32Array {
  const key = (i: number): number => {
    const [x, y, z] = [0, 1, 2].map((k) => Math.floor(cloud[i + k]! / voxel_m) + 2048) as [number, number, number];
    return (x * 4096 + y) * 4096 + z;
  };
  const counts = new Map<number, number>();
  for (let i = 0; i < cloud.length; i += 3) counts.set(key(i), (counts.get(key(i)) ?? 0) + 1);
  const kept: number[] = [];
  for (let i = 0; i < cloud.length; i += 3)
    if ((counts.get(key(i)) ?? 0) >= least) kept.push(cloud[i]!, cloud[i + 1]!, cloud[i + 2]!);
  return Float32Array.from(kept);
}
