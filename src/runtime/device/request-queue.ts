import { Skill2RealError } from "../../contract/errors.js";

export type RequestQueueOptions = {
  send: (bytes: Uint8Array) => void;
  /** The oldest request went unanswered for its whole limit, although it was sent twice. */
  onSilent: (verb: string, waited_ms: number) => void;
};

export type QueuedRequest = {
  id: string;
  verb: string;
  bytes: Uint8Array;
  /** Time without an answer after which the peer counts as lost, ms. */
  limitMs: number;
  /** Time after which the caller gives up, ms; the peer is not lost for that. Default: never before the limit. */
  deadlineMs?: number;
};

type Waiting<Answer> = QueuedRequest & {
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
  waited_ms: number;
  silent_ms: number;
  resent: boolean;
  abandoned: boolean;
};

/** Longest time that one tick may count: what passes beyond it, this process was not running to hear an answer. */
const MAX_TICK_MS = 100;

/**
 * Requests that wait for their answer. A backend answers in order, so silence is counted for the oldest one only; after
 * half of its limit the same bytes are sent once more (the backend does nothing twice for one request id), and after
 * all of it the peer is reported as silent. Silence is counted in ticks of bounded length, so that a busy or
 * suspended process of ours does not take its own absence for the peer's.
 */
export class RequestQueue<Answer> {
  readonly #options: RequestQueueOptions;
  readonly #waiting = new Map<string, Waiting<Answer>>();
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
      const state = { waited_ms: 0, silent_ms: 0, resent: false, abandoned: false };
      this.#waiting.set(request.id, { ...request, ...state, resolve, reject });
      this.#options.send(request.bytes);
    });
  }

  /** Hands an answer to its request; false where none waits for it (the second answer to a request sent twice). */
  settle(id: string, answer: Answer): boolean {
    const waiting = this.#waiting.get(id);
    if (!waiting) return false;
    this.#waiting.delete(id);
    waiting.resolve(answer);
    return true;
  }

  /** Accounts for `elapsed_ms` of host time. */
  tick(elapsed_ms: number): void {
    const counted = Math.min(elapsed_ms, MAX_TICK_MS);
    let oldest: Waiting<Answer> | undefined;
    for (const waiting of this.#waiting.values()) {
      oldest ??= waiting;
      waiting.waited_ms += counted;
      if (waiting.deadlineMs === undefined || waiting.abandoned || waiting.waited_ms < waiting.deadlineMs) continue;
      waiting.abandoned = true;
      waiting.reject(
        new Skill2RealError(
          "deadline_exceeded",
          `no answer to ${waiting.verb} within ${waiting.deadlineMs} ms: allow more time, or see whether the backend is overloaded`,
        ),
      );
    }
    if (!oldest) return;
    oldest.silent_ms += counted;
    if (oldest.silent_ms >= oldest.limitMs) this.#options.onSilent(oldest.verb, oldest.silent_ms);
    else if (!oldest.resent && oldest.silent_ms >= oldest.limitMs / 2) {
      oldest.resent = true;
      this.#options.send(oldest.bytes);
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
