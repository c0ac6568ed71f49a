import { z } from "zod";
import { SERVICES } from "../../config/skills/manifest.js";
import type { Memories } from "../../memory/index.js";
import type { EpisodeReport } from "../episode.js";
import type { EpisodeAccounts } from "../llm/model-account.js";
import { modelSettingsSchema } from "../llm/settings.js";
import type { CallRecord, StageRecord } from "../proposer.js";
import { serviceSettingsSchema } from "../services/settings.js";
import { foreignToolsSchema, toolServerSchema } from "../tools/settings.js";

/**
 * What the evaluator tells an agent host. Nothing here may let anyone find privileged state: no seed, no task id, no
 * absolute path, no address or token of the privileged plane. `folder` is relative to the host's working folder.
 */
export const episodeRequestSchema = z.strictObject({
  type: z.literal("play"),
  episode: z.string().regex(/^[a-z0-9-]{1,64}$/),
  instruction: z.string().min(1).max(2_000),
  addresses: z.strictObject({ device: z.string(), stop: z.string(), events: z.string() }),
  curve: z.strictObject({ serverPublicKey: z.string(), publicKey: z.string(), secretKey: z.string() }).optional(),
  folder: z.string().regex(/^[A-Za-z0-9._-]{1,128}$/),
  proposer: z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("script"), source: z.string(), fileName: z.string() }),
    z.strictObject({
      kind: z.literal("library"),
      /** Name of a library that ships, or what to call one whose content is given. */
      library: z.string(),
      memories: z.custom<Memories>((value) => typeof value === "object" && value !== null).optional(),
    }),
    z.strictObject({
      kind: z.literal("llm"),
      /** With the key, which comes this way alone and goes nowhere else. */
      model: modelSettingsSchema,
      /** What the model is shown of memories; none: nothing. */
      memories: z.custom<Memories>((value) => typeof value === "object" && value !== null).optional(),
      /** What is told of the family of tasks beside the instruction. */
      task_text: z.string().max(10_000).default(""),
    }),
  ]),
  /** Identity of everything that can change what is decided. */
  policy: z.string().max(128).default(""),
  /** Content of a cassette to answer from, in place of models and services; `onward`: they are asked where it ends. */
  replay: z.strictObject({ cassette: z.string(), strict: z.boolean(), onward: z.boolean().optional() }).optional(),
  /** Says when a stage has ended and its trace is on the disk, and waits until it is told to go on. */
  keep: z.boolean().optional(),
  /** The episode whose trace is in `folder` is taken up at the end of a stage; `wall_s` is what it had taken until then. */
  resume: z
    .strictObject({
      folder: z.string().regex(/^[A-Za-z0-9._-]{1,128}$/),
      stage: z.number().int().nonnegative(),
      wall_s: z.number().nonnegative(),
    })
    .optional(),
  settings: z.strictObject({
    motion: z.record(z.string(), z.unknown()).default({}),
    perception: z.record(z.string(), z.unknown()).default({}),
    path_length_m: z.number().positive().optional(),
    quotas: z.record(z.string(), z.number()).default({}),
    budgets: z.record(z.string(), z.number()).default({}),
    skills: z
      .strictObject({
        paths: z.array(z.string()).default([]),
        enable: z.array(z.string()).default([]),
        disable: z.array(z.string()).default([]),
        services: z.array(z.enum(SERVICES)).optional(),
        /** Of foreign servers, as they were listed. */
        tools: foreignToolsSchema.optional(),
      })
      .prefault({}),
    /** With the key of the vision model, which goes nowhere else. */
    services: serviceSettingsSchema.optional(),
    /** How the servers of foreign tools are reached, with what is secret of it; their commands and folders are their owner's, who configured them. */
    tool_servers: z.array(toolServerSchema).optional(),
  }),
  randomSeed: z.number().int().nonnegative(),
  refKey: z.string().optional(),
  leaseMs: z.number().int().default(1500),
});
export type EpisodeRequest = z.infer<typeof episodeRequestSchema>;

export const hostRequestSchema = z.discriminatedUnion("type", [
  episodeRequestSchema,
  z.strictObject({ type: z.literal("stop"), reason: z.string() }),
  z.strictObject({ type: z.literal("kept"), stage: z.number().int() }),
  z.strictObject({ type: z.literal("close") }),
]);
export type HostRequest = z.infer<typeof hostRequestSchema>;

/** What an agent host says. */
export type HostMessage =
  | { type: "ready" }
  | { type: "stage"; stage: StageRecord }
  | { type: "call"; call: CallRecord }
  | { type: "stage_end"; stage: number; wall_s: number }
  | { type: "played"; report: EpisodeReport; refKey: string }
  | { type: "failed"; code: string; message: string; accounts: EpisodeAccounts };
