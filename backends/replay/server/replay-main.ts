/**
 * Entry of a replay's process. Reads one line of JSON on descriptor 3, binds its sockets in the folder that it names, says
 * so in one line on stdout, and ends when descriptor 3 does.
 *
 * @module
 */
import { Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Publisher, Router } from "zeromq";
import { z } from "zod";
import { isSkill2RealError } from "../../../src/contract/errors.js";
import type { DeviceEvent } from "../../../src/contract/generated/device.js";
import { eventCodec, stopReplyCodec, stopRequestCodec } from "../../../src/contract/wire/device-codec.js";
import { Recording } from "../recording.js";
import { DevicePlane } from "./device-plane.js";

const bootstrapSchema = z.strictObject({ socket_dir: z.string(), recording: z.string() });

/** Larger parts end the connection, as the protocol says. */
const MOST_BYTES = 16 << 20;
/** Events that would change what a client believes of this process, rather than of the recording. */
const OWN_KINDS: readonly DeviceEvent["kind"][] = ["stopped", "world_changed", "ending"];
const EXIT_FAILED = 1;

async function serve(socket_dir: string, path: string): Promise<void> {
  const recording = await Recording.open(path);
  const at = (name: string): string => `ipc://${join(socket_dir, name)}`;
  const addresses = { device: at("d"), stop: at("s"), events: at("e") };
  const device = new Router({ linger: 0, maxMessageSize: MOST_BYTES });
  const stop = new Router({ linger: 0, maxMessageSize: MOST_BYTES });
  const events = new Publisher({ linger: 0 });
  await Promise.all([device.bind(addresses.device), stop.bind(addresses.stop), events.bind(addresses.events)]);

  let number = 0;
  let publishing: Promise<void> = Promise.resolve();
  const publish = (event: Omit<DeviceEvent, "number">): void => {
    number += 1;
    const bytes = eventCodec.encode({ ...event, number });
    publishing = publishing.then(() => events.send(bytes));
  };
  const plane = new DevicePlane(recording, (event) => {
    if (!OWN_KINDS.includes(event.kind)) publish(event);
  });

  const served = [serveDevice(device, plane), serveStop(stop, plane, publish)];
  process.stdout.write(`${JSON.stringify({ ready: true, ...addresses, pid: process.pid })}\n`);
  await Promise.all(served);
}

async function serveDevice(socket: Router, plane: DevicePlane): Promise<void> {
  for await (const [peer, ...parts] of socket) {
    const { reply, parts: raw } = await plane.answer(parts);
    await socket.send([peer!, reply, ...raw]);
  }
}

async function serveStop(
  socket: Router,
  plane: DevicePlane,
  publish: (event: Omit<DeviceEvent, "number">) => void,
): Promise<void> {
  for await (const [peer, bytes] of socket) {
    const { stop_epoch, time_s } = plane.stop();
    await socket.send([peer!, stopReplyCodec.encode({ stop_epoch, time_s })]);
    const stopped = { stop_epoch, reason: reasonOf(bytes) };
    publish({ time_s, kind: "stopped", stopped } as Omit<DeviceEvent, "number">);
  }
}

/** Whatever arrives is a stop, also bytes that cannot be read. */
function reasonOf(bytes: Buffer | undefined): string {
  try {
    return stopRequestCodec.decode(bytes ?? Buffer.alloc(0)).reason;
  } catch {
    return "an unreadable stop request";
  }
}

function fail(error: unknown): never {
  const words = isSkill2RealError(error)
    ? error.message
    : error instanceof Error
      ? (error.stack ?? error.message)
      : error;
  process.stderr.write(`${String(words)}\n`);
  process.exit(EXIT_FAILED);
}

const leash = new Socket({ fd: 3, readable: true, writable: false });
// Its other end is the parent's: when that closes, or the parent is gone in whatever way, this process has no one to serve.
leash.on("close", () => process.exit(0));
leash.on("end", () => process.exit(0));
createInterface({ input: leash }).once("line", (line) => {
  try {
    const { socket_dir, recording } = bootstrapSchema.parse(JSON.parse(line));
    serve(socket_dir, recording).catch(fail);
  } catch (error) {
    fail(error);
  }
});
