import { z } from "zod";
import type { Quotas } from "./quotas.js";

/** To the guest process. `text` members are JSON that goes into the guest as it is. */
export type ToGuest =
  | {
      type: "run";
      javascript: string;
      fileName: string;
      names: string[];
      statusNames: string[];
      seed: number;
      time_s: number;
      quotas: Quotas;
    }
  | { type: "settle"; sequence: number; text: string; time_s: number };

const id = z.number().int().positive();
const guestCpu_s = z.number().nonnegative();
/** CPU time of the guest process since it started, compiler threads included. */
const processCpu_s = z.number().nonnegative();

/** From the guest process, which is not trusted: every message is parsed. */
export const fromGuestSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("ready"), processCpu_s }),
  z.strictObject({
    type: z.literal("print"),
    level: z.enum(["log", "warn", "error"]),
    text: z.string(),
    time_s: z.number(),
  }),
  z.strictObject({
    type: z.literal("turn"),
    /** Number of the newest settle message taken in. */
    sequence: z.number().int().nonnegative(),
    calls: z.array(z.strictObject({ id, json: z.string() })),
    sleeps: z.array(z.strictObject({ id, seconds: z.number().nonnegative() })),
    guestCpu_s,
    processCpu_s,
  }),
  z.strictObject({ type: z.literal("returned"), json: z.string(), guestCpu_s }),
  z.strictObject({
    type: z.literal("threw"),
    name: z.string(),
    message: z.string(),
    line: z.number().int().nullable(),
    column: z.number().int().nullable(),
    code: z.string().optional(),
    stack: z.string(),
    guestCpu_s,
  }),
  z.strictObject({ type: z.literal("killed"), code: z.string(), message: z.string(), guestCpu_s }),
]);

export type FromGuest = z.infer<typeof fromGuestSchema>;
