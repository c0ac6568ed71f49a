import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Publisher } from "zeromq";
import type { StateReply } from "../../contract/generated/device.js";
import type { DeviceAddresses } from "../../runtime/device/device.js";
import { DeviceClient } from "../../runtime/device/device-client.js";
import { type MirrorGap, MirrorTwin } from "./mirror-twin.js";

export type MirrorOptions = {
  addresses: DeviceAddresses;
  /** Rendered anew each second. */
  picture?: string;
  /** Gaps a second. Default 10. */
  hz?: number;
  onGap: (gap: MirrorGap) => void;
  signal: AbortSignal;
};

const STATES_HZ = 100;
const MOST_ASKED = 4;

/** What the twin is told of a state. */
export function mirrorMessage({ arms, grippers }: StateReply): string | null {
  const [arm] = arms;
  if (!arm) return null;
  const { time_s, q_rad, qd_rad_s, X_world_tcp } = arm;
  return JSON.stringify({ time_s, q_rad, qd_rad_s, X_world_tcp, opening_m: grippers[0]?.opening_m ?? null });
}

/**
 * Lets the twin follow a backend's arm until the signal: an observer of the device protocol publishes its states at 100 Hz, the
 * twin's process tells the gap. Resolves with how many states were sent; rejects where the backend or the twin is lost.
 */
export async function mirrorArm({ addresses, picture, hz = 10, onGap, signal }: MirrorOptions): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "s2r-mirror-"));
  const address = `ipc://${join(folder, "states")}`;
  const publisher = new Publisher({ linger: 0, sendHighWaterMark: 4 });
  let twin: MirrorTwin | null = null;
  let device: DeviceClient | null = null;
  let sent = 0;
  try {
    await publisher.bind(address);
    twin = await MirrorTwin.start({ address, hz, onGap, ...(picture ? { picture } : {}) });
    device = await DeviceClient.connect({ ...addresses, role: "OBSERVER", client: "mirror", lostAfterMs: 4000 });
    const tell = async (client: DeviceClient): Promise<void> => {
      const message = mirrorMessage(await client.getState());
      if (message === null || signal.aborted) return;
      queue = queue.then(() => publisher.send(message));
      await queue;
      sent += 1;
    };
    let queue: Promise<void> = Promise.resolve();
    let failure: unknown;
    let asked = 0;
    let due_ms = performance.now();
    while (!signal.aborted && !twin.ended && failure === undefined) {
      // A backend that is slow is asked less often, not more and more.
      if (asked < MOST_ASKED) {
        asked += 1;
        tell(device)
          .catch((error: unknown) => {
            failure ??= error;
          })
          .finally(() => {
            asked -= 1;
          });
      }
      // A late state is not made up for: the next one is due a period from now.
      due_ms = Math.max(due_ms + 1e3 / STATES_HZ, performance.now());
      await sleep(Math.max(0, due_ms - performance.now()));
    }
    if (failure !== undefined && !signal.aborted) throw failure;
    if (twin.ended && !signal.aborted) throw twin.lost();
    return sent;
  } finally {
    await device?.bye();
    await twin?.close();
    publisher.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
