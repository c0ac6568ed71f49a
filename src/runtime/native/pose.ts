import { Skill2RealError } from "../../contract/errors.js";
import { loadAddon } from "./load-addon.js";
import * as schema from "./pose-schema.js";
import type {
  ArmModel,
  CollisionOptions,
  CollisionResult,
  CompileGraspOptions,
  CompileGraspResult,
  CompilePlaceOptions,
  CompilePlaceResult,
  Joints,
  PlanJointOptions,
  PlanLinearOptions,
  PlanPathOptions,
  PlanResult,
  Transform,
} from "./pose-types.js";

export type * from "./pose-types.js";

/** The native object behind an arm: the model is parsed once and shared, read-only, by the worker threads. */
type NativeArm = {
  forward(q_rad: Joints): number[];
  linkFrames(q_rad: Joints): number[][];
  inverse(X_world_tcp: Transform, within_limits: boolean, full_turns: boolean): number[][];
  inverseNearest(X_world_tcp: Transform, q_seed_rad: Joints): number[] | null;
  jacobian(q_rad: Joints): number[];
  checkCollision(options: object): Promise<CollisionResult>;
  planJoint(options: object): Promise<PlanResult>;
  planLinear(options: object): Promise<PlanResult>;
  planPath(options: object): Promise<PlanResult>;
  compileGrasp(options: object): Promise<CompileGraspResult>;
  compilePlace(options: object): Promise<CompilePlaceResult>;
};
type NativePose = { Arm: new (model: object) => NativeArm };

export type InverseOptions = {
  /** Keep only solutions inside the joint limits. Default true. */
  within_limits?: boolean;
  /** Add every equivalent with a joint turned by +-2 pi that is inside the limits. Default false: one representative per solution, nearest to zero. */
  full_turns?: boolean;
};

/** Runs a native call and turns its error into ours. */
function native<T>(call: () => T): T {
  try {
    return call();
  } catch (cause) {
    throw toError(cause);
  }
}

function toError(cause: unknown): unknown {
  if (cause instanceof Skill2RealError) return cause;
  return new Skill2RealError("addon_failed", cause instanceof Error ? cause.message : String(cause), { cause });
}

async function nativeAsync<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    throw toError(cause);
  }
}

/**
 * Kinematics, collision, trajectories and pose compilation of one six-joint arm.
 *
 * Synchronous methods take microseconds; the asynchronous ones run on worker threads, off the event loop, and may run side by side.
 * Every method throws `bad_argument` for numbers that are not finite, wrong lengths or unknown keys.
 * What cannot be done (out of reach, blocked) is no error: it is a result whose `status` is a code.
 */
export class ArmKinematics {
  readonly model: ArmModel;
  readonly #native: NativeArm;

  private constructor(model: ArmModel, nativeArm: NativeArm) {
    this.model = model;
    this.#native = nativeArm;
  }

  /** Throws `bad_argument` for a model that makes no sense, `addon_missing` where the addon is not built. */
  static create(model: ArmModel): ArmKinematics {
    const checked = schema.parse(schema.armModel, model, "arm model");
    const addon = loadAddon<NativePose>("pose");
    return new ArmKinematics(
      model,
      native(() => new addon.Arm(checked)),
    );
  }

  /** X_world_tcp at the given joints. */
  forward(q_rad: Joints): number[] {
    const q = schema.parse(schema.joints, q_rad, "q_rad");
    return native(() => this.#native.forward(q));
  }

  /** Seven poses in world: the base, then the DH frame after each joint (the last is the flange). */
  linkFrames(q_rad: Joints): number[][] {
    const q = schema.parse(schema.joints, q_rad, "q_rad");
    return native(() => this.#native.linkFrames(q));
  }

  /**
   * Every exact solution for a TCP pose (up to 8 apart from full turns), sorted by distance from zero; empty when out of reach.
   * On a singularity, where a whole line of solutions exists, one member of it per branch is returned.
   */
  inverse(X_world_tcp: Transform, options: InverseOptions = {}): number[][] {
    const X = schema.parse(schema.transform, X_world_tcp, "X_world_tcp");
    const { within_limits = true, full_turns = false } = schema.parse(
      schema.inverseOptions,
      options,
      "inverse options",
    );
    return native(() => this.#native.inverse(X, within_limits, full_turns));
  }

  /** The solution inside the limits, full turns considered, that is nearest to the seed (largest joint difference first); null when there is none. */
  inverseNearest(X_world_tcp: Transform, q_seed_rad: Joints): number[] | null {
    const X = schema.parse(schema.transform, X_world_tcp, "X_world_tcp");
    const q = schema.parse(schema.joints, q_seed_rad, "q_seed_rad");
    return native(() => this.#native.inverseNearest(X, q));
  }

  /** 6 x 6, row-major: rows are the TCP's linear (m) then angular (rad) velocity in world axes per joint rate. */
  jacobian(q_rad: Joints): number[] {
    const q = schema.parse(schema.joints, q_rad, "q_rad");
    return native(() => this.#native.jacobian(q));
  }

  /** Arm, gripper and held object against the scene and each other, at one configuration. */
  checkCollision(options: CollisionOptions): Promise<CollisionResult> {
    return nativeAsync(async () =>
      this.#native.checkCollision(schema.parse(schema.collisionOptions, options, "checkCollision")),
    );
  }

  /**
   * A jerk-limited motion, straight in joint space. Bodies that touch at the start (an object on its support) may part but not press deeper or touch again.
   */
  planJoint(options: PlanJointOptions): Promise<PlanResult> {
    return nativeAsync(async () => this.#native.planJoint(schema.parse(schema.planJointOptions, options, "planJoint")));
  }

  /** A jerk-limited straight line of the TCP, slowed where joints would exceed their limits. */
  planLinear(options: PlanLinearOptions): Promise<PlanResult> {
    return nativeAsync(async () =>
      this.#native.planLinear(schema.parse(schema.planLinearOptions, options, "planLinear")),
    );
  }

  /** As planLinear, through several poses. */
  planPath(options: PlanPathOptions): Promise<PlanResult> {
    return nativeAsync(async () => this.#native.planPath(schema.parse(schema.planPathOptions, options, "planPath")));
  }

  /** Approach, contact and lift for a grasp, all checked, with straight lines between them in one branch. */
  compileGrasp(options: CompileGraspOptions): Promise<CompileGraspResult> {
    return nativeAsync(async () =>
      this.#native.compileGrasp(schema.parse(schema.compileGraspOptions, options, "compileGrasp")),
    );
  }

  /** Carry, release and retreat for the object in the gripper, all checked; measures the support's height from table and cloud. */
  compilePlace(options: CompilePlaceOptions): Promise<CompilePlaceResult> {
    return nativeAsync(async () =>
      this.#native.compilePlace(schema.parse(schema.compilePlaceOptions, options, "compilePlace")),
    );
  }
}
