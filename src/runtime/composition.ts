import { OPERATIONS } from "../contract/generated/robot-api-dispatch.js";
import type { CallOutcome } from "./dispatch.js";
import { OperationFailure, type SkillFunction } from "./operation.js";
import type { ObservedImage, SkillContext, SkillServices } from "./skill-context.js";

/** What the session lets a running function do. */
export type CompositionSeam = {
  /** Throws where a stop, a loss or the session's end forbids anything further. */
  refuseIfEnded(): void;
  /** Whether anything moves now. */
  moving(): boolean;
  /** Runs one operation to its end. */
  operation(name: string, request: unknown): Promise<CallOutcome>;
  image(observation_ref: string): ObservedImage;
  saveImage(name: string, pixels: Uint8Array, width: number, height: number): Promise<string>;
  time_s(): number;
  /** Aborts when the program is stopped or ended. */
  signal(): AbortSignal;
};

/** Operations that one call of a function may use, and motions among them. */
const MOST_OPERATIONS = 20_000;
const MOST_MOTIONS = 32;

const MOVING: ReadonlySet<string> = new Set(OPERATIONS.filter(({ moves }) => moves).map(({ name }) => name));
/** Those of functions whose loader binds none. */
const NO_SERVICES: SkillServices = { pointer: null, segmenter: null, verifier: null };

/**
 * Runs a function of a skill. Its operations go one after the other, whatever it awaits; those that it leaves behind are
 * waited for, and none starts once it has ended, a stop is latched, or its share is used up: such calls throw, which a
 * function that goes on regardless meets again at its next one.
 */
export async function runFunction(
  name: string,
  implementation: SkillFunction,
  request: never,
  seam: CompositionSeam,
): Promise<Record<string, unknown>> {
  if (implementation.moves && seam.moving())
    throw new OperationFailure(
      "busy",
      `${name} moves the arm and the gripper: await the motion that is going on first`,
    );
  let open = true;
  let left_behind = 0;
  let operations = 0;
  let motions = 0;
  let queue: Promise<unknown> = Promise.resolve();

  async function one(operation: string, asked: unknown): Promise<Record<string, unknown>> {
    if (!open) throw new OperationFailure("internal_error", `${name} has ended; it can use ${operation} no more`);
    seam.refuseIfEnded();
    const moves = MOVING.has(operation);
    if (moves && !implementation.moves)
      throw new OperationFailure(
        "unsupported",
        `${operation} moves the robot; ${name} is not declared to move: it may only look and measure`,
      );
    operations += 1;
    motions += moves ? 1 : 0;
    if (operations > MOST_OPERATIONS || motions > MOST_MOTIONS)
      throw new OperationFailure(
        "budget_exhausted",
        `one call of ${name} may use ${MOST_OPERATIONS} operations and ${MOST_MOTIONS} motions`,
      );
    const outcome = await seam.operation(operation, asked);
    // What a stop has ended ends the function too.
    seam.refuseIfEnded();
    return "value" in outcome
      ? (outcome.value as Record<string, unknown>)
      : { status: outcome.error.code, message: outcome.error.message };
  }

  const context: SkillContext = {
    invoke: ((operation: string, asked: unknown) => {
      left_behind += 1;
      const next = queue.then(() => one(operation, asked));
      queue = next.then(
        () => {
          left_behind -= 1;
        },
        () => {
          left_behind -= 1;
        },
      );
      return next;
    }) as SkillContext["invoke"],
    image: (observation_ref) => seam.image(observation_ref),
    saveImage: (file, pixels, width, height) => seam.saveImage(file, pixels, width, height),
    time_s: () => seam.time_s(),
    services: NO_SERVICES,
    signal: seam.signal(),
    fail: (status, message, fields) => {
      throw new OperationFailure(status, message, fields);
    },
  };
  try {
    const result = await implementation.run(context, request);
    if (left_behind > 0)
      throw new OperationFailure("internal_error", `${name} ended before an operation that it had begun: await each`);
    return result;
  } finally {
    open = false;
    await queue;
  }
}
