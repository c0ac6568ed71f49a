import { isSkill2RealError, Skill2RealError } from "../contract/errors.js";

/** How much time something may still take, and how its end is told to a person. */
export type TimeLimit = { left_s: number; words: string };

/** The longest that Node's timers wait [s]. */
const LONGEST_S = 2_147_483;

/** Does `work` under a signal that aborts with `signal`, or at the nearest of `limits` with a `budget_ended` of its words as reason. */
export async function withinLimits<T>(
  limits: readonly TimeLimit[],
  signal: AbortSignal | null,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const timers = limits.map(({ left_s, words }) =>
    setTimeout(
      () => limit.abort(new Skill2RealError("budget_ended", words)),
      Math.min(Math.max(left_s, 0), LONGEST_S) * 1e3,
    ),
  );
  try {
    return await work(signal ? AbortSignal.any([signal, limit.signal]) : limit.signal);
  } finally {
    for (const timer of timers) clearTimeout(timer);
  }
}

/** What an aborted signal means for what waited under it: `budget_ended` where a limit was reached, else `stopped` with `words`. */
export function abortedBy(
  { reason }: AbortSignal,
  words: string,
  { cause, troubles = [] }: { cause?: unknown; troubles?: readonly string[] } = {},
): Skill2RealError {
  const known = { ...(cause === undefined ? {} : { cause }), details: { troubles: [...troubles] } };
  return isSkill2RealError(reason, "budget_ended")
    ? new Skill2RealError("budget_ended", reason.message, known)
    : new Skill2RealError("stopped", words, known);
}
