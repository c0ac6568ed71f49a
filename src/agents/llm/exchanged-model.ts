import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { Skill2RealError } from "../../contract/errors.js";
import { sha256 } from "../../contract/sha256.js";
import type { Json, Question } from "../exchanges/exchange.js";
import type { Exchanges } from "../exchanges/exchanges.js";
import type { ModelMessage } from "./messages.js";
import type { Model, ModelCompletion } from "./model.js";

const replySchema = z.strictObject({
  text: z.string(),
  tool: z.strictObject({ name: z.string(), arguments: z.string() }).nullable(),
  finish_reason: z.string(),
  refusal: z.string().nullable(),
});

/** Messages as a recording keeps them: an image is its name and size, for its path and pixels are the run's. */
const plain = (messages: readonly ModelMessage[]): Json =>
  messages.map(({ role, parts }) => ({
    role,
    content: parts
      .map((part) => (part.type === "text" ? part.text : `<image ${part.name} ${part.width}x${part.height}>`))
      .join("\n"),
  }));

const pixelsOf = (messages: readonly ModelMessage[], folder: string): string[] =>
  messages.flatMap(({ parts }) =>
    parts.flatMap((part) =>
      part.type === "image" ? [sha256("path" in part ? readFileSync(join(folder, part.path)) : part.pixels)] : [],
    ),
  );

export type ExchangedModelOptions = Pick<Question, "kind" | "survives"> & {
  exchanges: Exchanges;
  /** Asked where no recording answers. */
  live: Model;
  /** The run's folder, in which the images are. */
  folder: string;
};

/** A model whose every exchange is kept, or answered from what was kept. */
export class ExchangedModel implements Model {
  readonly #options: ExchangedModelOptions;

  constructor(options: ExchangedModelOptions) {
    this.#options = options;
  }

  async complete(messages: readonly ModelMessage[], signal: AbortSignal): Promise<ModelCompletion> {
    const { exchanges, live, folder, kind, survives } = this.#options;
    const question = { kind, survives, request: plain(messages), pixels: pixelsOf(messages, folder) };
    const answer = await exchanges.ask(question, () => live.complete(messages, signal));
    const reply = replySchema.safeParse(answer.reply);
    if (!reply.success || !answer.usage)
      throw new Skill2RealError("bad_config", `the cassette's ${kind} exchange holds no reply of a model`);
    const { usage, latency_ms, cost, troubles } = answer;
    return { reply: reply.data, usage, latency_ms, cost, troubles };
  }
}
