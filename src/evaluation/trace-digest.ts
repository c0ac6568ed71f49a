import { createHash } from "node:crypto";
import { canonicalJson } from "../config/lock/canonical-json.js";
import type { DeviceReply, DeviceRequest } from "../contract/generated/device.js";
import { sha256 } from "../contract/sha256.js";
import { replyCodec, requestCodec } from "../contract/wire/device-codec.js";
import {
  traceCallCodec,
  traceEventCodec,
  traceExchangeCodec,
  traceProgramCodec,
} from "../contract/wire/trace-codec.js";
import { STAGE_END } from "../runtime/recording/recording.js";
import { readTrace } from "../runtime/trace/read-trace.js";
import { foxgloveSchema } from "../runtime/trace/schemas.js";

/** What of a trace is compared, each by a digest of its own: they say where two episodes part. */
export const TRACE_PARTS = ["programs", "calls", "events", "device", "images", "log"] as const;
export type TraceDigest = {
  /** SHA-256 over the digests of the parts. */
  digest: string;
  parts: Record<(typeof TRACE_PARTS)[number], string>;
  /** The trace ends before its writer closed it. */
  cut: boolean;
};

/**
 * Names what happened in an episode: two that went the same way have the same digest, whenever and wherever they were played,
 * in one go or resumed. In it are programs, calls with arguments, results and device times, events, what the backend was asked and
 * answered with every pixel, the images that were made, and what was printed. Not in it are wall times, sessions, ids, tags of
 * refs, folders and addresses, numbers that a backend goes on counting from episode to episode, and how often a slow simulator
 * had to be asked again. On a wall clock no two episodes are alike: device traffic and times are left out there, measured results
 * are not. Throws what reading the trace throws.
 */
export async function traceDigest(path: string): Promise<TraceDigest> {
  const hashes = Object.fromEntries(TRACE_PARTS.map((part) => [part, createHash("sha256")])) as Record<
    (typeof TRACE_PARTS)[number],
    ReturnType<typeof createHash>
  >;
  const add = (part: (typeof TRACE_PARTS)[number], ...values: unknown[]): void =>
    void hashes[part].update(`${withoutTags(canonicalJson(JSON.parse(JSON.stringify(values))))}\n`);
  const picture = foxgloveSchema("CompressedImage");
  const log = foxgloveSchema("Log");
  const traffic = new Traffic((entry) => add("device", entry));
  let cut = false;
  const onCut = (): void => {
    cut = true;
  };
  for await (const { topic, schema, data } of readTrace(path, { onCut })) {
    if (topic === "/device/exchange") traffic.take(data);
    else if (topic === "/programs") {
      const { stage, source } = traceProgramCodec.decode(data);
      add("programs", stage, source);
    } else if (topic === "/calls") {
      const { stage, index, operation, request_json, result_json, start_s, end_s } = traceCallCodec.decode(data);
      const times = traffic.simulated ? [start_s, end_s] : [];
      add("calls", stage, index, operation, JSON.parse(request_json), JSON.parse(result_json), ...times);
    } else if (topic === "/events") {
      const { kind, details_json } = traceEventCodec.decode(data);
      const details = JSON.parse(details_json) as Record<string, unknown>;
      // Whether stages are kept for a later session changes nothing in this one.
      if (kind !== STAGE_END)
        add("events", kind, kind === "session" ? ofSession(details) : masked(details, EVENT_KEYS));
    } else if (schema === picture.name) {
      const { data: png } = picture.decode(data) as { data: Uint8Array };
      add("images", topic, sha256(png));
    } else if (schema === log.name) {
      const { level, message } = log.decode(data) as { level: number; message: string };
      add("log", level, message);
    }
  }
  traffic.end();
  const parts = Object.fromEntries(
    TRACE_PARTS.map((part) => [part, hashes[part].digest("hex")]),
  ) as TraceDigest["parts"];
  return { digest: sha256(canonicalJson(parts)), parts, cut };
}

/** Refs without the tags that each session makes for itself: "obs_3_k7f2" is the third observation in all of them. */
const withoutTags = (text: string): string => text.replace(/\b(obs|depth|mask)_(\d+)_[a-z2-9]{4}\b/g, "$1_$2");

/** Of the settings of a session what decides; neither its key nor where services and skills are. */
function ofSession({ random_seed, skills, settings }: Record<string, unknown>): unknown {
  const { services: _, skills: __, ...rest } = (settings ?? {}) as Record<string, unknown>;
  return { random_seed, skills, settings: rest };
}

const EVENT_KEYS: readonly string[] = ["stop_epoch", "latency_ms", "wall_s"];
/** What differs from session to session, whoever plays it. */
const DEVICE_KEYS: readonly string[] = [
  "protocol_major",
  "protocol_minor",
  "session",
  "request_id",
  "sequence",
  "deadline_ms",
  "token",
  "number",
  "lease_ms",
];

/** A copy without the named keys, at any depth; `renumber` may change what stays. */
function masked(value: unknown, keys: readonly string[], renumber?: (key: string, value: number) => number): unknown {
  if (Array.isArray(value)) return value.map((entry) => masked(entry, keys, renumber));
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !keys.includes(key))
      .map(([key, entry]) => [
        key,
        renumber && typeof entry === "number" ? renumber(key, entry) : masked(entry, keys, renumber),
      ]),
  );
}

type Entry = { verb: string; asked: unknown; time_s: number; answered: unknown; pixels: string[] };

/** Requests and replies in their order, as nothing but what was asked and answered. */
class Traffic {
  readonly #tell: (entry: Entry) => void;
  /** Counters that a backend goes on with from episode to episode, as ordinals of this one. */
  readonly #ordinals = { group: new Map<number, number>(), stop_epoch: new Map<number, number>() };
  /** Advances that follow each other: one, however often a slow simulator had to be asked. */
  #advance: Entry | null = null;
  simulated = true;

  constructor(tell: (entry: Entry) => void) {
    this.#tell = tell;
  }

  take(data: Uint8Array): void {
    const { verb, request: asked, reply: answered, parts } = traceExchangeCodec.decode(data);
    if (verb === "renew" || verb === "bye") return;
    const request = requestCodec.decode(asked);
    const reply = replyCodec.decode(answered);
    if (verb === "hello") this.#begin(reply);
    if (!this.simulated) return;
    const entry = this.#entry(verb, request, reply, parts);
    if (verb === "advance") this.#advance = this.#joined(entry);
    else {
      this.end();
      this.#tell(entry);
    }
  }

  /** Tells what was held back. */
  end(): void {
    if (this.#advance) this.#tell(this.#advance);
    this.#advance = null;
  }

  #begin(reply: DeviceReply): void {
    this.simulated = reply.hello?.capabilities?.clock !== "WALL";
    this.#ordinal("stop_epoch", reply.stop_epoch);
  }

  #entry(verb: string, request: DeviceRequest, reply: DeviceReply, parts: readonly Uint8Array[]): Entry {
    const plain = (value: unknown): unknown =>
      masked(value, DEVICE_KEYS, (key, number) =>
        key === "group" || key === "stop_epoch" ? this.#ordinal(key, number) : number,
      );
    const { time_s, raw_parts: _, ...answered } = reply;
    return {
      verb,
      asked: plain(verb === "hello" ? {} : request),
      time_s,
      answered: plain(answered),
      pixels: parts.map(sha256),
    };
  }

  #joined(entry: Entry): Entry {
    const before = this.#advance?.answered as { advance?: { events?: unknown[] } } | undefined;
    const now = entry.answered as { advance?: { events?: unknown[] } };
    const events = [...(before?.advance?.events ?? []), ...(now.advance?.events ?? [])];
    return now.advance ? { ...entry, answered: { ...now, advance: { ...now.advance, events } } } : entry;
  }

  #ordinal(key: "group" | "stop_epoch", number: number): number {
    const known = this.#ordinals[key];
    const ordinal = known.get(number) ?? known.size;
    known.set(number, ordinal);
    return ordinal;
  }
}
