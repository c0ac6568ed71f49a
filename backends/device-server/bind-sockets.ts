import { join } from "node:path";
import { Publisher, Router } from "zeromq";
import type { DeviceAddresses } from "../../src/runtime/device/device.js";
import { SendQueue } from "./send-queue.js";

/** Larger parts end the connection, as the protocol says; those above its 1 MiB still get their refusal. */
const MOST_BYTES = 16 << 20;
/** Messages that wait for one client that does not read; room for as many as a session's kept replies, for libzmq gives it back in halves. */
const SEND_HIGH_WATER = 512;

export type BoundSockets = {
  device: Router;
  /** Null where another part of the process binds `addresses.stop`. */
  stop: Router | null;
  events: Publisher;
  addresses: DeviceAddresses;
  sendEvent: (bytes: Buffer) => void;
  /** Closes them when the events given until now are sent. */
  close(): Promise<void>;
};

/** Binds a backend's sockets in a private folder (at most about 90 characters: an ipc address holds 107 bytes). */
export async function bindSockets(
  socket_dir: string,
  { ownStop = true }: { ownStop?: boolean } = {},
): Promise<BoundSockets> {
  const at = (name: string): string => `ipc://${join(socket_dir, name)}`;
  const addresses = { device: at("d"), stop: at("s"), events: at("e") };
  const options = { linger: 100, maxMessageSize: MOST_BYTES, sendHighWaterMark: SEND_HIGH_WATER };
  const device = new Router(options);
  const stop = ownStop ? new Router(options) : null;
  const events = new Publisher({ linger: 100 });
  await Promise.all([device.bind(addresses.device), stop?.bind(addresses.stop), events.bind(addresses.events)]);
  const queue = new SendQueue((parts) => events.send(parts as Uint8Array[] as Buffer[]));
  return {
    device,
    stop,
    events,
    addresses,
    sendEvent: (bytes) => queue.add([bytes]),
    close: async () => {
      await queue.drained();
      for (const socket of [device, stop, events]) socket?.close();
    },
  };
}
