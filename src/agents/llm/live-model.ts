import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type {
  ChatCompletionContentPart,
  ChatCompletionMessageParam,
  ChatCompletionTool,
} from "openai/resources/chat/completions";
import sharp from "sharp";
import type { ErrorCode } from "../../contract/error-codes.js";
import { isSkill2RealError, Skill2RealError } from "../../contract/errors.js";
import { abortedBy } from "../time-limits.js";
import { estimateTokens } from "./estimate-tokens.js";
import type { ModelMessage, ModelReply, ModelUsage } from "./messages.js";
import type { Model, ModelCompletion } from "./model.js";
import { ModelClient } from "./model-client.js";
import type { ModelSettings } from "./settings.js";

/** Troubles that another try may end. */
const PASSING: readonly ErrorCode[] = [
  "model_unreachable",
  "model_timeout",
  "model_stream_cut",
  "model_rate_limited",
  "model_server_error",
];
const FIRST_WAIT_S = 0.5;
const STOPPED = "the episode was stopped while the model was waited for";

export type LiveModelOptions = {
  settings: ModelSettings;
  /** The run's folder, in which the images are. */
  folder: string;
  tools: ChatCompletionTool[];
};

/** A model behind an endpoint: images from the run's folder, passing troubles tried again, tokens and money counted. */
export class LiveModel implements Model {
  readonly #client: ModelClient;
  readonly #options: LiveModelOptions;

  constructor(options: LiveModelOptions) {
    this.#client = new ModelClient(options.settings);
    this.#options = options;
  }

  async complete(messages: readonly ModelMessage[], signal: AbortSignal): Promise<ModelCompletion> {
    const { settings, tools } = this.#options;
    const request = {
      messages: await encodedMessages(messages, this.#options.folder),
      tools,
      max_tokens: settings.max_tokens,
    };
    const troubles: string[] = [];
    for (let attempt = 0; ; attempt += 1) {
      try {
        const { reply, usage, latency_ms } = await this.#client.ask(request, signal);
        const counted = usage ?? estimated(messages, reply);
        return { reply, usage: counted, latency_ms, cost: costOf(counted, settings), troubles };
      } catch (error) {
        if (signal.aborted) throw abortedBy(signal, STOPPED, { cause: error, troubles });
        if (!isSkill2RealError(error)) throw error;
        troubles.push(error.code);
        if (!PASSING.includes(error.code))
          throw new Skill2RealError(error.code, error.message, {
            cause: error,
            details: { ...error.details, troubles },
          });
        const wait_s = this.#waitBefore(error, attempt);
        if (wait_s === null)
          throw new Skill2RealError(error.code, `${error.message} (${troubles.length} tries: ${troubles.join(", ")})`, {
            cause: error,
            details: { troubles },
          });
        await wait(wait_s * 1e3, undefined, { signal }).catch(() => {
          throw abortedBy(signal, STOPPED, { troubles });
        });
      }
    }
  }

  /** Seconds to wait before another try, or null where there is none. */
  #waitBefore(error: Skill2RealError, attempt: number): number | null {
    const { retries, max_wait_s } = this.#options.settings;
    if (attempt >= retries) return null;
    const asked = error.details.retry_after_s;
    if (typeof asked === "number") return asked <= max_wait_s ? asked : null;
    return Math.min(FIRST_WAIT_S * 2 ** attempt, max_wait_s);
  }
}

/** Messages as they go over the wire, images of the run's folder in them. Throws `storage_failed` for one that cannot be read. */
export const encodedMessages = (
  messages: readonly ModelMessage[],
  folder: string,
): Promise<ChatCompletionMessageParam[]> =>
  Promise.all(
    messages.map(async ({ role, parts }): Promise<ChatCompletionMessageParam> => {
      const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
      if (role !== "user") return { role, content: text };
      // Plain text where there is no image: some endpoints take lists of parts only with images, or not at all.
      if (parts.every((part) => part.type === "text")) return { role, content: text };
      return { role, content: await Promise.all(parts.map((part) => encodedPart(part, folder))) };
    }),
  );

async function encodedPart(part: ModelMessage["parts"][number], folder: string): Promise<ChatCompletionContentPart> {
  if (part.type === "text") return part;
  const png = "path" in part ? await fileOf(part.path, folder) : await encoded(part);
  return { type: "image_url", image_url: { url: `data:image/png;base64,${png.toString("base64")}` } };
}

const fileOf = (path: string, folder: string): Promise<Buffer> =>
  readFile(join(folder, path)).catch((cause: NodeJS.ErrnoException) => {
    throw new Skill2RealError("storage_failed", `the image ${path} of the run cannot be read (${cause.code})`, {
      cause,
    });
  });

const encoded = ({ pixels, width, height }: { pixels: Uint8Array; width: number; height: number }): Promise<Buffer> =>
  sharp(pixels, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();

const estimated = (messages: readonly ModelMessage[], reply: ModelReply): ModelUsage => ({
  tokens_in: estimateTokens(messages),
  tokens_out: Math.ceil(Buffer.byteLength(reply.text + (reply.tool?.arguments ?? "")) / 3),
  counted: false,
});

function costOf(usage: ModelUsage, { price_in, price_out }: ModelSettings): number | null {
  if (price_in === undefined && price_out === undefined) return null;
  return (usage.tokens_in * (price_in ?? 0) + usage.tokens_out * (price_out ?? 0)) / 1e6;
}
