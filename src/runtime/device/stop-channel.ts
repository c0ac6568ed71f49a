import { Skill2RealError } from "../../contract/errors.js";
import type { StopReply } from "../../contract/generated/device.js";
import { PROTOCOL_MAJOR, stopReplyCodec, stopRequestCodec } from "../../contract/wire/device-codec.js";
import { DealerLink } from "./dealer-link.js";
import type { CurveKeys } from "./device.js";

export type StopChannelOptions = { address: string; curve?: CurveKeys; lostAfterMs: number };

/** A connection that carries one stop at a time. */
class StopLink {
  readonly #link: DealerLink;
  #answer: ((reply: StopReply | Error) => void) | null = null;

  constructor({ address, curve }: StopChannelOptions) {
    this.#link = new DealerLink({
      address,
      ...(curve ? { curve } : {}),
      onMessage: ([part]) => {
        try {
          this.#answer?.(stopReplyCodec.decode(part ?? Buffer.alloc(0)));
        } catch (error) {
          this.#answer?.(error as Error);
        }
      },
      onDisconnect: () => {},
      onError: (error) => this.#answer?.(error as Error),
    });
  }

  send(bytes: Uint8Array): Promise<StopReply> {
    return new Promise((resolve, reject) => {
      this.#answer = (reply) => (reply instanceof Error ? reject(reply) : resolve(reply));
      this.#link.send(bytes);
    });
  }

  close(): void {
    this.#link.close();
  }
}

/**
 * Latches stops on the stop socket, over a connection that stands ready. A stop carries no request id, so a stop beside
 * another one, or a second attempt, takes a connection of its own: a late reply is never taken for the wrong one. A
 * stop that arrives twice does no harm.
 */
export class StopChannel {
  readonly #options: StopChannelOptions;
  #standing: StopLink;
  #standing_busy = false;
  #closed = false;

  constructor(options: StopChannelOptions) {
    this.#options = options;
    this.#standing = new StopLink(options);
  }

  async stop(session: string, reason: string): Promise<StopReply> {
    const bytes = stopRequestCodec.encode({ protocol_major: PROTOCOL_MAJOR, session, reason });
    const extra: StopLink[] = [];
    const open = (): StopLink => {
      const link = new StopLink(this.#options);
      extra.push(link);
      return link;
    };
    const timers: NodeJS.Timeout[] = [];
    const uses_standing = !this.#standing_busy && !this.#closed;
    if (uses_standing) this.#standing_busy = true;
    try {
      const { lostAfterMs } = this.#options;
      return await Promise.race([
        (uses_standing ? this.#standing : open()).send(bytes),
        new Promise<StopReply>((resolve, reject) => {
          timers.push(setTimeout(() => open().send(bytes).then(resolve, reject), lostAfterMs / 2));
        }),
        new Promise<never>((_, reject) => {
          const silence = new Skill2RealError("backend_lost", `no answer to a stop within ${lostAfterMs} ms`);
          timers.push(setTimeout(() => reject(silence), lostAfterMs));
        }),
      ]);
    } finally {
      for (const timer of timers) clearTimeout(timer);
      if (uses_standing) this.#release(extra.length > 0);
      for (const link of extra) link.close();
    }
  }

  close(): void {
    this.#closed = true;
    this.#standing.close();
  }

  #release(may_answer_late: boolean): void {
    this.#standing_busy = false;
    if (!may_answer_late || this.#closed) return;
    this.#standing.close();
    this.#standing = new StopLink(this.#options);
  }
}
