export { type CallbackHostOptions, callbackHost } from "./callback-host.js";
export type { CallFailure, GuestCall, GuestHost, GuestReplies, GuestSleep, GuestTurn, Settlement } from "./guest-host.js";
export type { Isolation } from "./isolation.js";
export { KILL_CODES, type KillCode } from "./kill-codes.js";
export { DEFAULT_QUOTAS, PRINT_LINE_OVERHEAD, type Quotas } from "./quotas.js";
export type { JsonValue, PrintedLine, ProgramError, RunResult, RunUsage } from "./run-result.js";
export { type RunOptions, Sandbox, type SandboxOptions } from "./sandbox.js";
