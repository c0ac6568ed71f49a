export { type CallbackHostOptions, callbackHost } from "./callback-host.js";
export {
  CHECK_CODES,
  type CheckCode,
  type CheckResult,
  formatDiagnostics,
  type ProgramDiagnostic,
} from "./diagnostic.js";
export type {
  CallFailure,
  GuestCall,
  GuestHost,
  GuestReplies,
  GuestSleep,
  GuestTurn,
  Settlement,
} from "./guest-host.js";
export type { Isolation } from "./isolation.js";
export { KILL_CODES, type KillCode, REPEATING_KILL_CODES } from "./kill-codes.js";
export { MAX_LINE_CHARS, PRINT_LINE_OVERHEAD } from "./print-limits.js";
export { ProgramChecker, type ProgramCheckerOptions } from "./program-checker.js";
export { DEFAULT_QUOTAS, type Quotas } from "./quotas.js";
export type { JsonValue, PrintedLine, ProgramError, RunResult, RunUsage } from "./run-result.js";
export { type RunOptions, Sandbox, type SandboxOptions } from "./sandbox.js";
