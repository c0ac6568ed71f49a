import type { ModelMessage, ModelReply, ModelUsage } from "./messages.js";

export type ModelCompletion = {
  reply: ModelReply;
  usage: ModelUsage;
  latency_ms: number;
  /** In the currency of the configured prices; null where there are none. */
  cost: number | null;
  /** Tries that failed before, by code. */
  troubles: readonly string[];
};

/** Whatever answers messages: an endpoint, or a recording of one. */
export interface Model {
  complete(messages: readonly ModelMessage[], signal: AbortSignal): Promise<ModelCompletion>;
}
