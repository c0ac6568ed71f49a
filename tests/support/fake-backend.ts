import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Publisher, Router } from "zeromq";
import type { DeviceEvent, DeviceReply, DeviceRequest } from "../../src/contract/generated/device.js";
import {
  eventCodec,
  replyCodec,
  requestCodec,
  stopReplyCodec,
  stopRequestCodec,
} from "../../src/contract/wire/device-codec.js";
import type { Init } from "../../src/contract/wire/init.js";
import type { DeviceAddresses } from "../../src/runtime/device/device.js";

export type FakeAnswer = { reply: Init<DeviceReply>; parts?: Uint8Array[] } | "silence";

/** A backend's three sockets, in this process, that answer as a test tells them. */
export class FakeBackend {
  readonly addresses: DeviceAddresses;
  /** Every message that came, repeated ones too. */
  readonly received: { bytes: Buffer; request: DeviceRequest }[] = [];
  readonly stops: string[] = [];
  /** Answers a request, or keeps silent. Hello and Renew are answered without it unless it takes them. */
  answer: (request: DeviceRequest, bytes: Buffer) => FakeAnswer | undefined = () => undefined;
  answersStops = true;
  time_s = 0;
  stop_epoch = 0;
  clock: "SIM" | "WALL" = "SIM";
  readonly #dir: string;
  readonly #device = new Router({ linger: 0 });
  readonly #stop = new Router({ linger: 0 });
  readonly #events = new Publisher({ linger: 0 });
  #event_number = 0;
  #closed = false;

  static async start(): Promise<FakeBackend> {
    const fake = new FakeBackend();
    await fake.#device.bind(fake.addresses.device);
    await fake.#stop.bind(fake.addresses.stop);
    await fake.#events.bind(fake.addresses.events);
    for (const served of [fake.#serveDevice(), fake.#serveStop()]) {
      served.catch((error: unknown) => {
        if (!fake.#closed) throw error;
      });
    }
    return fake;
  }

  private constructor() {
    this.#dir = mkdtempSync(join(tmpdir(), "s2r-fake-"));
    const at = (name: string) => `ipc://${join(this.#dir, name)}`;
    this.addresses = { device: at("d"), stop: at("s"), events: at("e") };
  }

  verbs(): string[] {
    return this.received.map(({ request }) => request.body ?? "none").filter((verb) => verb !== "renew");
  }

  async publish(event: Init<DeviceEvent>): Promise<void> {
    this.#event_number += 1;
    await this.#events.send(eventCodec.encode({ number: this.#event_number, time_s: this.time_s, ...event }));
  }

  close(): void {
    this.#closed = true;
    for (const socket of [this.#device, this.#stop, this.#events]) socket.close();
    rmSync(this.#dir, { recursive: true, force: true });
  }

  async #serveDevice(): Promise<void> {
    for await (const [peer, bytes] of this.#device) {
      const request = requestCodec.decode(bytes!);
      this.received.push({ bytes: bytes!, request });
      const answer = this.answer(request, bytes!) ?? this.#usual(request);
      if (answer === "silence") continue;
      const parts = answer.parts ?? [];
      const reply = replyCodec.encode({
        protocol_major: 1,
        request_id: request.request_id,
        time_s: this.time_s,
        stop_epoch: this.stop_epoch,
        raw_parts: parts.length,
        ...answer.reply,
      });
      await this.#device.send([peer!, reply, ...parts]);
    }
  }

  #usual(request: DeviceRequest): FakeAnswer {
    if (request.hello) {
      const capabilities = { backend: "fake", clock: this.clock, control_period_s: 0.002 };
      return { reply: { hello: { session: "s1", capabilities, lease_ms: request.hello.lease_ms } } };
    }
    if (request.renew) return { reply: { renew: { lease_ms: 1500 } } };
    if (request.get_state) return { reply: { state: {} } };
    if (request.bye) return { reply: { bye: {} } };
    return { reply: { error: { code: "ERROR_UNSUPPORTED", message: "the fake has no such thing" } } };
  }

  async #serveStop(): Promise<void> {
    for await (const [peer, bytes] of this.#stop) {
      this.stops.push(stopRequestCodec.decode(bytes!).reason);
      if (!this.answersStops) continue;
      this.stop_epoch += 1;
      await this.#stop.send([peer!, stopReplyCodec.encode({ stop_epoch: this.stop_epoch, time_s: this.time_s })]);
    }
  }
}
