/**
 * Entry of a replay's process. Reads one line of JSON on descriptor 3, binds its sockets in the folder that it names, says
 * so in one line on stdout, and ends when descriptor 3 does.
 *
 * @module
 */
import { z } from "zod";
import type { DeviceEvent } from "../../../src/contract/generated/device.js";
import { Recording } from "../../../src/runtime/recording/recording.js";
import { bindSockets } from "../../device-server/bind-sockets.js";
import { DevicePlane } from "../../device-server/device-plane.js";
import { EventBus, type Happening } from "../../device-server/event-bus.js";
import { runOnLeash } from "../../device-server/leash.js";
import { serveDevice } from "../../device-server/serve-device.js";
import { serveStop } from "../../device-server/serve-stop.js";
import { ReplayDesk } from "./replay-desk.js";

const bootstrapSchema = z.strictObject({ socket_dir: z.string(), recording: z.string() });

/** Events that would change what a client believes of this process, rather than of the recording. */
const OWN_KINDS: readonly DeviceEvent["kind"][] = ["stopped", "world_changed", "ending"];

async function serve(bootstrap: unknown): Promise<void> {
  const { socket_dir, recording: path } = bootstrapSchema.parse(bootstrap);
  const recording = await Recording.open(path);
  const { device, stop, addresses, sendEvent } = await bindSockets(socket_dir);
  const bus = new EventBus(sendEvent);
  const desk = new ReplayDesk(recording, ({ number: _, time_s, ...event }) => {
    if (!OWN_KINDS.includes(event.kind)) bus.publish(time_s, event as Happening);
  });
  const served = [
    serveDevice(device, new DevicePlane({ desk }), { oneByOne: true }),
    serveStop(stop!, (reason) => {
      const { stop_epoch, time_s } = desk.stop();
      bus.publish(time_s, { stopped: { stop_epoch, reason } });
      return { stop_epoch, time_s };
    }),
  ];
  process.stdout.write(`${JSON.stringify({ ready: true, ...addresses, pid: process.pid })}\n`);
  await Promise.all(served);
}

runOnLeash(serve);
