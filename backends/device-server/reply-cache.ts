import { createHash } from "node:crypto";

/** An encoded reply and the raw parts after it. */
export type Answer = { reply: Buffer; parts: readonly Uint8Array[] };

const KEPT_REPLIES = 256;
const KEPT_IDS = 65_536;

export const digestOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("base64");

type Kept = { digest: string; answer: Answer | Promise<Answer>; size: number };

const sizeOf = ({ reply, parts }: Answer): number =>
  parts.reduce((sum, part) => sum + part.byteLength, reply.byteLength);

/** Bytes that the kept replies of a process may hold together; beyond, the oldest of all go. */
export class ReplyBudget {
  readonly #limit: number;
  readonly #oldest_first = new Map<Kept, () => void>();
  #used = 0;

  constructor(limit_bytes: number = 256 << 20) {
    this.#limit = limit_bytes;
  }

  add(kept: Kept, expire: () => void): void {
    this.#used += kept.size;
    this.#oldest_first.set(kept, expire);
    for (const [, expireOldest] of this.#oldest_first) {
      if (this.#used <= this.#limit || this.#oldest_first.size <= 1) return;
      expireOldest();
    }
  }

  release(kept: Kept): void {
    if (this.#oldest_first.delete(kept)) this.#used -= kept.size;
  }
}

export type LookedUp =
  | { known: "new" | "other_bytes" | "expired" }
  | { known: "same"; answer: Answer | Promise<Answer> };

/** Replies of one session by request id: the last ones whole, and beyond them that the id was used. */
export class ReplyCache {
  readonly #budget: ReplyBudget;
  readonly #keep: number;
  readonly #kept = new Map<string, Kept>();
  readonly #expired = new Set<string>();

  constructor(budget: ReplyBudget, keep: number = KEPT_REPLIES) {
    this.#budget = budget;
    this.#keep = keep;
  }

  lookUp(id: string, digest: string): LookedUp {
    const kept = this.#kept.get(id);
    if (kept) return kept.digest === digest ? { known: "same", answer: kept.answer } : { known: "other_bytes" };
    return { known: this.#expired.has(id) ? "expired" : "new" };
  }

  /** Keeps the answer that is being made, so that a repeated request waits for it; then the answer itself. */
  keep(id: string, digest: string, answer: Answer | Promise<Answer>): void {
    const kept: Kept = { digest, answer, size: 0 };
    this.#kept.set(id, kept);
    const finish = (made: Answer): void => {
      kept.answer = made;
      kept.size = sizeOf(made);
      this.#budget.add(kept, () => this.#expire(id));
      for (const [oldest, { answer: waiting }] of this.#kept) {
        if (this.#kept.size <= this.#keep) return;
        if (!(waiting instanceof Promise)) this.#expire(oldest);
      }
    };
    if (answer instanceof Promise) void answer.then(finish);
    else finish(answer);
  }

  close(): void {
    for (const kept of this.#kept.values()) this.#budget.release(kept);
    this.#kept.clear();
    this.#expired.clear();
  }

  #expire(id: string): void {
    const kept = this.#kept.get(id);
    if (!kept) return;
    this.#kept.delete(id);
    this.#budget.release(kept);
    this.#expired.add(id);
    for (const oldest of this.#expired) {
      if (this.#expired.size <= KEPT_IDS) return;
      this.#expired.delete(oldest);
    }
  }
}
