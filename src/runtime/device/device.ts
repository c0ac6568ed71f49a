/**
 * What the runtime knows of a backend: the device protocol of src/contract/device.proto as typed calls. Units and
 * frames are the protocol's: metres, radians, seconds of device time, newtons; X_a_b row-major.
 *
 * @module
 */
import type {
  AdvanceReply,
  Capabilities,
  DeviceEvent,
  DeviceReply,
  DeviceRequest,
  ExecuteReply,
  Frame,
  Motion,
  RenewReply,
  Role,
  StateReply,
} from "../../contract/generated/device.js";
import type { Init } from "../../contract/wire/init.js";

/** Where a backend listens: ipc:// on one machine, tcp:// between machines. */
export type DeviceAddresses = { device: string; stop: string; events: string };

/** CURVE keys of the client's side, Z85 text of 40 characters each; needed for tcp:// beyond loopback. */
export type CurveKeys = { serverPublicKey: string; publicKey: string; secretKey: string };

export type DeviceConnectOptions = DeviceAddresses & {
  role: Exclude<Role, "ROLE_UNSPECIFIED">;
  /** Name and version of the caller, for the backend's log. */
  client: string;
  /** Controller only: 100 to 60000. Default 1500. */
  leaseMs?: number;
  curve?: CurveKeys;
  /** Silence after which a backend counts as lost, ms. Default 800, so that one which hangs is noticed within a second. */
  lostAfterMs?: number;
  /** Host time that connecting may take. Default 5000. */
  connectTimeoutMs?: number;
  /** What an interrupted session was answered: this one is answered the same first, and by the backend from there on. */
  past?: Past;
  /** Sees every request and its reply as bytes, in the order of their sequence (for the trace). Must not throw. */
  onExchange?: (exchange: DeviceExchange) => void;
};

/** A recorded reply with its raw parts. */
export type PastAnswer = { reply: DeviceReply; parts: Buffer[] };

/** The answers that an interrupted session got, up to a moment in which the backend's world stands again. Simulated clock only. */
export interface Past {
  readonly hello: PastAnswer;
  /** Everything was asked again. */
  readonly over: boolean;
  /** Device time of the newest answer. */
  readonly time_s: number;
  /** Throws `diverged` for a request that is not the one that was asked then. */
  answer(request: DeviceRequest): Promise<PastAnswer>;
  /** What a stop was answered; null where there was none any more. */
  stop(): { stop_epoch: number; time_s: number } | null;
  close(): Promise<void>;
}

/** One request and its reply, as they went over the wire. */
export type DeviceExchange = {
  sequence: number;
  /** Field name of the request's body: "hello", "get_state", "execute", … */
  verb: string;
  request: Uint8Array;
  /** The encoded Reply. */
  reply: Uint8Array;
  /** Raw parts after the reply (pixels). */
  parts: readonly Uint8Array[];
  /** Host clock (performance.now()) at sending and at receipt, ms. */
  sent_ms: number;
  received_ms: number;
};

/** First letter of the ids of requests that were sent because time had passed; nothing hangs on how many there are. */
export const POLL_ID = "p";

/** Every reply carries the device time at which it was made and the stop epoch then. */
export type Stamped<T> = T & { time_s: number; stop_epoch: number };

/** A frame with its pixels: RGB8 rows without padding, or float32 metres (NaN unknown), per `format`. */
export type DeviceFrame = Frame &
  ({ format: "rgb8"; pixels: Uint8Array } | { format: "depth_f32"; pixels: Float32Array });

export type CallOptions = {
  /** How long the caller waits, ms. Each verb has its own default. */
  deadlineMs?: number;
};

export type ExecuteOptions = CallOptions & {
  /** The epoch in which the plan was made: `stop_epoch` of an earlier reply. */
  stop_epoch: number;
  motions: readonly Init<Motion>[];
};

export type AdvanceOptions = CallOptions & {
  /** Device time to run to, at most 60 s ahead. */
  until_s: number;
  /** True: only faults and stops end it early. Default false: the first motion end does too. */
  through_motion_ends?: boolean;
};

/**
 * A session with a backend. Every call rejects with a `Skill2RealError`: `backend_refused` (nothing was done;
 * `details.device_code` is the protocol's ErrorCode), `backend_lost` (it stopped answering; final),
 * `session_closed` (after `close`), `protocol_mismatch`.
 */
export interface Device {
  readonly session: string;
  readonly role: Role;
  readonly capabilities: Capabilities;
  /** Lease as granted, ms; 0 for other roles than the controller. */
  readonly leaseMs: number;
  /** The newest stop epoch and device time that any reply or event told. */
  readonly stopEpoch: number;
  readonly time_s: number;
  /** True once the backend was lost; every later call rejects with `backend_lost`. */
  readonly lost: boolean;

  /** `poll`: asked because time has passed, not because a call needs it; a replay gives such ones more or less often. */
  getState(options?: CallOptions & { poll?: boolean }): Promise<Stamped<StateReply>>;
  /** Frames in the order of `cameras`, all of one exposure that is not before `not_before_s` (default 0). */
  getFrames(cameras: readonly string[], options?: CallOptions & { not_before_s?: number }): Promise<DeviceFrame[]>;
  execute(options: ExecuteOptions): Promise<Stamped<ExecuteReply>>;
  /**
   * Simulated clock only. Sent as a chain of short Advance requests, so that a backend that hangs is noticed in time;
   * the result is that of one: the last state, and all events oldest first.
   */
  advance(options: AdvanceOptions): Promise<Stamped<AdvanceReply>>;
  /** Latches a stop, on a socket of its own; waits for nothing else, and is tried on a lost backend too. */
  stop(reason: string): Promise<{ stop_epoch: number; time_s: number }>;
  /** Clears a latched stop; `token` is needed after a fault. */
  resume(options: { stop_epoch: number; token?: string }): Promise<Stamped<Record<never, never>>>;
  /** Done by a timer as long as the session lives; a caller has no need to. */
  renew(): Promise<Stamped<RenewReply>>;
  /** Events as the backend publishes them; returns the function that ends the subscription. */
  onEvent(listener: (event: DeviceEvent) => void): () => void;
  /** The same as an endless iterator; it ends when the session does. */
  events(): AsyncIterableIterator<DeviceEvent>;
  /** Called once, when the backend is lost (at once if it already is). Returns the function that removes it. */
  onLost(listener: (error: Error) => void): () => void;
  /** Ends the session on the backend (its arm stops if it moves), then closes the sockets. Never rejects. */
  bye(): Promise<void>;
  /** Closes the sockets without a word; the backend's lease takes care of the arm. */
  close(): void;
}
