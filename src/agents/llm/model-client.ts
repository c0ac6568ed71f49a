import OpenAI, { APIConnectionError, APIConnectionTimeoutError, APIError, APIUserAbortError } from "openai";
import type { ChatCompletionMessageParam, ChatCompletionTool } from "openai/resources/chat/completions";
import type { ErrorCode } from "../../contract/error-codes.js";
import { isSkill2RealError, Skill2RealError } from "../../contract/errors.js";
import { abortedBy } from "../time-limits.js";
import { BoundedBody, boundedFetch } from "./bounded-fetch.js";
import type { ModelReply, ModelUsage } from "./messages.js";
import type { ModelSettings } from "./settings.js";
import { withoutKey } from "./without-key.js";

export type ModelRequest = {
  messages: ChatCompletionMessageParam[];
  tools: ChatCompletionTool[];
  max_tokens: number;
};
export type ModelAnswer = { reply: ModelReply; usage: ModelUsage | null; latency_ms: number };

/** Speaks to one OpenAI-compatible endpoint. Every trouble of it ends in time, as an error with a code of its own. */
export class ModelClient {
  readonly #client: OpenAI;
  readonly #settings: ModelSettings;
  /** False from the first time on that the endpoint refused tools. */
  #tools: boolean;
  /** What the limit of a reply is called: newer models take another name than older endpoints. */
  #limit: "max_tokens" | "max_completion_tokens" = "max_tokens";

  constructor(settings: ModelSettings) {
    this.#settings = settings;
    this.#tools = settings.tools !== "off";
    this.#client = new OpenAI({
      baseURL: settings.base_url,
      // The SDK demands a key; an endpoint without one ignores it.
      apiKey: settings.api_key ?? "none",
      maxRetries: 0,
      timeout: settings.timeout_s * 1e3,
      fetch: boundedFetch({ idle_ms: settings.idle_s * 1e3, shown: (text) => this.#shown(text) }),
      // Nothing of the process's environment may change where or as whom it asks.
      organization: null,
      project: null,
    });
  }

  get offersTools(): boolean {
    return this.#tools;
  }

  /** One try. Throws Skill2RealError with a code that begins with `model_`, or what `abortedBy` gives where the signal ended it. */
  async ask(request: ModelRequest, signal: AbortSignal): Promise<ModelAnswer> {
    const began = performance.now();
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), this.#settings.timeout_s * 1e3);
    try {
      const { reply, usage } = await this.#complete(request, AbortSignal.any([signal, limit.signal]));
      return { reply: this.#withoutKey(reply), usage, latency_ms: performance.now() - began };
    } catch (cause) {
      if (signal.aborted) throw abortedBy(signal, "the episode was stopped while the model was asked", { cause });
      if (limit.signal.aborted)
        throw trouble(
          "model_timeout",
          `no whole reply within ${this.#settings.timeout_s} s; see model.timeout_s`,
          cause,
        );
      if (this.#refusedTools(cause, request)) return this.ask({ ...request, tools: [] }, signal);
      if (this.#refusedLimit(cause)) return this.ask(request, signal);
      throw this.#explained(cause);
    } finally {
      clearTimeout(timer);
    }
  }

  async #complete(
    request: ModelRequest,
    signal: AbortSignal,
  ): Promise<{ reply: ModelReply; usage: ModelUsage | null }> {
    const { model, temperature, stream } = this.#settings;
    const body = {
      model,
      temperature,
      [this.#limit]: request.max_tokens,
      messages: request.messages,
      ...(this.#tools && request.tools.length > 0 ? { tools: request.tools, tool_choice: "auto" as const } : {}),
    };
    return stream ? this.#streamed(body, signal) : this.#whole(body, signal);
  }

  async #whole(body: OpenAI.ChatCompletionCreateParamsNonStreaming, signal: AbortSignal) {
    const completion = await this.#client.chat.completions.create({ ...body, stream: false }, { signal });
    const choice = completion?.choices?.[0];
    if (!choice?.message) throw trouble("model_bad_reply", "the endpoint's answer holds no message");
    const call = choice.message.tool_calls?.find((one) => one.type === "function");
    const reply: ModelReply = {
      text: choice.message.content ?? "",
      tool: call ? { name: call.function.name, arguments: call.function.arguments } : null,
      finish_reason: choice.finish_reason ?? "",
      refusal: choice.message.refusal ?? null,
    };
    return { reply, usage: usageOf(completion.usage) };
  }

  async #streamed(body: OpenAI.ChatCompletionCreateParamsNonStreaming, signal: AbortSignal) {
    const chunks = await this.#client.chat.completions.create(
      { ...body, stream: true, stream_options: { include_usage: true } },
      { signal },
    );
    const reply: ModelReply = { text: "", tool: null, finish_reason: "", refusal: null };
    let usage: ModelUsage | null = null;
    let pieces = 0;
    for await (const chunk of chunks) {
      pieces += 1;
      usage = usageOf(chunk.usage) ?? usage;
      const choice = chunk.choices?.[0];
      if (!choice) continue;
      reply.text += choice.delta?.content ?? "";
      if (choice.delta?.refusal) reply.refusal = (reply.refusal ?? "") + choice.delta.refusal;
      // One call is enough: a model that makes several is held to its first.
      for (const call of choice.delta?.tool_calls ?? []) {
        // Some endpoints leave the index out.
        if ((call.index ?? 0) !== 0) continue;
        reply.tool ??= { name: "", arguments: "" };
        reply.tool.name += call.function?.name ?? "";
        reply.tool.arguments += call.function?.arguments ?? "";
      }
      if (choice.finish_reason) reply.finish_reason = choice.finish_reason;
    }
    if (pieces === 0)
      throw trouble("model_bad_reply", "the endpoint's answer is no stream of events; try model.stream = false");
    if (reply.finish_reason === "") throw trouble("model_stream_cut", "the stream ended before the reply did");
    return { reply, usage };
  }

  /** "auto": an endpoint that refuses tools is asked without them from then on. */
  #refusedTools(cause: unknown, request: ModelRequest): boolean {
    if (this.#settings.tools !== "auto" || !this.#tools || request.tools.length === 0) return false;
    if (!(cause instanceof APIError) || ![400, 404, 422, 500, 501].includes(cause.status ?? 0)) return false;
    if (!/tool|function/i.test(cause.message)) return false;
    this.#tools = false;
    return true;
  }

  #refusedLimit(cause: unknown): boolean {
    if (this.#limit !== "max_tokens" || !(cause instanceof APIError) || cause.status !== 400) return false;
    if (!/max_completion_tokens/.test(cause.message)) return false;
    this.#limit = "max_completion_tokens";
    return true;
  }

  #shown(text: string): string {
    return withoutKey(text, this.#settings.api_key);
  }

  #withoutKey(reply: ModelReply): ModelReply {
    return {
      text: this.#shown(reply.text),
      tool: reply.tool && { name: this.#shown(reply.tool.name), arguments: this.#shown(reply.tool.arguments) },
      finish_reason: this.#shown(reply.finish_reason),
      refusal: reply.refusal === null ? null : this.#shown(reply.refusal),
    };
  }

  #explained(cause: unknown): Skill2RealError {
    if (isSkill2RealError(cause)) return cause;
    const inner = innermost(cause);
    if (inner instanceof BoundedBody) return trouble(inner.code, inner.message, cause);
    if (cause instanceof APIConnectionTimeoutError || cause instanceof APIUserAbortError)
      return trouble("model_timeout", `no reply within ${this.#settings.timeout_s} s; see model.timeout_s`, cause);
    if (cause instanceof APIConnectionError)
      return trouble(
        "model_unreachable",
        `no endpoint answers at model.base_url (${this.#shown(inner.message)}): start it, or mend the address`,
        cause,
      );
    if (cause instanceof APIError) return httpTrouble(cause, this.#shown(cause.message));
    if (cause instanceof SyntaxError)
      return trouble("model_bad_reply", `the endpoint's answer is not JSON: ${this.#shown(cause.message)}`, cause);
    // undici ends a body that its server cut with a plain TypeError.
    if (
      /terminated|socket|ECONNRESET|other side closed|premature/i.test(`${inner.message} ${(cause as Error).message}`)
    )
      return trouble(
        "model_stream_cut",
        `the connection ended before the reply did (${this.#shown(inner.message)})`,
        cause,
      );
    return trouble("model_bad_reply", `the endpoint's answer cannot be read: ${this.#shown(inner.message)}`, cause);
  }
}

const trouble = (
  code: ErrorCode,
  message: string,
  cause?: unknown,
  details?: Record<string, unknown>,
): Skill2RealError =>
  new Skill2RealError(code, `model: ${message}`, {
    ...(cause === undefined ? {} : { cause }),
    ...(details ? { details } : {}),
  });

function httpTrouble(error: APIError, words: string): Skill2RealError {
  const said = words.slice(0, 300);
  const { status = 0 } = error;
  if (status === 401 || status === 403)
    return trouble(
      "model_unauthorized",
      `the endpoint refuses the key (${status}): set the variable that model.api_key_env names`,
      error,
    );
  if (status === 429) {
    const retry_after_s = retryAfter(error.headers?.get("retry-after") ?? null);
    return trouble(
      "model_rate_limited",
      `too many requests (429)`,
      error,
      retry_after_s === null ? {} : { retry_after_s },
    );
  }
  if (status >= 500) return trouble("model_server_error", `the endpoint failed: ${said}`, error);
  if (/image|vision|multimodal/i.test(said))
    return trouble(
      "model_image_refused",
      `the endpoint takes no images (${said}): choose a model that sees, or set model.images = false`,
      error,
    );
  if (/temperature/i.test(said))
    return trouble(
      "model_refused_request",
      `the endpoint refuses the temperature (${said}): set model.temperature = 1`,
      error,
    );
  if (/context|too long|maximum.*tokens|tokens.*maximum/i.test(said))
    return trouble(
      "model_context_overflow",
      `the endpoint's context is smaller than model.context_tokens (${said})`,
      error,
    );
  return trouble("model_refused_request", `the endpoint refuses the request: ${said}`, error);
}

/** Seconds of a Retry-After header (seconds or a date), or null. */
export function retryAfter(header: string | null, now_ms = Date.now()): number | null {
  if (header === null) return null;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds);
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, (date - now_ms) / 1e3);
}

function usageOf(usage: OpenAI.CompletionUsage | null | undefined): ModelUsage | null {
  if (!usage || !Number.isFinite(usage.prompt_tokens) || !Number.isFinite(usage.completion_tokens)) return null;
  return { tokens_in: usage.prompt_tokens, tokens_out: usage.completion_tokens, counted: true };
}

function innermost(error: unknown): Error {
  let inner = error as Error;
  for (let depth = 0; depth < 8 && inner?.cause instanceof Error; depth += 1) inner = inner.cause;
  return inner instanceof Error ? inner : new Error(String(error));
}
