// Generated from src/contract/privileged.proto by scripts/generate-wire-types.mjs. Edit the .proto, then run "npm run generate".

export interface PrivilegedRequest {
  /** 1 */
  protocol_major: number;
  request_id: string;
  token: Uint8Array;
  /** 1 to 3600000, counted from receipt */
  deadline_ms: number;
  reset?: Reset;
  evaluate?: Evaluate;
  get_true_state?: GetTrueState;
  snapshot?: Snapshot;
  restore?: Restore;
  set_evidence_log?: SetEvidenceLog;
  mark_evidence?: MarkEvidence;
  get_resume_token?: GetResumeToken;
  get_state_hash?: GetStateHash;
  settle?: Settle;
  /** Names the one of reset, evaluate, get_true_state, snapshot, restore, set_evidence_log, mark_evidence, get_resume_token, get_state_hash, settle that is set. */
  body?: "reset" | "evaluate" | "get_true_state" | "snapshot" | "restore" | "set_evidence_log" | "mark_evidence" | "get_resume_token" | "get_state_hash" | "settle";
}

export interface PrivilegedReply {
  protocol_major: number;
  request_id: string;
  error: PrivilegedError | null;
  raw_parts: number;
  reset?: ResetReply;
  evaluate?: EvaluateReply;
  true_state?: TrueStateReply;
  snapshot?: SnapshotReply;
  restore?: RestoreReply;
  set_evidence_log?: SetEvidenceLogReply;
  mark_evidence?: MarkEvidenceReply;
  resume_token?: ResumeTokenReply;
  state_hash?: StateHashReply;
  settle?: SettleReply;
  /** Names the one of reset, evaluate, true_state, snapshot, restore, set_evidence_log, mark_evidence, resume_token, state_hash, settle that is set. */
  body?: "reset" | "evaluate" | "true_state" | "snapshot" | "restore" | "set_evidence_log" | "mark_evidence" | "resume_token" | "state_hash" | "settle";
}

export interface PrivilegedError {
  code: PrivilegedErrorCode;
  message: string;
}

export type PrivilegedErrorCode =
  | "PRIVILEGED_ERROR_UNSPECIFIED"
  | "PRIVILEGED_MALFORMED"
  | "PRIVILEGED_TOO_LARGE"
  | "PRIVILEGED_PROTOCOL_VERSION"
  | "PRIVILEGED_TOKEN"
  | "PRIVILEGED_DUPLICATE_ID"
  | "PRIVILEGED_BAD_ARGUMENT"
  | "PRIVILEGED_NOT_READY"
  | "PRIVILEGED_INTERNAL"
  /** not begun before the deadline; not done */
  | "PRIVILEGED_DEADLINE"
  /** the id is known, its reply is no longer kept */
  | "PRIVILEGED_EXPIRED_ID";

/**
 * Builds the world of (task, seed). Ends every motion, clears stops and faults, starts device time at 0 and a new
 * world epoch; sessions stay, their motions do not. The stop epoch and the group numbers go on; a stop that comes while
 * the world is being built stays latched in the new one.
 */
export interface Reset {
  /** "r1" */
  task: string;
  /** up to 2^53 - 1 */
  seed: number;
  /**
   * Changes hidden things only, for tests of the wall: body names, ids and the seed's label take this salt, and the
   * success predicates another order and naming. What sensors see does not change.
   */
  hidden_salt: string;
  /** empty, or a named variant of the task for tests ("empty_table", …) */
  variant: string;
}

export interface ResetReply {
  /** the public words of the task */
  instruction: string;
  world_epoch: number;
  state_hash: string;
  /** layouts drawn again for overlap or reach */
  rejected_draws: number;
  rejected_reasons: Record<string, string>;
  /** what was drawn (for reports) */
  details_json: string;
}

export type Evaluate = Record<never, never>;

export interface Predicate {
  name: string;
  holds: boolean;
  measure: number;
  unit: string;
  limit: number;
}

export interface EvaluateReply {
  success: boolean;
  predicates: Predicate[];
  /** empty on success: "not_grasped", "dropped", "wrong_object", "wrong_place", "not_released", "not_at_rest", … */
  failure_kind: string;
}

export type GetTrueState = Record<never, never>;

export interface TrueBody {
  name: string;
  /** "box", "cylinder", "can", "ball", "tray", "bowl", "mat" */
  kind: string;
  colour: string;
  X_world_body: number[];
  /** full extents in the body's axes */
  size_m: number[];
  mass_kg: number;
  /** "target", "goal", "other" */
  role: string;
}

export interface TrueStateReply {
  time_s: number;
  bodies: TrueBody[];
  q_rad: number[];
  opening_m: number;
  /** "a|b" names of touching bodies */
  contacts: string[];
}

/**
 * A path keeps the snapshot on disk too, so that another process can go on from it: written whole and flushed (mode 0600)
 * before the reply, or PRIVILEGED_INTERNAL with the reason. An existing file is replaced.
 */
export interface Snapshot {
  /** absolute; empty: in the process alone */
  path: string;
}

export interface SnapshotReply {
  /** kept in the process; a 65th makes it forget the oldest */
  id: string;
  state_hash: string;
  /** a stop was latched when it was taken, and is again after a restore */
  stop_latched: boolean;
}

/** Of the two one. A file is taken only by a world that was reset to the same task, seed, salt and variant, and only whole. */
export interface Restore {
  id: string;
  /** absolute; stop epoch and group numbers go on from the file's where those are higher */
  path: string;
}

export interface RestoreReply {
  /** a restore starts a new one; the stop latch is as at the snapshot, its epoch goes on */
  world_epoch: number;
  state_hash: string;
}

/**
 * Starts (or ends, with an empty path) the log of true state and contacts: JSON lines, file mode 0600, one record at the
 * start, every 50 ms during, and at the end of each executed group, and one per MarkEvidence. A log that could not be
 * written to its end (disk full) is PRIVILEGED_INTERNAL at the next MarkEvidence or SetEvidenceLog. Each record holds
 * moment ("start", "during", "end", "mark"), time_s, groups or label, bodies, contacts, arms and grippers.
 */
export interface SetEvidenceLog {
  /** absolute; an existing file is appended to */
  path: string;
}

export type SetEvidenceLogReply = Record<never, never>;

export interface MarkEvidence {
  label: string;
}

export type MarkEvidenceReply = Record<never, never>;

export type GetResumeToken = Record<never, never>;

export interface ResumeTokenReply {
  /** single use, for the current stop epoch */
  token: string;
}

export type GetStateHash = Record<never, never>;

export interface StateHashReply {
  /** SHA-256 over integrator state, controllers, random generators and model fixtures */
  state_hash: string;
  time_s: number;
}

/**
 * Lets simulated time pass with the arm holding, whoever controls it (judging waits one second). Where motions are active
 * it latches a stop first.
 */
export interface Settle {
  /** up to 60 */
  duration_s: number;
}

export interface SettleReply {
  time_s: number;
}
