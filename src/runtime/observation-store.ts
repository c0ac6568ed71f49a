import type { ArmState, View } from "../contract/generated/device.js";
import type { DepthView, Intrinsics } from "./native/scene.js";
import type { RefStore } from "./refs.js";

export type Observation = {
  ref: string;
  view: View;
  width: number;
  height: number;
  intrinsics: Intrinsics;
  X_world_camera: readonly number[];
  left: Uint8Array;
  /** Of a stereo pair. */
  right: Uint8Array | null;
  /** Of an RGB-D view: metres, registered to left. */
  sensor_depth_m: Float32Array | null;
  baseline_m: number;
  taken_at_s: number;
  arms: readonly ArmState[];
  left_path: string;
  /** Value of the change log at the exposure. */
  changes: number;
};

export type Depth = { ref: string; observation: Observation; depth_m: Float32Array; model: string };
export type Mask = { ref: string; observation: Observation; mask: Uint8Array; area_px: number };

/** Observations, depths and masks of a session by ref, and the log of motions that may have changed what they saw. */
export class ObservationStore {
  readonly #refs: RefStore;
  readonly #changes: string[] = [];
  readonly #depths = new Map<string, Depth>();

  constructor(refs: RefStore) {
    this.#refs = refs;
  }

  addObservation(observation: Omit<Observation, "ref" | "changes">): Observation {
    const entry: Observation = { ...observation, ref: "", changes: this.#changes.length };
    entry.ref = this.#refs.add("obs", entry);
    return entry;
  }

  addDepth(depth: Omit<Depth, "ref">): Depth {
    const entry: Depth = { ...depth, ref: "" };
    entry.ref = this.#refs.add("depth", entry);
    this.#depths.set(depth.observation.ref, entry);
    return entry;
  }

  addMask(mask: Omit<Mask, "ref">): Mask {
    const entry: Mask = { ...mask, ref: "" };
    entry.ref = this.#refs.add("mask", entry);
    return entry;
  }

  observation(ref: string, field = "observation_ref"): Observation {
    return this.#refs.get<Observation>("obs", ref, field);
  }
  depth(ref: string, field = "depth_ref"): Depth {
    return this.#refs.get<Depth>("depth", ref, field);
  }
  mask(ref: string, field = "mask_ref"): Mask {
    return this.#refs.get<Mask>("mask", ref, field);
  }

  /** The depth already computed for an observation, if any. */
  depthOf(observation: Observation): Depth | null {
    return this.#depths.get(observation.ref) ?? null;
  }

  /** Notes a motion that may have changed what earlier observations saw, in words for a person. */
  noteChange(what: string): void {
    this.#changes.push(what);
  }

  /** The `stale` fields of a result that rests on an observation. */
  staleness(observation: Observation): { stale: boolean; stale_reason: string | null } {
    const since = this.#changes.slice(observation.changes);
    return { stale: since.length > 0, stale_reason: since.length > 0 ? [...new Set(since)].join("; ") : null };
  }
}

/** The view that the scene addon works on. */
export function depthView(observation: Observation, depth_m: Float32Array): DepthView {
  return {
    depth_m,
    rgb: observation.left,
    width: observation.width,
    height: observation.height,
    intrinsics: observation.intrinsics,
    X_world_camera: observation.X_world_camera,
  };
}
