import type { JsonValue, RobotApiRequests, RobotApiResults } from "../../src/contract/generated/robot-api.js";
import { OperationFailure, type SkillContext } from "../../src/runtime/operation.js";
import type { Link } from "./skill.gen.js";

type Name = Parameters<SkillContext["invoke"]>[0];
type Ok<N extends Name> = Extract<RobotApiResults[N], { status: "ok" }>;

/** Operations one after the other, each with its evidence kept; the first that is not ok ends the function. */
export class Chain {
  readonly links: Link[] = [];
  readonly #context: SkillContext;
  readonly #arm: { arm?: string };
  /** What a failed result holds beside the links. */
  evidence: Record<string, unknown> = {};

  constructor(context: SkillContext, arm: string | undefined) {
    this.#context = context;
    this.#arm = arm === undefined ? {} : { arm };
  }

  /** One link that may fail: its result, whatever it is. */
  async attempt<N extends Name>(
    purpose: string,
    operation: N,
    request: RobotApiRequests[N],
  ): Promise<RobotApiResults[N]> {
    let result: RobotApiResults[N];
    try {
      result = await this.#context.invoke(operation, request);
    } catch (error) {
      // A stop: what was done before it is evidence too.
      if (error instanceof OperationFailure) return this.fail(error.status, `${purpose}: ${error.message}`);
      throw error;
    }
    const { status, message, ...rest } = result as { status: string; message: string; [key: string]: JsonValue };
    this.links.push({ operation, purpose, status, message, result: rest });
    return result;
  }

  /** One link that must be ok; the arm goes with it where one was named. */
  async link<N extends Name>(purpose: string, operation: N, request: RobotApiRequests[N]): Promise<Ok<N>> {
    const takesArm = operation !== "measure_visible_geometry";
    const asked = takesArm ? { ...request, ...this.#arm } : request;
    const result = (await this.attempt(purpose, operation, asked)) as { status: string; message: string };
    if (result.status === "ok") return result as Ok<N>;
    return this.fail(result.status as OperationFailure["status"], `${purpose} (${operation}): ${result.message}`);
  }

  get arm(): { arm?: string } {
    return this.#arm;
  }

  fail(status: OperationFailure["status"], message: string): never {
    return this.#context.fail(status, message, { links: this.links, ...this.evidence });
  }
}
