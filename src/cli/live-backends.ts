import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import type { DeviceAddresses } from "../runtime/device/device.js";
import { leaveNote, liveNotes } from "./process-notes.js";

const entrySchema = z.object({
  pid: z.number().int(),
  addresses: z.object({ device: z.string(), stop: z.string(), events: z.string() }),
  started_at: z.string(),
});
export type LiveBackend = z.infer<typeof entrySchema>;

const folder = (): string => join(tmpdir(), `skill2real-${userInfo().uid}`, "live");

/** Notes a running backend's public addresses, so that `skill2real stop` in another terminal finds it. Gives what removes the note. */
export function noteBackend({ device, stop, events }: DeviceAddresses): () => void {
  const entry: LiveBackend = {
    pid: process.pid,
    addresses: { device, stop, events },
    started_at: new Date().toISOString(),
  };
  return leaveNote(folder(), entry);
}

/** Running backends of this user; notes of dead processes are removed. */
export const liveBackends = (): LiveBackend[] => liveNotes(folder(), entrySchema);
