import { z } from "zod";

/** What a header can carry. The message shows nothing of the key. */
export const keySchema = z
  .string()
  .min(1)
  .max(10_000)
  .regex(/^[\x21-\x7e]+$/, "the key holds a character that no key has (a space, a line's end, a letter outside ASCII)");

/** Keys that are shorter are nobody's secret ("none", "ollama"), and may be words of a reply. */
const SHORTEST_SECRET = 8;

/** A text of the endpoint's without the key, which some endpoints say back: what they say is shown and kept. */
export const withoutKey = (text: string, key: string | undefined): string =>
  key === undefined || key.length < SHORTEST_SECRET ? text : text.replaceAll(key, "[key]");
