import { z } from "zod";
import type { Rig } from "../../../src/config/index.js";

/** What the process reads on descriptor 3: one line of JSON. Addresses and keys travel there and nowhere else. */
export type NativeBootstrap = {
  socket_dir: string;
  rig: Rig;
  speed_cap: number;
  exit_on_lease_lapse: boolean;
  operator_key: string;
};

export const nativeBootstrapSchema = z.strictObject({
  socket_dir: z.string().min(1),
  rig: z.unknown(),
  speed_cap: z.number().min(0.01).max(1),
  exit_on_lease_lapse: z.boolean(),
  operator_key: z.string().regex(/^[0-9a-f]{64}$/),
});

/** Its first line on stdout, as JSON. */
export const nativeReadySchema = z.looseObject({
  ready: z.literal(true),
  device: z.string(),
  stop: z.string(),
  events: z.string(),
  operator: z.string(),
  notes: z.array(z.string()),
  pid: z.number().int(),
});
