import { Subscriber } from "zeromq";
import { Skill2RealError } from "../../contract/errors.js";
import type { DeviceEvent } from "../../contract/generated/device.js";
import { eventCodec } from "../../contract/wire/device-codec.js";
import { curveOptions } from "./dealer-link.js";
import type { CurveKeys } from "./device.js";

export type EventChannelOptions = { address: string; curve?: CurveKeys; timeoutMs: number };

type Listener = (event: DeviceEvent) => void;

/** The backend's published events, to any number of listeners and iterators. */
export class EventChannel {
  readonly #socket: Subscriber;
  readonly #listeners = new Set<Listener>();
  readonly #endings = new Set<() => void>();
  #closed = false;

  /** Connects and waits for the handshake, so that what happens from then on is heard. */
  static async connect(options: EventChannelOptions): Promise<EventChannel> {
    const channel = new EventChannel(options);
    try {
      await channel.#handshake(options);
    } catch (error) {
      channel.close();
      throw error;
    }
    void channel.#read();
    return channel;
  }

  private constructor(options: EventChannelOptions) {
    this.#socket = new Subscriber({ linger: 0, ...curveOptions(options.curve) });
  }

  onEvent(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async *events(): AsyncIterableIterator<DeviceEvent> {
    const waiting: DeviceEvent[] = [];
    let wake: () => void = () => {};
    const remove = this.onEvent((event) => {
      waiting.push(event);
      wake();
    });
    const end = () => wake();
    this.#endings.add(end);
    try {
      for (;;) {
        const next = waiting.shift();
        if (next) yield next;
        else if (this.#closed) return;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    } finally {
      remove();
      this.#endings.delete(end);
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#socket.close();
    for (const end of this.#endings) end();
  }

  #handshake({ address, timeoutMs }: EventChannelOptions): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(
          new Skill2RealError("backend_unreachable", `nothing publishes events at ${address}: is the backend running?`),
        );
      }, timeoutMs);
      this.#socket.events.on("handshake", () => {
        clearTimeout(timer);
        resolve();
      });
      this.#socket.subscribe();
      this.#socket.connect(address);
    });
  }

  async #read(): Promise<void> {
    try {
      for await (const [bytes] of this.#socket) {
        if (bytes) this.#deliver(bytes);
      }
    } catch {
      // A socket that closes ends its reader; a backend that is gone is noticed by its requests.
    }
  }

  #deliver(bytes: Buffer): void {
    let event: DeviceEvent;
    try {
      event = eventCodec.decode(bytes);
    } catch {
      return; // of a later minor version: events that are not understood are not for us
    }
    for (const listener of [...this.#listeners]) listener(event);
  }
}
