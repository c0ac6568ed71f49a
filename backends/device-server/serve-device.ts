import type { Router } from "zeromq";
import type { DevicePlane } from "./device-plane.js";
import type { Answer } from "./reply-cache.js";
import { SendQueue } from "./send-queue.js";

export type ServeDeviceOptions = {
  /** True: a request is begun when all before it are answered. Default false: one that waits does not hold up the others. */
  oneByOne?: boolean;
};

/** Answers what comes on a bound device socket, until the socket is closed. */
export async function serveDevice(
  socket: Router,
  plane: DevicePlane,
  { oneByOne = false }: ServeDeviceOptions = {},
): Promise<void> {
  const queue = new SendQueue((parts) => socket.send(parts as Uint8Array[] as Buffer[]));
  for await (const [peer, ...parts] of socket) {
    const send = ({ reply, parts: raw }: Answer): void => queue.add([peer!, reply, ...raw]);
    const answer = plane.answer(parts);
    if (!(answer instanceof Promise)) send(answer);
    else if (oneByOne) send(await answer);
    else void answer.then(send);
  }
  await queue.drained();
}
