import { createHash } from "node:crypto";
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { Skill2RealError } from "../../contract/errors.js";
import type { ModelMessage } from "./messages.js";
import type { Model, ModelCompletion } from "./model.js";

/** Where a run keeps what went to its model and came back. It holds neither key nor address. */
export const CASSETTE_FILE = "model.jsonl";
const FORMAT = "skill2real-cassette-1";

const headerSchema = z.strictObject({
  format: z.literal(FORMAT),
  policy: z.string(),
  model: z.string(),
  /** Key of the session's refs: with it, the same calls give the same refs again. */
  episode_key: z.string(),
});
const replySchema = z.strictObject({
  text: z.string(),
  tool: z.strictObject({ name: z.string(), arguments: z.string() }).nullable(),
  finish_reason: z.string(),
  refusal: z.string().nullable(),
});
const exchangeSchema = z.strictObject({
  hash: z.string(),
  pixels: z.array(z.string()),
  request: z.array(z.strictObject({ role: z.string(), content: z.string() })),
  reply: replySchema,
  usage: z.strictObject({ tokens_in: z.number(), tokens_out: z.number(), counted: z.boolean() }),
  latency_ms: z.number(),
  cost: z.number().nullable(),
  troubles: z.array(z.string()),
});
type Exchange = z.infer<typeof exchangeSchema>;

/** Messages as a cassette keeps them: an image is its name and size, for its path and pixels are the run's. */
const plain = (messages: readonly ModelMessage[]): Exchange["request"] =>
  messages.map(({ role, parts }) => ({
    role,
    content: parts
      .map((part) => (part.type === "text" ? part.text : `<image ${part.name} ${part.width}x${part.height}>`))
      .join("\n"),
  }));

const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex");
const hashOf = (request: Exchange["request"]): string => sha256(JSON.stringify(request));

function pixelsOf(messages: readonly ModelMessage[], folder: string): string[] {
  return messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === "image" ? [sha256(readFileSync(join(folder, part.path)))] : [])),
  );
}

export type RecordOptions = { folder: string; policy: string; modelName: string; episodeKey: string };

/** Passes messages on and keeps each exchange on disk before its reply is used. */
export class RecordingModel implements Model {
  readonly #inner: Model;
  readonly #options: RecordOptions;

  constructor(inner: Model, options: RecordOptions) {
    this.#inner = inner;
    this.#options = options;
    const { policy, modelName: model, episodeKey: episode_key } = options;
    this.#write({ format: FORMAT, policy, model, episode_key });
  }

  async complete(messages: readonly ModelMessage[], signal: AbortSignal): Promise<ModelCompletion> {
    const completion = await this.#inner.complete(messages, signal);
    const request = plain(messages);
    const exchange: Exchange = {
      hash: hashOf(request),
      pixels: pixelsOf(messages, this.#options.folder),
      request,
      ...completion,
      troubles: [...completion.troubles],
    };
    this.#write(exchange);
    return completion;
  }

  #write(line: unknown): void {
    const path = join(this.#options.folder, CASSETTE_FILE);
    try {
      appendFileSync(path, `${JSON.stringify(line)}\n`, { mode: 0o600 });
    } catch (cause) {
      throw new Skill2RealError(
        "storage_failed",
        `the exchange with the model cannot be kept: ${(cause as Error).message}`,
        { cause },
      );
    }
  }
}

/** Key of the refs of the episode that a cassette is of; throws `bad_config` for what is none. */
export function episodeKeyOf(cassette: string): string {
  const parsed = headerSchema.safeParse(parseLine(cassette.split("\n", 1)[0] ?? ""));
  if (!parsed.success) throw new Skill2RealError("bad_config", "this is no cassette: its first line is not a header");
  return parsed.data.episode_key;
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

export type ReplayOptions = {
  /** Content of a cassette. */
  cassette: string;
  policy: string;
  /** Compares pixels as well; `folder` is that of the run under way. */
  strict: boolean;
  folder: string;
};

/** Answers from a cassette, request by request. Stops at the first one that is not there, with what is different. */
export class ReplayingModel implements Model {
  readonly #exchanges: readonly Exchange[];
  readonly #options: ReplayOptions;
  #next = 0;

  private constructor(exchanges: readonly Exchange[], options: ReplayOptions) {
    this.#exchanges = exchanges;
    this.#options = options;
  }

  /** Throws `bad_config` for what is no cassette, `diverged` for one of another policy. */
  static open(options: ReplayOptions): ReplayingModel {
    const lines = options.cassette.split("\n").filter((line) => line !== "");
    try {
      const header = headerSchema.parse(JSON.parse(lines[0] ?? "null"));
      if (header.policy !== options.policy)
        throw new Skill2RealError(
          "diverged",
          `the cassette was made under another policy (${header.policy.slice(0, 12)}, now ${options.policy.slice(0, 12)}): "skill2real config --diff" says what changed`,
        );
      return new ReplayingModel(
        lines.slice(1).map((line) => exchangeSchema.parse(JSON.parse(line))),
        options,
      );
    } catch (cause) {
      if (cause instanceof Skill2RealError) throw cause;
      throw new Skill2RealError("bad_config", `this is no cassette: ${(cause as Error).message.slice(0, 300)}`, {
        cause,
      });
    }
  }

  async complete(messages: readonly ModelMessage[]): Promise<ModelCompletion> {
    const request = plain(messages);
    const exchange = this.#exchanges[this.#next];
    if (!exchange)
      throw new Skill2RealError(
        "diverged",
        `the cassette ends after ${this.#exchanges.length} replies; request ${this.#next + 1} is not in it`,
      );
    if (exchange.hash !== hashOf(request))
      throw new Skill2RealError(
        "diverged",
        `request ${this.#next + 1} is not the recorded one: ${firstDifference(exchange.request, request)}`,
      );
    if (this.#options.strict) {
      const now = pixelsOf(messages, this.#options.folder);
      const other = now.findIndex((sum, at) => sum !== exchange.pixels[at]);
      if (other >= 0)
        throw new Skill2RealError(
          "diverged",
          `request ${this.#next + 1}: the pixels of image ${other + 1} are not the recorded ones`,
        );
    }
    this.#next += 1;
    const { reply, usage, latency_ms, cost, troubles } = exchange;
    return { reply, usage, latency_ms, cost, troubles };
  }
}

/** Where two requests part, with some words of both. */
function firstDifference(recorded: Exchange["request"], now: Exchange["request"]): string {
  for (let at = 0; at < Math.max(recorded.length, now.length); at += 1) {
    const before = recorded[at];
    const after = now[at];
    if (!before || !after) return `it has ${now.length} messages, recorded were ${recorded.length}`;
    if (before.role !== after.role) return `message ${at + 1} is of ${after.role}, recorded was ${before.role}`;
    if (before.content === after.content) continue;
    const lines = [before.content.split("\n"), after.content.split("\n")] as const;
    const line = lines[1].findIndex((text, index) => text !== lines[0][index]);
    const where = line < 0 ? lines[1].length : line;
    const words = (text: string | undefined): string =>
      text === undefined ? "nothing" : JSON.stringify(text.slice(0, 160));
    return `message ${at + 1} (${after.role}), line ${where + 1}: now ${words(lines[1][where])}, recorded ${words(lines[0][where])}`;
  }
  return "nothing differs";
}
