import { z } from "zod";
import { ERROR_CODES, type ErrorCode } from "../../contract/error-codes.js";
import { sha256 } from "../../contract/sha256.js";

const code = z.custom<ErrorCode>((value) => typeof value === "string" && value in ERROR_CODES);
const usageSchema = z.strictObject({ tokens_in: z.number(), tokens_out: z.number(), counted: z.boolean() });

/**
 * What an episode asked of somebody outside of it, and what came back: of a language model in the role of Proposer, of a vision
 * model behind a service, or of whatever else answers. Neither key nor address is in it.
 */
export const exchangeSchema = z.strictObject({
  /** Who was asked: "proposer", "pointer", "segmenter", "verifier"… Each kind has an order of its own. */
  kind: z.string().regex(/^[a-z][a-z0-9_]*$/),
  /** Of the request. */
  hash: z.string(),
  /** SHA-256 of each image, in the order of the request, which names them by view and ordinal. */
  pixels: z.array(z.string()),
  request: z.json(),
  /** Null where there was none. */
  reply: z.json(),
  /** Why there was no reply, where the episode went on without one or a budget of time ended it. */
  failure: z.strictObject({ code, message: z.string() }).nullable(),
  /** Null where nobody counts tokens. */
  usage: usageSchema.nullable(),
  latency_ms: z.number(),
  /** In the currency of the configured prices; null where there are none. */
  cost: z.number().nullable(),
  /** Tries that failed before, by code. */
  troubles: z.array(z.string()),
});
export type Exchange = z.infer<typeof exchangeSchema>;
export type Json = Exchange["request"];

/** A request before it is asked. */
export type Question = {
  kind: string;
  request: Json;
  pixels: readonly string[];
  /** Whether the episode goes on after a failure, which a replay then needs too; else one of the endpoint's ends it and is not kept. */
  survives: boolean;
};
export type Answer = Pick<Exchange, "reply" | "usage" | "latency_ms" | "cost"> & { troubles: readonly string[] };

export const hashOf = (request: Json): string => sha256(JSON.stringify(request));

const messagesSchema = z.array(z.strictObject({ role: z.string(), content: z.string() }));

/** Where two requests part, with some words of both. */
export function firstDifference(recorded: Json, now: Json): string {
  const messages = [messagesSchema.safeParse(recorded), messagesSchema.safeParse(now)] as const;
  if (!messages[0].success || !messages[1].success)
    return lineDifference(JSON.stringify(recorded, null, 1), JSON.stringify(now, null, 1));
  const [before, after] = [messages[0].data, messages[1].data];
  for (let at = 0; at < Math.max(before.length, after.length); at += 1) {
    const [was, is] = [before[at], after[at]];
    if (!was || !is) return `it has ${after.length} messages, recorded were ${before.length}`;
    if (was.role !== is.role) return `message ${at + 1} is of ${is.role}, recorded was ${was.role}`;
    if (was.content !== is.content) return `message ${at + 1} (${is.role}), ${lineDifference(was.content, is.content)}`;
  }
  return "nothing differs";
}

function lineDifference(recorded: string, now: string): string {
  const [before, after] = [recorded.split("\n"), now.split("\n")];
  const line = after.findIndex((text, index) => text !== before[index]);
  const where = line < 0 ? after.length : line;
  const words = (text: string | undefined): string =>
    text === undefined ? "nothing" : JSON.stringify(text.slice(0, 160));
  return `line ${where + 1}: now ${words(after[where])}, recorded ${words(before[where])}`;
}
