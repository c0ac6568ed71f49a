import type { Box, Pixel, RobotApiRequests, RobotApiResults, StatusCode } from "../contract/generated/robot-api.js";

/** Operations whose result is an object with a status. */
type StatusOperation = {
  [N in keyof RobotApiResults]: RobotApiResults[N] extends string ? never : N;
}[keyof RobotApiResults];

/** RGB8 rows. */
export type PublicImage = { pixels: Uint8Array; width: number; height: number };

/** An image with what recordings call it; left out: "image". */
export type NamedImage = PublicImage & { name?: string };

/** The left image of an observation with what is public of it. */
export type ObservedImage = PublicImage & {
  /** View and ordinal of the observation, equal in a replay. */
  name: string;
  view: string;
  /** Device time of the exposure. */
  taken_at_s: number;
  /** Pose of the camera's optical frame (x right, y down, z forward) in world, 4 x 4, row by row. */
  X_world_camera: readonly number[];
};

/** One thing that a service saw in an image; checked to lie inside it. */
export type SeenThing = { box: Box; pixel: Pixel; label: string };

/** Finds all things of an image that fit some words. Throws OperationFailure `service_failed`. */
export type Finder = {
  /** What looks, for results. */
  model: string;
  find(image: NamedImage, query: string): Promise<SeenThing[]>;
};

/** Says what differs between two images. Throws OperationFailure `service_failed`. */
export type Comparer = {
  model: string;
  compare(
    before: NamedImage,
    after: NamedImage,
    question: string,
  ): Promise<{ differences: string[]; seen: string; uncertainty: string }>;
};

/** Services at hand beside the robot; null where there is none. A pointer of null is the built-in one of colours and shapes. */
export type SkillServices = { pointer: Finder | null; segmenter: Finder | null; verifier: Comparer | null };

/** What a function of an optional skill works with: the operations, and the public pixels of what it observed. Nothing below them. */
export type SkillContext = {
  /**
   * Runs an operation of the contract, as a program would: same checks, limits and budgets, one at a time. One that moves only
   * where the function is declared to move; it resolves when the motion has ended. After a stop every call throws, which ends
   * the function: let it pass.
   */
  invoke<N extends StatusOperation>(operation: N, request: RobotApiRequests[N]): Promise<RobotApiResults[N]>;
  /** The left image of an observation; ends the function with `unknown_ref` where there is none. */
  image(observation_ref: string): ObservedImage;
  /** Writes a PNG into the run's folder and gives its relative path. */
  saveImage(name: string, pixels: Uint8Array, width: number, height: number): Promise<string>;
  /** Device time now. */
  time_s(): number;
  readonly services: SkillServices;
  /** Aborts when the program is stopped or ended: whatever a function waits for elsewhere must end with it. */
  readonly signal: AbortSignal;
  /** Ends the function with one of its documented statuses; `fields` are those that a failed result may hold. */
  fail(status: Exclude<StatusCode, "ok">, message: string, fields?: Record<string, unknown>): never;
};

/** What a function gives: the documented fields, to which status ok is added, or a failure as documented. */
export type SkillResult<R> = R extends { status: "ok" }
  ? Omit<R, "status" | "message"> & { status?: "ok"; message?: string }
  : R;
