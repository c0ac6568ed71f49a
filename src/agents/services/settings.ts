import { z } from "zod";

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
      api_key: z.string().min(1).max(10_000).optional(),
      coordinates: z.enum(["pixel", "norm1000"]).default("pixel"),
      max_tokens: z.int().min(16).max(200_000).default(1024),
      timeout_s: z.number().min(0.1).max(280).default(60),
    })
    .optional(),
});
export type ServiceSettings = z.output<typeof serviceSettingsSchema>;

/** Those that need the vision model. */
export const vlmRoles = ({ pointer, segmenter, verifier }: ServiceSettings): ("pointer" | "segmenter" | "verifier")[] =>
  (["pointer", "segmenter", "verifier"] as const).filter((role) => ({ pointer, segmenter, verifier })[role] === "vlm");

/** What of the settings may be written down: neither where the model is asked nor with which key. */
export function withoutSecrets({ model, ...roles }: ServiceSettings): Record<string, unknown> {
  if (!model) return roles;
  const { api_key: _key, base_url: _address, ...rest } = model;
  return { ...roles, model: rest };
}
