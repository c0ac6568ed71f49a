import type { ArmState, GripperState } from "../contract/generated/device.js";
import type { DeviceExchange } from "./device/device.js";

export type TracedImage = {
  /** Path relative to the run's folder. */
  path: string;
  topic: string;
  time_s: number;
  png: Uint8Array;
  frame_id: string;
};

export type TracedCall = {
  stage: number;
  index: number;
  operation: string;
  request: unknown;
  result: unknown;
  start_s: number;
  end_s: number;
};

export type TracedObject = {
  id: string;
  time_s: number;
  center_world: readonly number[];
  size_m: readonly number[];
  yaw_rad: number;
  points_world: Float32Array;
};

/** Where a session writes what happened. Every method returns at once; a sink that cannot write says so through `failed`. */
export interface TraceSink {
  exchange(exchange: DeviceExchange): void;
  call(call: TracedCall): void;
  image(image: TracedImage): void;
  state(arms: readonly ArmState[], grippers: readonly GripperState[]): void;
  camera(name: string, parent: string, X_parent_camera: readonly number[], time_s: number): void;
  object(object: TracedObject): void;
  program(stage: number, source: string): void;
  event(kind: string, details: Record<string, unknown>): void;
  log(level: "debug" | "info" | "warn" | "error", message: string): void;
  /** The first error that kept the sink from writing, or null. */
  readonly failed: Error | null;
}

const nothing = (): void => {};

/** A sink that keeps nothing, for sessions that are not recorded. */
export const NO_TRACE: TraceSink = {
  exchange: nothing,
  call: nothing,
  image: nothing,
  state: nothing,
  camera: nothing,
  object: nothing,
  program: nothing,
  event: nothing,
  log: nothing,
  failed: null,
};
