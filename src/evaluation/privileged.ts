/**
 * What the evaluator asks of a simulator, beyond the reach of the runtime, the sandbox and the Proposer.
 *
 * @module
 */
import type {
  EvaluateReply,
  ResetReply,
  RestoreReply,
  SettleReply,
  SnapshotReply,
  StateHashReply,
  TrueStateReply,
} from "../contract/generated/privileged.js";

export type PrivilegedConnectOptions = {
  address: string;
  /** The 32 bytes that the simulator got at its start. */
  token: Uint8Array;
  connectTimeoutMs?: number;
};

export type ResetOptions = {
  task: string;
  /** 0 to 2^53 - 1. */
  seed: number;
  hidden_salt?: string;
  variant?: string;
  deadlineMs?: number;
};

/** Calls reject with `backend_refused` (`details.privileged_code`), `backend_lost`, `deadline_exceeded` or `session_closed`. */
export interface Privileged {
  reset(options: ResetOptions): Promise<ResetReply>;
  evaluate(): Promise<EvaluateReply>;
  trueState(): Promise<TrueStateReply>;
  /** With a path (absolute), it is on disk too when this resolves, whole, for another process to go on from. */
  snapshot(path?: string): Promise<SnapshotReply>;
  /** A file is taken only by a world that was reset to what the snapshot is of. */
  restore(from: { id: string } | { path: string }): Promise<RestoreReply>;
  /** Starts the evidence log at an absolute path; null ends it. */
  setEvidenceLog(path: string | null): Promise<void>;
  markEvidence(label: string): Promise<void>;
  /** A single-use token with which the controller may clear the current fault. */
  resumeToken(): Promise<string>;
  stateHash(): Promise<StateHashReply>;
  /** Lets simulated time pass with the arm holding. */
  settle(duration_s: number): Promise<SettleReply>;
  close(): void;
}
