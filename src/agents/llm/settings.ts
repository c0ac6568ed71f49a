import { z } from "zod";
import { keySchema } from "./without-key.js";

/** How the model is asked and what comes of its replies. */
export const INTERACTIONS = ["program", "program-once", "direct", "direct-notes"] as const;
export type Interaction = (typeof INTERACTIONS)[number];

const amount = z.number().positive().max(1e9);

/** What an episode needs to know of its model. Nothing here but `api_key` is a secret, and that is never written anywhere. */
export const modelSettingsSchema = z.strictObject({
  /** Of an OpenAI-compatible endpoint, with its version path ("…/v1"). */
  base_url: z.url(),
  model: z.string().min(1).max(200),
  api_key: keySchema.optional(),
  interaction: z.enum(INTERACTIONS).default("program"),
  /** Unit of pixel coordinates in the model's replies. */
  coordinates: z.enum(["pixel", "norm1000"]).default("pixel"),
  pack: z.string().min(1).default("ur5e_pika"),
  temperature: z.number().min(0).max(2).default(0),
  max_tokens: z.int().min(16).max(200_000).default(4096),
  /** Tokens that prompt and reply may take together. */
  context_tokens: z.int().min(256).max(10_000_000).default(128_000),
  /** Whether the model is offered tools; "auto": until the endpoint refuses them. */
  tools: z.enum(["auto", "on", "off"]).default("auto"),
  images: z.boolean().default(true),
  stream: z.boolean().default(true),
  /** Until a whole reply [s], and between two pieces of a stream [s]; Node's own fetch waits no longer than 300 s for a piece. */
  timeout_s: z.number().min(0.1).max(3600).default(180),
  idle_s: z.number().min(0.1).max(290).default(60),
  /** Further tries of a request that failed for no reason of its own. */
  retries: z.int().min(0).max(10).default(2),
  /** Longest wait that a Retry-After may ask for [s]. */
  max_wait_s: z.number().min(0).max(3600).default(60),
  /** How often one reply that is no usable program goes back to the model. */
  repairs: z.int().min(0).max(10).default(1),
  /** Money per million tokens, in whatever currency; left out: cost is not counted. */
  price_in: z.number().min(0).optional(),
  price_out: z.number().min(0).optional(),
  budget_calls: z.int().min(1).max(100_000).default(200),
  budget_tokens: amount.optional(),
  budget_money: amount.optional(),
  budget_wait_s: amount.optional(),
});
export type ModelSettings = z.output<typeof modelSettingsSchema>;
