export type KeptReply = { request: Buffer; reply: Buffer; parts: Buffer[] };

const MOST_REPLIES = 256;
const MOST_BYTES = 256 << 20;

/** Replies of one session by request id, so that a repeated request gets its first reply; the oldest go first. */
export class ReplyCache {
  readonly #kept = new Map<string, KeptReply & { bytes: number }>();
  readonly #expired = new Set<string>();
  #bytes = 0;

  get(id: string): KeptReply | undefined {
    return this.#kept.get(id);
  }

  /** True for an id that was answered, and whose reply is no longer kept. */
  expired(id: string): boolean {
    return this.#expired.has(id);
  }

  add(id: string, kept: KeptReply): void {
    const bytes = kept.reply.byteLength + kept.parts.reduce((sum, part) => sum + part.byteLength, 0);
    this.#kept.set(id, { ...kept, bytes });
    this.#bytes += bytes;
    for (const [oldest, { bytes: freed }] of this.#kept) {
      if (this.#kept.size <= MOST_REPLIES && (this.#bytes <= MOST_BYTES || this.#kept.size === 1)) return;
      this.#kept.delete(oldest);
      this.#expired.add(oldest);
      this.#bytes -= freed;
    }
  }
}
