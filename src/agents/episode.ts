import { isSkill2RealError } from "../contract/errors.js";
import { REPEATING_KILL_CODES } from "../program/index.js";
import type { EpisodeAccounts } from "./llm/model-account.js";
import type { Claim, Proposer, StageRecord } from "./proposer.js";
import { StagePlayer, type StagePlayerOptions } from "./stage-player.js";
import { Stopwatch } from "./stopwatch.js";
import { type TimeLimit, withinLimits } from "./time-limits.js";

export type EpisodeBudgets = { max_stages: number; max_device_time_s: number; max_wall_s: number };
export const DEFAULT_BUDGETS: EpisodeBudgets = { max_stages: 12, max_device_time_s: 300, max_wall_s: 600 };

export type EpisodeOptions = StagePlayerOptions & {
  proposer: Proposer;
  instruction: string;
  budgets?: Partial<EpisodeBudgets>;
  onStage?: (stage: StageRecord) => void;
  /** What models took so far; left out: there are none. */
  accounts?: EpisodeAccounts;
  /** Wall time; left out: it begins now. */
  stopwatch?: Stopwatch;
  /**
   * A stage has ended, and the next decision waits until this resolves. `whole`: it and all before it would end the same way if
   * they were played again, and no stop is latched after it.
   */
  onStageEnd?: (stage: number, whole: boolean) => Promise<void>;
  /** The budget that a program met, in words, or null. */
  spent?: () => string | null;
};

export type EpisodeOutcome = "finished" | "budget" | "stopped" | "lost" | "fault";
export type EpisodeReport = {
  outcome: EpisodeOutcome;
  /** What the Proposer claimed; null where it did not get to. */
  claim: Claim | null;
  evidence: string;
  stages: StageRecord[];
  device_time_s: number;
  wall_s: number;
} & EpisodeAccounts;

/** The wall time that an episode has left. */
export const wallLimit = (max_wall_s: number, stopwatch: Stopwatch): TimeLimit => ({
  left_s: max_wall_s - stopwatch.elapsed_s,
  words: `${max_wall_s} s of wall time are used up`,
});

/** Plays decision stages until the Proposer finishes, a budget ends, or the backend or a person ends it. The arm then holds. */
export async function playEpisode(options: EpisodeOptions): Promise<EpisodeReport> {
  const { session, proposer, instruction } = options;
  const budgets = { ...DEFAULT_BUDGETS, ...options.budgets };
  const stopwatch = options.stopwatch ?? new Stopwatch();
  const start_s = session.time_s;
  const player = new StagePlayer(options);
  const stages: StageRecord[] = [];
  const add = (stage: StageRecord): void => {
    stages.push(stage);
    options.onStage?.(stage);
  };
  const wall = (): number => stopwatch.elapsed_s;
  const limit = (): TimeLimit => wallLimit(budgets.max_wall_s, stopwatch);
  const report = (outcome: EpisodeOutcome, claim: Claim | null, evidence: string): EpisodeReport => ({
    outcome,
    claim,
    evidence,
    stages,
    device_time_s: session.time_s - start_s,
    wall_s: wall(),
    model: options.accounts?.model ?? null,
    services: options.accounts?.services ?? null,
  });
  let repeats = true;
  const ended = async ({ stage, end }: StageRecord): Promise<void> => {
    repeats &&= end.kind !== "killed" || REPEATING_KILL_CODES.includes(end.code);
    const unstopped = session.stopReason === null && !session.device.lost && !options.signal?.aborted;
    await options.onStageEnd?.(stage, repeats && unstopped);
  };
  const onAbort = (): void => void session.stop("the episode was stopped").catch(() => {});
  options.signal?.addEventListener("abort", onAbort, { once: true });
  try {
    const look = await player.look();
    add(look);
    await ended(look);
    for (;;) {
      if (session.device.lost) return report("lost", null, "the backend stopped answering");
      if (options.signal?.aborted || session.stopReason !== null)
        return report("stopped", null, session.stopReason ?? "stopped by a person");
      if (stages.length > budgets.max_stages) return report("budget", null, `${budgets.max_stages} stages are used up`);
      if (session.time_s - start_s > budgets.max_device_time_s)
        return report("budget", null, `${budgets.max_device_time_s} s of device time are used up`);
      if (limit().left_s <= 0) return report("budget", null, limit().words);
      const decision = await withinLimits([limit()], null, (signal) => proposer.next({ instruction, stages, signal }));
      if ("budget" in decision) return report("budget", null, decision.budget);
      if ("finish" in decision) return report("finished", decision.finish, decision.evidence);
      if (limit().left_s <= 0) return report("budget", null, limit().words);
      const left = {
        deviceTime_s: Math.max(0.1, budgets.max_device_time_s - (session.time_s - start_s)),
        wallTime_s: Math.max(0.1, budgets.max_wall_s - wall()),
      };
      const stage = await player.play(stages.length, decision.program, decision.fileName, left);
      add(stage);
      const fault = await player.faulted();
      if (fault !== null) return report("fault", null, `the arm has stopped itself (${fault}); a person must look`);
      const spent = options.spent?.() ?? null;
      if (spent !== null) return report("budget", null, spent);
      await ended(stage);
    }
  } catch (error) {
    if (isSkill2RealError(error, "budget_ended")) return report("budget", null, error.message);
    if (isSkill2RealError(error, "backend_lost") || session.device.lost)
      return report("lost", null, error instanceof Error ? error.message : String(error));
    throw error;
  } finally {
    options.signal?.removeEventListener("abort", onAbort);
  }
}
