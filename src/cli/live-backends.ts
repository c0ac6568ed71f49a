import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import type { DeviceAddresses } from "../runtime/device/device.js";

const entrySchema = z.object({
  pid: z.number().int(),
  addresses: z.object({ device: z.string(), stop: z.string(), events: z.string() }),
  started_at: z.string(),
});
export type LiveBackend = z.infer<typeof entrySchema>;

const folder = (): string => join(tmpdir(), `skill2real-${userInfo().uid}`, "live");

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Notes a running backend's public addresses, so that `skill2real stop` in another terminal finds it. Gives what removes the note. */
export function noteBackend(addresses: DeviceAddresses): () => void {
  mkdirSync(folder(), { recursive: true, mode: 0o700 });
  const path = join(folder(), `${process.pid}.json`);
  const { device, stop, events } = addresses;
  const entry: LiveBackend = {
    pid: process.pid,
    addresses: { device, stop, events },
    started_at: new Date().toISOString(),
  };
  writeFileSync(path, JSON.stringify(entry), { mode: 0o600 });
  return () => rmSync(path, { force: true });
}

/** Running backends of this user; notes of dead processes are removed. */
export function liveBackends(): LiveBackend[] {
  let names: string[];
  try {
    names = readdirSync(folder());
  } catch {
    return [];
  }
  return names.flatMap((name) => {
    const path = join(folder(), name);
    try {
      const entry = entrySchema.parse(JSON.parse(readFileSync(path, "utf8")));
      if (alive(entry.pid)) return [entry];
      rmSync(path, { force: true });
    } catch {
      rmSync(path, { force: true });
    }
    return [];
  });
}
