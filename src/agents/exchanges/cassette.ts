import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { Skill2RealError } from "../../contract/errors.js";
import { sha256 } from "../../contract/sha256.js";
import { foreignToolsSchema } from "../tools/settings.js";
import { type Exchange, exchangeSchema, firstDifference, hashOf, type Question } from "./exchange.js";

/** Where a run keeps what went to models and other services and came back. It holds neither key nor address. */
export const CASSETTE_FILE = "model.jsonl";
const FORMAT = "skill2real-cassette-4";

const headerSchema = z.strictObject({
  format: z.literal(FORMAT),
  policy: z.string(),
  /** Names of the models, by what they are asked as. */
  models: z.record(z.string(), z.string()),
  /** Key of the session's refs: with it, the same calls give the same refs again. */
  episode_key: z.string(),
  /** Of foreign servers, as programs could call them. */
  tools: foreignToolsSchema.optional(),
});
export type CassetteHeader = Omit<z.infer<typeof headerSchema>, "format">;

/** Puts each exchange on disk before its reply is used. */
export class CassetteWriter {
  readonly #folder: string;
  readonly #lines = new CassetteLines();

  constructor(folder: string, header: CassetteHeader) {
    this.#folder = folder;
    this.#write(this.#lines.header(header));
  }

  add(exchange: Exchange): void {
    this.#write(this.#lines.exchange(exchange));
  }

  #write(line: string): void {
    try {
      appendFileSync(join(this.#folder, CASSETTE_FILE), `${line}\n`, { mode: 0o600 });
    } catch (cause) {
      throw new Skill2RealError(
        "storage_failed",
        `the exchange with the model cannot be kept: ${(cause as Error).message}`,
        { cause },
      );
    }
  }
}

const SUM = /,"sum":"([0-9a-f]{64})"\}$/;
/** What stands before a header. */
const NO_SUM = "";

/** Of a line's content and of all lines before it, by the sum of the last of them. */
const sumOf = (before: string, json: string): string => sha256(`${before}\n${json}`);

/**
 * The lines of a cassette as they are written, one after the other. Each ends with a sum of itself and of all before it, which
 * tells lines that were changed, moved or taken out afterwards, by hand or by a disk. A missing end is not told from an end.
 */
export class CassetteLines {
  #sum = NO_SUM;

  header(header: CassetteHeader): string {
    this.#sum = NO_SUM;
    return this.#line({ format: FORMAT, ...header });
  }

  exchange(exchange: Exchange): string {
    return this.#line(exchange);
  }

  #line(content: object): string {
    const json = JSON.stringify(content);
    this.#sum = sumOf(this.#sum, json);
    return `${json.slice(0, -1)},"sum":"${this.#sum}"}`;
  }
}

/** A line without its sum, and the sum; null where none is at its end. */
function split(line: string): { json: string; sum: string } | null {
  const found = SUM.exec(line);
  return found?.[1] === undefined ? null : { json: `${line.slice(0, found.index)}}`, sum: found[1] };
}

/** Checks each line by the sum of the one before. */
function exchangesOf(lines: readonly string[]): Exchange[] {
  let before = NO_SUM;
  return lines.flatMap((line, index) => {
    const bad = (what: string): Skill2RealError =>
      new Skill2RealError("bad_config", `line ${index + 1} of the cassette ${what}`);
    const parts = split(line);
    if (!parts) throw bad("is no whole exchange");
    if (sumOf(before, parts.json) !== parts.sum)
      throw bad("is not what was recorded there: it was changed afterwards, or lines before it were taken out");
    before = parts.sum;
    if (index === 0) return [];
    const parsed = exchangeSchema.safeParse(parseLine(parts.json));
    if (!parsed.success) throw bad(`is no exchange: ${parsed.error.issues[0]?.message}`);
    return [parsed.data];
  });
}

/** Whether the last line is only half there, as a run leaves it that is killed while it writes. Nobody used that reply. */
export function isTorn(cassette: string): boolean {
  const last = lastLine(cassette);
  return last !== "" && cassette.includes("\n") && !SUM.test(last);
}

/** What stands behind the last end of a line; lines are ended as they are written. */
const lastLine = (cassette: string): string => cassette.slice(cassette.lastIndexOf("\n") + 1);

/** What a cassette is of; throws `bad_config` for what is none, or was changed there after it was made. */
export function cassetteHeader(cassette: string): CassetteHeader {
  const parts = split(cassette.split("\n", 1)[0] ?? "");
  const parsed = headerSchema.safeParse(parts && parseLine(parts.json));
  if (!parts || !parsed.success)
    throw new Skill2RealError("bad_config", `this is no cassette of ${FORMAT}: its first line is not a header`);
  if (sumOf(NO_SUM, parts.json) !== parts.sum)
    throw new Skill2RealError(
      "bad_config",
      "line 1 of the cassette is not what was recorded: it was changed afterwards",
    );
  const { format: _, ...header } = parsed.data;
  return header;
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

export type CassetteOptions = {
  /** Content of a cassette. */
  cassette: string;
  /** Of the episode that asks; null: whatever it is (its calls and pixels are compared one by one anyway). */
  policy: string | null;
  /** Compares pixels as well. */
  strict: boolean;
};

/** Gives what was recorded, request by request of each kind. Stops at the first one that is not there, with what is different. */
export class CassetteReader {
  readonly #exchanges: readonly Exchange[];
  readonly #strict: boolean;
  readonly #torn: boolean;
  /** How many of each kind have been given. */
  readonly #given = new Map<string, number>();

  private constructor(exchanges: readonly Exchange[], strict: boolean, torn: boolean) {
    this.#exchanges = exchanges;
    this.#strict = strict;
    this.#torn = torn;
  }

  /**
   * Throws `bad_config` for what is no cassette or was changed after it was made, `diverged` for one of another policy. A last line
   * that is only half there is left out.
   */
  static open({ cassette, policy, strict }: CassetteOptions): CassetteReader {
    const header = cassetteHeader(cassette);
    if (policy !== null && header.policy !== policy)
      throw new Skill2RealError(
        "diverged",
        `the cassette was made under another policy (${header.policy.slice(0, 12)}, now ${policy.slice(0, 12)}): "skill2real config --diff" says what changed`,
      );
    const torn = isTorn(cassette);
    const whole = torn ? cassette.slice(0, cassette.lastIndexOf("\n")) : cassette;
    const exchanges = exchangesOf(whole.replace(/\n+$/, "").split("\n"));
    return new CassetteReader(exchanges, strict, torn);
  }

  /** Everything that was recorded of a kind has been given. What a budget of time ended was not answered. */
  isOver(kind: string): boolean {
    const next = this.#of(kind)[this.#given.get(kind) ?? 0];
    return next === undefined || next.failure?.code === "budget_ended";
  }

  take({ kind, request, pixels }: Question): Exchange {
    const recorded = this.#of(kind);
    const given = this.#given.get(kind) ?? 0;
    const exchange = recorded[given];
    const what = `${kind === "proposer" ? "" : `${kind}: `}request ${given + 1}`;
    if (!exchange)
      throw new Skill2RealError(
        "diverged",
        `${what} is not in the cassette, which ends after ${recorded.length} replies${kind === "proposer" ? "" : ` of the ${kind}`}${this.#torn ? "; its last line was not written to its end and is left out" : ""}`,
      );
    if (exchange.hash !== hashOf(request))
      throw new Skill2RealError(
        "diverged",
        `${what} is not the recorded one: ${firstDifference(exchange.request, request)}`,
      );
    const other = this.#strict ? pixels.findIndex((sum, at) => sum !== exchange.pixels[at]) : -1;
    if (other >= 0)
      throw new Skill2RealError("diverged", `${what}: the pixels of image ${other + 1} are not the recorded ones`);
    this.#given.set(kind, given + 1);
    return exchange;
  }

  #of(kind: string): Exchange[] {
    return this.#exchanges.filter((exchange) => exchange.kind === kind);
  }
}
