import { COLOUR_NAMES, type ColourName } from "./colours.js";

export const KINDS = ["box", "cylinder", "can", "ball", "tray", "bowl", "mat"] as const;
export type Kind = (typeof KINDS)[number];

const KIND_WORDS: Record<string, Kind> = {
  box: "box",
  block: "box",
  cube: "box",
  brick: "box",
  cylinder: "cylinder",
  can: "can",
  tin: "can",
  ball: "ball",
  sphere: "ball",
  tray: "tray",
  bowl: "bowl",
  dish: "bowl",
  mat: "mat",
  pad: "mat",
};
const ANY_WORDS = new Set(["object", "thing", "item", "one"]);
const FILLERS = new Set(["the", "a", "an", "that", "this", "coloured", "colored"]);

export type Query = { colour: ColourName | null; kind: Kind | null };

/** Colour and kind in some words; null with the word that was not understood, since guessing past it would be a guess. */
export function parseQuery(query: string): { ok: true; query: Query } | { ok: false; word: string } {
  const found: Query = { colour: null, kind: null };
  let any = false;
  for (const word of query
    .toLowerCase()
    .replace(/[^a-z\s-]/g, " ")
    .split(/\s+/)
    .filter(Boolean)) {
    const colour = COLOUR_NAMES.find((name) => name === word || (name === "purple" && word === "violet"));
    if (FILLERS.has(word)) continue;
    if (colour && found.colour === null) found.colour = colour;
    else if (KIND_WORDS[word] && found.kind === null) found.kind = KIND_WORDS[word];
    else if (ANY_WORDS.has(word)) any = true;
    else return { ok: false, word };
  }
  if (found.colour === null && found.kind === null && !any) return { ok: false, word: query.trim() || "(nothing)" };
  return { ok: true, query: found };
}
