import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Skill2RealError } from "../contract/errors.js";
import type { MotionSettings, PerceptionSettings } from "../contract/settings.js";
import type { CurveKeys, DeviceAddresses, Past } from "../runtime/device/device.js";
import { DeviceClient } from "../runtime/device/device-client.js";
import type { OperationTable } from "../runtime/operation.js";
import { Session } from "../runtime/session.js";
import { McapTrace, TRACE_FILE } from "../runtime/trace/mcap-trace.js";

export type RecordedSessionOptions = {
  addresses: DeviceAddresses;
  curve?: CurveKeys | undefined;
  /** The run's folder, which is made. */
  folder: string;
  /** Who asks, for the backend's log. */
  client: string;
  leaseMs: number;
  operations: OperationTable;
  motion: Partial<MotionSettings>;
  perception: Partial<PerceptionSettings>;
  refKey?: string | undefined;
  /** What an interrupted session was answered, for the one that goes on with it. */
  past?: Past | undefined;
  /** What the head of the trace says. */
  metadata: Record<string, string>;
};

/** A controller's session whose traffic is in a trace from its first request on. The caller closes both, the session first. */
export async function openRecordedSession(
  options: RecordedSessionOptions,
): Promise<{ session: Session; trace: McapTrace }> {
  const { addresses, curve, folder, client, leaseMs, operations, motion, perception, refKey, past, metadata } = options;
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((cause: NodeJS.ErrnoException) => {
    throw new Skill2RealError(
      "storage_failed",
      `the run's folder cannot be made (${cause.code}): free space, or choose another folder of runs`,
      { cause },
    );
  });
  // Before the session knows the device's time, the trace begins at 0.
  let now = (): number => 0;
  const trace = await McapTrace.create({ path: join(folder, TRACE_FILE), now: () => now(), metadata });
  try {
    const device = await DeviceClient.connect({
      ...addresses,
      ...(curve ? { curve } : {}),
      role: "CONTROLLER",
      client,
      leaseMs,
      ...(past ? { past } : {}),
      onExchange: (exchange) => trace.exchange(exchange),
    });
    now = () => device.time_s;
    const keyed = refKey ? { refKey } : {};
    return { session: Session.open({ device, operations, folder, trace, motion, perception, ...keyed }), trace };
  } catch (error) {
    await trace.close();
    throw error;
  }
}
