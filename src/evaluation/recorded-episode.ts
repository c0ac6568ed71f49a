import { z } from "zod";
import { CLAIMS } from "../agents/proposer.js";
import { foreignToolsSchema } from "../agents/tools/settings.js";
import { SERVICES } from "../config/skills/manifest.js";
import { Skill2RealError } from "../contract/errors.js";
import { sha256 } from "../contract/sha256.js";
import { replyCodec } from "../contract/wire/device-codec.js";
import {
  traceCallCodec,
  traceEventCodec,
  traceExchangeCodec,
  traceProgramCodec,
} from "../contract/wire/trace-codec.js";
import { readTrace } from "../runtime/trace/read-trace.js";
import { foxgloveSchema } from "../runtime/trace/schemas.js";

const sessionSchema = z.looseObject({
  ref_key: z.string(),
  random_seed: z.number().int().nonnegative(),
  settings: z.looseObject({
    motion: z.record(z.string(), z.unknown()),
    perception: z.record(z.string(), z.unknown()),
    quotas: z.record(z.string(), z.number()),
    budgets: z.record(z.string(), z.number()),
    path_length_m: z.number().optional(),
    skills: z.looseObject({
      paths: z.array(z.string()),
      enable: z.array(z.string()),
      disable: z.array(z.string()),
      services: z.array(z.enum(SERVICES)).optional(),
      tools: foreignToolsSchema.optional(),
    }),
    services: z.looseObject({ pointer: z.string(), segmenter: z.string(), verifier: z.string() }).optional(),
  }),
});
const endSchema = z.looseObject({ outcome: z.string(), claim: z.enum(CLAIMS).nullable(), evidence: z.string() });

/** One operation as it was called and what it gave. */
export type EpisodeCall = {
  stage: number;
  operation: string;
  request: unknown;
  result: unknown;
  start_s: number;
  end_s: number;
};
/** A picture that was made, by its content: views, depth previews, mask overlays. */
export type EpisodeImage = { topic: string; sha256: string };

export type RecordedEpisode = {
  instruction: string;
  /** Of the backend: on a wall clock no two runs share their times. */
  clock: "SIM" | "WALL";
  session: z.infer<typeof sessionSchema>;
  programs: string[];
  calls: EpisodeCall[];
  images: EpisodeImage[];
  /** Null where the recording ends before the episode did. */
  end: z.infer<typeof endSchema> | null;
};

export const imageDigest = (png: Uint8Array): string => sha256(png);

/** All of a trace that says what was decided, called and seen. Throws `protocol_mismatch` for a trace of no episode. */
export async function readEpisode(path: string): Promise<RecordedEpisode> {
  let instruction = "";
  let clock: RecordedEpisode["clock"] = "SIM";
  let session: RecordedEpisode["session"] | null = null;
  let end: RecordedEpisode["end"] = null;
  const programs: string[] = [];
  const calls: EpisodeCall[] = [];
  const images: EpisodeImage[] = [];
  const picture = foxgloveSchema("CompressedImage");
  const onMetadata = (_: string, entries: ReadonlyMap<string, string>): void => {
    instruction = entries.get("instruction") ?? instruction;
  };
  for await (const { topic, schema, data } of readTrace(path, { onMetadata })) {
    if (topic === "/calls") calls.push(callOf(data));
    else if (topic === "/device/exchange") clock = clockOf(data) ?? clock;
    else if (topic === "/programs") programs.push(traceProgramCodec.decode(data).source);
    else if (schema === picture.name)
      images.push({ topic, sha256: imageDigest(picture.decode(data).data as Uint8Array) });
    else if (topic === "/events") {
      const { kind, details_json } = traceEventCodec.decode(data);
      if (kind === "session") session = parsed(sessionSchema, details_json, path);
      else if (kind === "episode_end") end = parsed(endSchema, details_json, path);
    }
  }
  if (!session)
    throw new Skill2RealError("protocol_mismatch", `${path} is a trace, but not of an episode: it names no session`);
  return { instruction, clock, session, programs, calls, images, end };
}

/** The clock that the backend told in its Hello; null in any other exchange. */
function clockOf(data: Uint8Array): RecordedEpisode["clock"] | null {
  const { verb, reply } = traceExchangeCodec.decode(data);
  if (verb !== "hello") return null;
  return replyCodec.decode(reply).hello?.capabilities?.clock === "WALL" ? "WALL" : "SIM";
}

function callOf(data: Uint8Array): EpisodeCall {
  const { stage, operation, request_json, result_json, start_s, end_s } = traceCallCodec.decode(data);
  return { stage, operation, request: JSON.parse(request_json), result: JSON.parse(result_json), start_s, end_s };
}

function parsed<T>(schema: z.ZodType<T>, json: string, path: string): T {
  const result = schema.safeParse(JSON.parse(json));
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw new Skill2RealError(
    "protocol_mismatch",
    `${path} was recorded by another version: ${issue?.path.join(".")}: ${issue?.message}`,
  );
}
