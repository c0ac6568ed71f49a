import { closest, distance } from "fastest-levenshtein";

/** " Did you mean \"x\"?" for a misspelled name, or an empty string when nothing is near. */
export function suggest(name: string, known: readonly string[]): string {
  if (known.length === 0) return "";
  const best = closest(name, known as string[]);
  return distance(name, best) <= Math.max(2, Math.floor(name.length / 3)) ? ` Did you mean "${best}"?` : "";
}
