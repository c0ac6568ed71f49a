import type { ModelMessage } from "./messages.js";

/** Name of the estimate below. It belongs to a run's identity: another estimate trims otherwise. */
export const ESTIMATOR = "utf8/3+patch28";

/**
 * Tokens of messages, from above for usual text: one per 3 bytes of UTF-8, one per started patch of 28 x 28 pixels of an
 * image, and 8 per message. It depends on no endpoint, so that what a model is shown is the same everywhere.
 */
export function estimateTokens(messages: readonly ModelMessage[]): number {
  let tokens = 0;
  for (const { parts } of messages) {
    tokens += 8;
    for (const part of parts)
      tokens +=
        part.type === "text"
          ? Math.ceil(Buffer.byteLength(part.text) / 3)
          : Math.ceil(part.width / 28) * Math.ceil(part.height / 28);
  }
  return tokens;
}
