import { Skill2RealError } from "../../contract/errors.js";

export type RequestQueueOptions = {
  send: (bytes: Uint8Array) => void;
  /** Nothing at all was answered for the whole limit of the oldest request, although it was sent twice. */
  onSilent: (verb: string, waited_ms: number) => void;
};

export type QueuedRequest = {
  id: string;
  verb: string;
  bytes: Uint8Array;
  /** Time without any answer after which the peer counts as lost, ms. */
  limitMs: number;
  /** Time in which the peer promised to answer this request, ms. Default: the limit. */
  promisedMs?: number;
  /** Time after which the caller gives up, ms; the peer is not lost for that. Default: never before the limit. */
  deadlineMs?: number;
};

type Waiting<Answer> = QueuedRequest & {
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
  waited_ms: number;
  resent: boolean;
  abandoned: boolean;
};

/** Longest time that one tick may count: what passes beyond it, this process was not running to hear an answer. */
const MAX_TICK_MS = 100;

/**
 * Requests that wait for their answers. After half of its limit the oldest one is sent once more with the same bytes (the
 * backend does nothing twice for one request id). When nothing was answered for all of it, the peer is reported as
 * silent; while others are answered, it lives, and the oldest may be one that it had to put off, for as long as it
 * promised. Time is counted in ticks of bounded length, so that a busy or suspended process of ours does not take its
 * own absence for the peer's.
 */
export class RequestQueue<Answer> {
  readonly #options: RequestQueueOptions;
  readonly #waiting = new Map<string, Waiting<Answer>>();
  #silent_ms = 0;
  #failure: Error | null = null;

  constructor(options: RequestQueueOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#waiting.size;
  }

  add(request: QueuedRequest): Promise<Answer> {
    if (this.#failure) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      const state = { waited_ms: 0, resent: false, abandoned: false };
      if (this.#waiting.size === 0) this.#silent_ms = 0;
      this.#waiting.set(request.id, { ...request, ...state, resolve, reject });
      this.#options.send(request.bytes);
    });
  }

  /** Hands an answer to its request; false where none waits for it (the second answer to a request sent twice). */
  settle(id: string, answer: Answer): boolean {
    const waiting = this.#waiting.get(id);
    if (!waiting) return false;
    this.#waiting.delete(id);
    this.#silent_ms = 0;
    waiting.resolve(answer);
    return true;
  }

  /** Accounts for `elapsed_ms` of host time. */
  tick(elapsed_ms: number): void {
    const counted = Math.min(elapsed_ms, MAX_TICK_MS);
    for (const waiting of this.#waiting.values()) {
      waiting.waited_ms += counted;
      if (waiting.deadlineMs === undefined || waiting.abandoned || waiting.waited_ms < waiting.deadlineMs) continue;
      waiting.abandoned = true;
      waiting.reject(late(waiting.verb, waiting.deadlineMs));
    }
    const [oldest] = this.#waiting.values();
    if (!oldest) return;
    this.#silent_ms += counted;
    if (this.#silent_ms >= oldest.limitMs) this.#options.onSilent(oldest.verb, this.#silent_ms);
    else if (!oldest.resent && oldest.waited_ms >= oldest.limitMs / 2) {
      oldest.resent = true;
      this.#options.send(oldest.bytes);
    } else if (oldest.waited_ms >= oldest.limitMs + (oldest.promisedMs ?? oldest.limitMs)) {
      // It answers others, but this one never: kept, it would hide the next one's silence.
      this.#waiting.delete(oldest.id);
      if (!oldest.abandoned) oldest.reject(late(oldest.verb, Math.round(oldest.waited_ms)));
    }
  }

  /** Rejects all that waits and all that comes later. */
  fail(error: Error): void {
    if (this.#failure) return;
    this.#failure = error;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const request of waiting) request.reject(error);
  }
}

const late = (verb: string, after_ms: number): Skill2RealError =>
  new Skill2RealError(
    "deadline_exceeded",
    `no answer to ${verb} within ${after_ms} ms: allow more time, or see whether the backend is overloaded`,
  );
