import type { DeviceEvent } from "../../src/contract/generated/device.js";
import { eventCodec } from "../../src/contract/wire/device-codec.js";
import type { Init } from "../../src/contract/wire/init.js";

type Kind = NonNullable<DeviceEvent["kind"]>;

/** What happened, under the field of Event's oneof that tells it. */
export type Happening = { [K in Kind]?: Init<NonNullable<DeviceEvent[K]>> };

/** Numbers events in one order and hands their bytes to `send`. */
export class EventBus {
  readonly #send: (bytes: Buffer) => void;
  #number = 0;

  constructor(send: (bytes: Buffer) => void) {
    this.#send = send;
  }

  publish(time_s: number, happening: Happening): void {
    this.#number += 1;
    this.#send(eventCodec.encode({ ...happening, number: this.#number, time_s } as Init<DeviceEvent>));
  }
}
