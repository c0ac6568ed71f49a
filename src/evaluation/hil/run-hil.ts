import { cpus, loadavg, release } from "node:os";
import { z } from "zod";
import type { NamedRig, Rig } from "../../config/index.js";
import { Skill2RealError } from "../../contract/errors.js";
import { ALL_HIL_CHECKS } from "./all-checks.js";
import { HilBench } from "./bench.js";
import { CheckSkipped, type HilCheck, type HilGroup, type HilNeed } from "./check.js";
import { type ChosenCheck, chooseChecks } from "./choose-checks.js";
import { HilContext } from "./context.js";
import type { HilMcap } from "./mcap-report.js";
import { checkId, type HilOutcome, type HilReport, type HilResult, resultsToKeep } from "./report.js";

/** What a person at the bench says before a check that moves something. */
export type StepAnswer = "run" | "skip" | "stop";

export type HilOptions = {
  named: NamedRig;
  /** Fraction of the rig's speeds; a person has agreed to it where the rig is real. */
  speed: number;
  /** Hidden errors of an emulated rig. Default 1. */
  seed?: number;
  /** Only checks whose "group: name" one of these matches. */
  only?: readonly string[];
  /** Timings beyond their limits fail. Default false: such a check is "slow". */
  strictTiming?: boolean;
  /** Goes on from this report: what did not fail there counts, the rest is run. */
  resume?: HilReport;
  /** Asked before each check that moves something. */
  step?: (check: ChosenCheck) => Promise<StepAnswer>;
  record?: HilMcap;
  /** Aborted: the arm is stopped, the report says what was left. */
  signal?: AbortSignal;
  onResult?: (result: HilResult) => void;
  onLog?: (line: string) => void;
  /** Other checks (for tests). */
  checks?: readonly HilGroup[];
};

const CHECK_TIMEOUT_MS = 180_000;
/** Faults of an emulated rig on a machine that does not give its processes their turn. */
const STARVED = /the fault (controller_frozen|cycle_starved)/;
const word = z.string().min(1).max(200);
const plainSchema = z.object({
  speed: z.number().min(0.01).max(1),
  seed: z.int().min(0).max(Number.MAX_SAFE_INTEGER).default(1),
  only: z.array(word).default([]),
  strictTiming: z.boolean().default(false),
});

const LACKS: Record<HilNeed, (rig: Rig, emulated: boolean) => string | undefined> = {
  emulated: (_, emulated) => (emulated ? undefined : "only an emulated rig can be broken and looked into"),
  gripper: ({ gripper }) => (gripper ? undefined : "the rig has no gripper"),
  cameras: ({ cameras }) => (Object.keys(cameras).length > 0 ? undefined : "the rig has no camera"),
  tool_camera: ({ cameras }) =>
    Object.values(cameras).some(({ mount }) => mount === "tcp") ? undefined : "no camera rides on the tool",
  bench_camera: ({ cameras }) =>
    Object.values(cameras).some(({ mount }) => mount === "world") ? undefined : "no camera stands on the bench",
  topdown: ({ views }) => (views.topdown ? undefined : "the rig has no top-down view"),
};

/**
 * Runs the suite on a rig and tells each result as it comes. An emulated rig is started here. Checks that move something
 * begin where the arm stood at the start, and move little about it. Rejects only for what is wrong with the options or where
 * the emulated rig cannot be started; whatever a check finds is in the report.
 */
export async function runHil(options: HilOptions): Promise<HilReport> {
  const { named, step, record, signal, onResult, checks: groups = ALL_HIL_CHECKS } = options;
  const parsed = plainSchema.safeParse(options);
  if (!parsed.success)
    throw new Skill2RealError("bad_argument", `cannot run the checks: ${z.prettifyError(parsed.error)}`);
  const { speed, seed, only, strictTiming } = parsed.data;
  const chosen = chooseChecks(groups, only);
  const kept = options.resume ? resultsToKeep(options.resume, named.name) : [];
  const done = new Set(kept.map(checkId));
  const left = chosen.filter(({ group, check }) => !done.has(checkId({ group, name: check.name })));
  const bench = new HilBench({ named, speed, seed, ...(options.onLog ? { onLog: options.onLog } : {}) });
  const started_at = new Date().toISOString();
  const results: HilResult[] = [...kept];
  const base: { q_rad: number[] | null } = { q_rad: null };
  let stopped = "";
  const halt = (): void => {
    stopped ||= "interrupted";
    void stopNow(bench);
  };
  signal?.addEventListener("abort", halt, { once: true });
  if (signal?.aborted) halt();
  let next = 0;
  try {
    for (; next < left.length && !stopped; next += 1) {
      const one = left[next]!;
      const answer = one.check.moves && step ? await step(one) : "run";
      if (answer === "stop") {
        stopped = "the person at the bench said so";
        break;
      }
      record?.begins(checkId({ group: one.group, name: one.check.name }));
      const result =
        answer === "skip"
          ? resultOf(one, { outcome: "skipped", message: "skipped by the person at the bench" })
          : await runOne(one, { bench, strictTiming, base, record: record ?? null });
      // A check that was cut off by the stop says nothing of the rig: it is run again when the report is resumed.
      if (stopped && result.outcome === "failed") break;
      results.push(result);
      record?.result(result);
      onResult?.(result);
    }
  } finally {
    signal?.removeEventListener("abort", halt);
    await bench.close();
  }
  const order = new Map(chosen.map(({ group, check }, index) => [checkId({ group, name: check.name }), index]));
  results.sort((a, b) => (order.get(checkId(a)) ?? -1) - (order.get(checkId(b)) ?? -1));
  return {
    format: "skill2real-hil",
    version: 1,
    rig: { name: named.name, emulated: named.emulated, speed, ...(named.emulated ? { seed } : {}) },
    machine: { cpus: cpus().length, load_average: loadavg()[0] ?? 0, kernel: release() },
    started_at,
    ended_at: new Date().toISOString(),
    state: stopped ? "stopped" : "complete",
    stopped_because: stopped,
    notes: [...bench.notes],
    results,
    not_run: left.slice(next).map(({ group, check }) => checkId({ group, name: check.name })),
  };
}

type RunOne = { bench: HilBench; strictTiming: boolean; base: { q_rad: number[] | null }; record: HilMcap | null };
type Verdict = { outcome: HilOutcome; message: string };

async function runOne(one: ChosenCheck, given: RunOne): Promise<HilResult> {
  const { bench, strictTiming } = given;
  for (const need of one.check.needs ?? []) {
    const message = LACKS[need](bench.rig, bench.isEmulated);
    if (message !== undefined) return resultOf(one, { outcome: "skipped", message });
  }
  const first = await tryOne(one, given);
  if (first.result.outcome !== "failed" || !bench.isEmulated || strictTiming || !STARVED.test(first.fault))
    return first.result;
  // An emulator is a process like any other: a machine that keeps it waiting for 6 ms looks like a controller that froze.
  const { result } = await tryOne(one, given);
  if (result.outcome === "failed") return result;
  const message = [`at the second try; at the first ${first.fault}`, result.message]
    .filter((part) => part !== "")
    .join("; ");
  return { ...result, outcome: result.outcome === "skipped" ? "skipped" : "slow", message };
}

async function tryOne(one: ChosenCheck, { bench, ...rest }: RunOne): Promise<{ result: HilResult; fault: string }> {
  const { check } = one;
  const began_at_s = Date.now() / 1e3;
  const begun_ms = performance.now();
  const ctx = new HilContext({ bench, moves: check.moves === true, ...rest });
  let fault = "";
  let verdict: Verdict;
  try {
    await bench.ready();
    await within(check.run(ctx));
    verdict = { outcome: ctx.slow.length > 0 ? "slow" : "passed", message: ctx.slow.join("; ") };
  } catch (error) {
    verdict = {
      outcome: error instanceof CheckSkipped ? "skipped" : "failed",
      message: error instanceof Error ? error.message : String(error),
    };
  }
  if (verdict.outcome === "failed") {
    fault = await ctx.faultWords();
    if (fault !== "") verdict.message += `; ${fault}`;
  }
  await ctx.cleanUp();
  // What failed may have left anything behind; the next check must not pay for it.
  if (check.breaks || verdict.outcome === "failed") await mend(bench, verdict);
  const result: HilResult = {
    ...resultOf(one, verdict),
    duration_ms: performance.now() - begun_ms,
    began_at_s,
    measurements: ctx.measurements,
    ...(ctx.fault ? { fault: ctx.fault } : {}),
  };
  return { result, fault };
}

async function mend(bench: HilBench, verdict: Verdict): Promise<void> {
  try {
    await bench.mend();
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    verdict.message = [verdict.message, `and the rig was not well afterwards: ${words}`]
      .filter((part) => part !== "")
      .join("; ");
    verdict.outcome = "failed";
  }
}

function resultOf({ group, check }: { group: string; check: HilCheck }, { outcome, message }: Verdict): HilResult {
  return {
    group,
    name: check.name,
    reason: check.reason,
    outcome,
    message,
    duration_ms: 0,
    began_at_s: Date.now() / 1e3,
    measurements: [],
  };
}

async function within(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not finished in ${CHECK_TIMEOUT_MS / 1e3} s`)), CHECK_TIMEOUT_MS);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Stops the arm, whoever holds it. */
async function stopNow(bench: HilBench): Promise<void> {
  try {
    await bench.stop("the checks were interrupted");
  } catch {
    // Nobody holds the arm, or who did is gone: then nothing commands it either.
  }
}
