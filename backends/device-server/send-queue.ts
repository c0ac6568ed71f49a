/** Sends one message after the other, for sockets that take one at a time. A client that is gone is no error of ours. */
export class SendQueue {
  readonly #send: (parts: readonly Uint8Array[]) => Promise<void>;
  #last: Promise<void> = Promise.resolve();

  constructor(send: (parts: readonly Uint8Array[]) => Promise<void>) {
    this.#send = send;
  }

  add(parts: readonly Uint8Array[]): void {
    this.#last = this.#last.then(() => this.#send(parts)).catch(() => {});
  }

  /** Resolves when all that was added until now is with the socket. */
  drained(): Promise<void> {
    return this.#last;
  }
}
