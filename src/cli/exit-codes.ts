import type { ErrorCode } from "../contract/error-codes.js";

/** Exit codes of every command, as `skill2real --help` documents them. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  missing: 3,
  infrastructure: 4,
  storage: 5,
  interrupted: 130,
} as const;

export const EXIT_WORDS: Record<keyof typeof EXIT, string> = {
  ok: "done; the task succeeded where there was one to judge",
  failed: "the task failed, a check found something, or a program was refused",
  usage: "the command line or the configuration is wrong",
  missing: "something that the set-up installs, or a named file or run, is missing",
  infrastructure: "the backend was lost, could not be reached, or a process of ours died",
  storage: "a run folder, trace or index could not be written",
  interrupted: "interrupted by a person; the arm was stopped first",
};

const BY_ERROR: Partial<Record<ErrorCode, keyof typeof EXIT>> = {
  usage: "usage",
  bad_config: "usage",
  bad_argument: "usage",
  setup_incomplete: "missing",
  addon_missing: "missing",
  not_found: "missing",
  backend_unreachable: "infrastructure",
  backend_lost: "infrastructure",
  backend_refused: "infrastructure",
  protocol_mismatch: "infrastructure",
  deadline_exceeded: "infrastructure",
  guest_failed: "infrastructure",
  internal: "infrastructure",
  storage_failed: "storage",
  stopped: "interrupted",
};

export const exitCodeOf = (code: ErrorCode): number => EXIT[BY_ERROR[code] ?? "failed"];
