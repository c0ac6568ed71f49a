import { z } from "zod";
import { keySchema } from "../llm/without-key.js";

const amount = z.number().positive().max(1e9);

/** Who answers for each service: what the package brings along, a vision model, or nobody. */
export const serviceSettingsSchema = z.strictObject({
  pointer: z.enum(["builtin", "vlm", "none"]).default("builtin"),
  segmenter: z.enum(["vlm", "none"]).default("none"),
  verifier: z.enum(["vlm", "none"]).default("none"),
  /** The vision model that the roles of kind "vlm" share; its key goes nowhere else. */
  model: z
    .strictObject({
      base_url: z.url(),
      model: z.string().min(1).max(200),
      api_key: keySchema.optional(),
      coordinates: z.enum(["pixel", "norm1000"]).default("pixel"),
      max_tokens: z.int().min(16).max(200_000).default(1024),
      timeout_s: z.number().min(0.1).max(280).default(60),
      /** Money per million tokens; left out: cost is not counted. */
      price_in: z.number().min(0).optional(),
      price_out: z.number().min(0).optional(),
      /** Of one episode. */
      budget_calls: z.int().min(1).max(100_000).default(1000),
      budget_tokens: amount.optional(),
      budget_money: amount.optional(),
    })
    .optional(),
});
export type ServiceSettings = z.output<typeof serviceSettingsSchema>;

/** What a vision model can answer as. */
export const SERVICE_ROLES = ["pointer", "segmenter", "verifier"] as const;
export type ServiceRole = (typeof SERVICE_ROLES)[number];

/** Those that need the vision model. */
export const vlmRoles = ({ pointer, segmenter, verifier }: Pick<ServiceSettings, ServiceRole>): ServiceRole[] =>
  SERVICE_ROLES.filter((role) => ({ pointer, segmenter, verifier })[role] === "vlm");

/** What of the settings may be written down: neither where the model is asked nor with which key. */
export function withoutSecrets({ model, ...roles }: ServiceSettings): Record<string, unknown> {
  if (!model) return roles;
  const { api_key: _key, base_url: _address, ...rest } = model;
  return { ...roles, model: rest };
}
