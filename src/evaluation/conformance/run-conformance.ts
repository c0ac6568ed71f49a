import { z } from "zod";
import { isSkill2RealError, Skill2RealError } from "../../contract/errors.js";
import type { Capabilities } from "../../contract/generated/device.js";
import type { Privileged } from "../privileged.js";
import { PrivilegedClient } from "../privileged-client.js";
import { ALL_CHECKS } from "./all-checks.js";
import { type Check, CheckSkipped, type Requirement } from "./check.js";
import { ConformanceContext, type ConformanceTarget } from "./context.js";
import { RawPeer, RawSession } from "./peer.js";

export type CheckResult = {
  group: string;
  name: string;
  /** Why a backend must be so. */
  reason: string;
  outcome: "passed" | "failed" | "skipped";
  /** What went wrong, or why it was skipped. */
  message: string;
  duration_ms: number;
};

export type ConformanceOptions = {
  target: ConformanceTarget;
  /** Runs only checks whose "group: name" contains one of these words. */
  filter?: readonly string[];
  /** What a simulator is reset to. Default task "r1", seed 1. */
  task?: { name: string; seed: number };
  onResult?: (result: CheckResult) => void;
};

const CHECK_TIMEOUT_MS = 120_000;

const optionsSchema = z.strictObject({
  target: z.custom<ConformanceTarget>((value) => typeof value === "object" && value !== null),
  filter: z.array(z.string()).optional(),
  task: z.strictObject({ name: z.string().min(1), seed: z.number().int().min(0) }).default({ name: "r1", seed: 1 }),
  onResult: z.custom<(result: CheckResult) => void>((value) => typeof value === "function").optional(),
});

const LACKS: Record<Requirement, (target: ConformanceTarget, capabilities: Capabilities) => string | undefined> = {
  sim_clock: (_, { clock }) => (clock === "SIM" ? undefined : "its clock is not simulated"),
  wall_clock: (_, { clock }) => (clock === "WALL" ? undefined : "its clock is simulated"),
  privileged: ({ privileged }) => (privileged ? undefined : "no privileged socket is at hand"),
  motion: ({ allowMotion }, { arms, features }) => {
    if (!allowMotion) return "its arm may not be moved (allow it to run this check)";
    return arms.length > 0 && features.includes("joint_trajectory") ? undefined : "it plays no joint trajectories";
  },
  gripper: (_, { grippers }) => (grippers.length > 0 ? undefined : "it has no gripper"),
  cameras: (_, { cameras }) => (cameras.length > 0 ? undefined : "it has no camera"),
  stereo: (_, { views }) => (views.some((view) => view.right !== "") ? undefined : "it has no stereo view"),
  fresh_process: ({ spawnAnother }) => (spawnAnother ? undefined : "the suite did not start it"),
};

/**
 * Runs the suite on a backend and tells each result as it comes. Nobody else may hold the backend's lease. A simulator
 * whose token is given is reset first, and put back to that moment before the checks that move something.
 */
export async function runConformance(options: ConformanceOptions): Promise<CheckResult[]> {
  const parsed = optionsSchema.safeParse(options);
  if (!parsed.success)
    throw new Skill2RealError("bad_argument", `cannot run the conformance suite: ${z.prettifyError(parsed.error)}`);
  const { target, filter, task, onResult } = parsed.data;
  const evaluator = target.privileged ? await PrivilegedClient.connect(target.privileged) : undefined;
  try {
    // A simulator's cameras may stand a little differently in each episode, so the world comes before its capabilities.
    const snapshot = evaluator ? await freshSnapshot(evaluator, task) : undefined;
    const capabilities = await readCapabilities(target);
    const results: CheckResult[] = [];
    for (const { group, checks } of ALL_CHECKS)
      for (const check of checks) {
        if (filter?.length && !filter.some((word) => `${group}: ${check.name}`.includes(word))) continue;
        const begun_ms = performance.now();
        const context = () => new ConformanceContext({ target, capabilities, evaluator, snapshot, task });
        const verdict = await judge(check, target, capabilities, context);
        const duration_ms = performance.now() - begun_ms;
        const result = { group, name: check.name, reason: check.reason, ...verdict, duration_ms };
        results.push(result);
        onResult?.(result);
      }
    return results;
  } finally {
    evaluator?.close();
  }
}

async function judge(
  check: Check,
  target: ConformanceTarget,
  capabilities: Capabilities,
  makeContext: () => ConformanceContext,
): Promise<Pick<CheckResult, "outcome" | "message">> {
  for (const requirement of check.needs ?? []) {
    const message = LACKS[requirement](target, capabilities);
    if (message !== undefined) return { outcome: "skipped", message };
  }
  const ctx = makeContext();
  let timer: NodeJS.Timeout | undefined;
  try {
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`not finished in ${CHECK_TIMEOUT_MS / 1000} s`)), CHECK_TIMEOUT_MS);
    });
    await Promise.race([check.run(ctx), timeout]);
    return { outcome: "passed", message: "" };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { outcome: error instanceof CheckSkipped ? "skipped" : "failed", message };
  } finally {
    clearTimeout(timer);
    await ctx.cleanUp();
  }
}

async function readCapabilities(target: ConformanceTarget): Promise<Capabilities> {
  const session = new RawSession(new RawPeer(target.addresses.device, target.curve));
  try {
    const { capabilities } = await session.hello("OBSERVER", 0);
    if (!capabilities) throw new Skill2RealError("protocol_mismatch", "the Hello reply has no capabilities");
    await session.bye();
    return capabilities;
  } catch (error) {
    if (isSkill2RealError(error)) throw error;
    const { device } = target.addresses;
    throw new Skill2RealError("backend_unreachable", `no backend says Hello at ${device}: is it running?`, {
      cause: error,
    });
  } finally {
    session.peer.close();
  }
}

async function freshSnapshot(evaluator: Privileged, task: { name: string; seed: number }): Promise<string> {
  await evaluator.reset({ task: task.name, seed: task.seed });
  return (await evaluator.snapshot()).id;
}
