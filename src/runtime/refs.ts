import { createHmac, randomBytes } from "node:crypto";
import { OperationFailure } from "./operation.js";

const TAG_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789";
const TAG_LENGTH = 4;

export type RefKind = "obs" | "depth" | "mask";
const KIND_WORDS: Record<RefKind, string> = { obs: "observation", depth: "depth", mask: "mask" };

/** A key for the tags of one session's refs; kept in the trace, so that a replay gives the same refs. */
export const newRefKey = (): string => randomBytes(16).toString("hex");

/**
 * Gives out refs ("obs_3_k7f2": kind, ordinal, tag) and resolves them. The tag is keyed, so that a ref that was never given
 * out does not resolve even when its ordinal exists.
 */
export class RefStore {
  readonly #key: string;
  readonly #values = new Map<string, unknown>();
  #closed = false;
  readonly #counts: Record<RefKind, number> = { obs: 0, depth: 0, mask: 0 };

  constructor(key: string) {
    this.#key = key;
  }

  add(kind: RefKind, value: unknown): string {
    this.#counts[kind] += 1;
    const ref = `${kind}_${this.#counts[kind]}_${this.#tag(kind, this.#counts[kind])}`;
    this.#values.set(ref, value);
    return ref;
  }

  /** Ends the life of every ref. */
  close(): void {
    this.#closed = true;
    this.#values.clear();
  }

  /** Throws `unknown_ref` (or `expired_ref` after the session's end); the message says whether the kind is wrong, the ref invented, or of another session. */
  get<T>(kind: RefKind, ref: string, field: string): T {
    if (this.#closed)
      throw new OperationFailure(
        "expired_ref",
        `${field}: the session that gave out ${JSON.stringify(ref)} has ended; open a session and observe again`,
      );
    const value = ref.startsWith(`${kind}_`) ? this.#values.get(ref) : undefined;
    if (value !== undefined) return value as T;
    const shown = JSON.stringify(ref.length > 40 ? `${ref.slice(0, 40)}…` : ref);
    const known = this.#values.has(ref);
    const reason = known
      ? `is a ${KIND_WORDS[ref.split("_")[0] as RefKind]} ref; ${field} needs a ${KIND_WORDS[kind]} ref`
      : "was not given out in this session; copy refs from results, never make them up";
    throw new OperationFailure("unknown_ref", `${field}: ${shown} ${reason}`);
  }

  #tag(kind: RefKind, ordinal: number): string {
    const digest = createHmac("sha256", this.#key).update(`${kind}:${ordinal}`).digest();
    return Array.from(digest.subarray(0, TAG_LENGTH), (byte) => TAG_ALPHABET[byte % TAG_ALPHABET.length]).join("");
  }
}
