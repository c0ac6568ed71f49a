/** Why the sandbox ended a program that neither returned nor threw, each with what it means. */
export const KILL_CODES = {
  stopped: "A stop was asked for while the program ran.",
  cpu_quota: "The program computed longer than one turn may without awaiting anything.",
  time_quota: "The program lasted longer than its quota of device time or of wall time.",
  memory_quota: "The program's memory grew to its limit.",
  call_quota: "The program made more calls, or had more in flight, than it may.",
  output_quota: "The program printed more than it may.",
  unawaited_calls: "The program returned while calls were in flight; they are stopped.",
  result_too_large: "The returned value is longer than the limit as JSON.",
  result_invalid: "The returned value is not plain JSON data (a function, a cycle, NaN, …).",
  deadlock: "The program awaits something that no pending call or sleep can settle.",
  guest_failed: "The sandbox process died by itself or broke its protocol.",
} as const;

export type KillCode = keyof typeof KILL_CODES;

/** What a program meets again at the same place when it runs again: nothing that a clock, the machine or a person decided. */
export const REPEATING_KILL_CODES: readonly string[] = [
  "call_quota",
  "output_quota",
  "unawaited_calls",
  "result_too_large",
  "result_invalid",
  "deadlock",
] satisfies KillCode[];
