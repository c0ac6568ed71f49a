import type { EvaluateReply } from "../contract/generated/privileged.js";
import type { DeviceAddresses } from "../runtime/device/device.js";

export type WorldRequest = {
  task: string;
  seed: number;
  /** For tests of the wall: changes hidden names only. */
  hidden_salt?: string;
};

/**
 * What an episode is played on: a backend, and where there is one the evaluator's line behind it. The worker holds it; the agent
 * host gets its public addresses.
 */
export interface EpisodeWorld {
  /** As results name it: "sim", "native". */
  readonly backend: string;
  /** The backend's public addresses; null while none runs. */
  readonly addresses: DeviceAddresses | null;
  readonly pid: number | null;
  /** Lease of the episode's controller [ms]: how long it may be silent before the arm is stopped. */
  readonly leaseMs: number;
  /** Starts what can be kept from episode to episode. Safe to call again. */
  start(): Promise<void>;
  /** Puts the world of a task and seed, with a backend that answers; gives the task in words, or null where it has none. */
  begin(request: WorldRequest): Promise<{ instruction: string | null }>;
  /**
   * Keeps the present world in a file; gives its state's hash, and whether a stop was latched, which would be put back with it. Left
   * out where nobody can put it back.
   */
  keep?(path: string): Promise<{ state_hash: string; stop_latched: boolean }>;
  /** After `begin`: puts the world back that was kept in a file; gives its state's hash. */
  putBack?(path: string): Promise<{ state_hash: string }>;
  /** Lets the arm hold for a moment and judges; null where nobody can. */
  judge(): Promise<EvaluateReply | null>;
  /** The episode is over: what is not kept for the next one ends. */
  end(): Promise<void>;
  /** The backend's last words, for messages. */
  lastWords(): string;
  /** Ends it at once, where it does not answer any more. Never rejects. */
  kill(): Promise<void>;
  /** Never rejects. */
  close(): Promise<void>;
}

/** Seconds that pass after an episode before it is judged. */
export const SETTLE_S = 1;

/** Where nothing but the program and its backend wants the machine. */
export const LEASE_MS = 1500;
