import { Skill2RealError } from "../../contract/errors.js";
import { sha256 } from "../../contract/sha256.js";

export type Plain = null | boolean | number | string | readonly Plain[] | { readonly [key: string]: Plain | undefined };

/**
 * JSON with sorted keys and no spaces (RFC 8785 for the values that we have: finite numbers as JavaScript prints them). Keys
 * whose value is undefined are left out. Equal values give equal text.
 */
export function canonicalJson(value: Plain): string {
  if (value === null || typeof value === "boolean" || typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new Skill2RealError("bad_argument", `${value} has no place in canonical JSON`);
    return JSON.stringify(Object.is(value, -0) ? 0 : value);
  }
  if (Array.isArray(value)) return `[${(value as readonly Plain[]).map(canonicalJson).join(",")}]`;
  const entries = Object.entries(value as { [key: string]: Plain | undefined })
    .filter((entry): entry is [string, Plain] => entry[1] !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, one]) => `${JSON.stringify(key)}:${canonicalJson(one)}`).join(",")}}`;
}

/** SHA-256 of the canonical JSON, in hex. */
export const digestOf = (value: Plain): string => sha256(canonicalJson(value));
