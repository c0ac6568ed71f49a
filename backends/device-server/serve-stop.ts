import type { Router } from "zeromq";
import { stopReplyCodec, stopRequestCodec } from "../../src/contract/wire/device-codec.js";
import { SendQueue } from "./send-queue.js";

/** Whatever arrives is a stop, also bytes that cannot be read. */
export function stopReasonOf(bytes: Uint8Array | undefined): string {
  try {
    return stopRequestCodec.decode(bytes ?? Buffer.alloc(0)).reason || "stop requested";
  } catch {
    return "stop requested, in bytes that could not be read";
  }
}

/** Serves a bound stop socket, until it is closed. `stop` latches and gives the new epoch. */
export async function serveStop(
  socket: Router,
  stop: (reason: string) => { stop_epoch: number; time_s: number },
): Promise<void> {
  const queue = new SendQueue((parts) => socket.send(parts as Uint8Array[] as Buffer[]));
  for await (const [peer, bytes] of socket) queue.add([peer!, stopReplyCodec.encode(stop(stopReasonOf(bytes)))]);
  await queue.drained();
}
