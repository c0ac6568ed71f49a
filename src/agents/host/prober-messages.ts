import { z } from "zod";
import { askedServerSchema, probedToolsSchema } from "../tools/probe-tools.js";

/** What the process that asks foreign servers is told, once. */
export const proberRequestSchema = z.strictObject({
  servers: z.array(askedServerSchema),
  deadline_s: z.number().positive(),
});

/** What it says, once. */
export const proberReplySchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("probed"), probed: probedToolsSchema }),
  z.strictObject({ type: z.literal("failed"), code: z.string(), message: z.string() }),
]);
export type ProberReply = z.output<typeof proberReplySchema>;
