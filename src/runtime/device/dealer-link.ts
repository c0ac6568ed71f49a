import { Dealer } from "zeromq";
import type { CurveKeys } from "./device.js";

export type DealerLinkOptions = {
  address: string;
  curve?: CurveKeys;
  onMessage: (parts: Buffer[]) => void;
  /** The connection ended although it was not closed here: the peer's process is gone, or the network. */
  onDisconnect: () => void;
  /** A failure of the socket itself. */
  onError: (error: unknown) => void;
};

/** ZeroMQ options that make a client with CURVE keys, or none. */
export const curveOptions = (keys: CurveKeys | undefined) =>
  keys === undefined
    ? {}
    : { curveServerKey: keys.serverPublicKey, curvePublicKey: keys.publicKey, curveSecretKey: keys.secretKey };

/**
 * One DEALER socket with one reader and one writer: ZeroMQ refuses a second receive or send while one is pending, and a
 * second thread altogether. Messages wait for the connection (`immediate`) and none outlives `close` (`linger` 0).
 */
export class DealerLink {
  readonly #socket: Dealer;
  readonly #options: DealerLinkOptions;
  readonly #outgoing: Uint8Array[] = [];
  #sending = false;
  #closed = false;

  constructor(options: DealerLinkOptions) {
    this.#options = options;
    this.#socket = new Dealer({ linger: 0, immediate: true, ...curveOptions(options.curve) });
    this.#socket.events.on("disconnect", () => {
      if (!this.#closed) options.onDisconnect();
    });
    this.#socket.connect(options.address);
    void this.#read();
  }

  /** Sends one part as soon as there is a connection, in the order of the calls. */
  send(bytes: Uint8Array): void {
    if (this.#closed) return;
    this.#outgoing.push(bytes);
    if (!this.#sending) void this.#write();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#outgoing.length = 0;
    this.#socket.close();
  }

  async #write(): Promise<void> {
    this.#sending = true;
    try {
      for (let next = this.#outgoing.shift(); next !== undefined; next = this.#outgoing.shift()) {
        await this.#socket.send(next);
      }
    } catch (error) {
      if (!this.#closed) this.#options.onError(error);
    } finally {
      this.#sending = false;
    }
  }

  async #read(): Promise<void> {
    try {
      for await (const parts of this.#socket) this.#options.onMessage(parts as Buffer[]);
    } catch (error) {
      if (!this.#closed) this.#options.onError(error);
    }
  }
}
