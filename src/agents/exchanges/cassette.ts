import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { Skill2RealError } from "../../contract/errors.js";
import { foreignToolsSchema } from "../tools/settings.js";
import { type Exchange, exchangeSchema, firstDifference, hashOf, type Question, sha256 } from "./exchange.js";

/** Where a run keeps what went to models and other services and came back. It holds neither key nor address. */
export const CASSETTE_FILE = "model.jsonl";
const FORMAT = "skill2real-cassette-3";

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

  constructor(folder: string, header: CassetteHeader) {
    this.#folder = folder;
    this.#write(JSON.stringify({ format: FORMAT, ...header }));
  }

  add(exchange: Exchange): void {
    this.#write(exchangeLine(exchange));
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

/** An exchange as a line of a cassette. Its sum tells a line that was changed afterwards, by hand or by a disk. */
export function exchangeLine(exchange: Exchange): string {
  const json = JSON.stringify(exchange);
  return `${json.slice(0, -1)},"sum":"${sha256(json)}"}`;
}

function exchangeOf(line: string, number: number): Exchange {
  const bad = (what: string): Skill2RealError =>
    new Skill2RealError("bad_config", `line ${number} of the cassette ${what}`);
  const sum = SUM.exec(line);
  if (!sum) throw bad("is no whole exchange");
  const json = `${line.slice(0, sum.index)}}`;
  if (sha256(json) !== sum[1]) throw bad("is not what was recorded: it was changed afterwards");
  const parsed = exchangeSchema.safeParse(parseLine(json));
  if (!parsed.success) throw bad(`is no exchange: ${parsed.error.issues[0]?.message}`);
  return parsed.data;
}

/** Whether the last line is only half there, as a run leaves it that is killed while it writes. Nobody used that reply. */
export function isTorn(cassette: string): boolean {
  const last = lastLine(cassette);
  return last !== "" && cassette.includes("\n") && !SUM.test(last);
}

/** What stands behind the last end of a line; lines are ended as they are written. */
const lastLine = (cassette: string): string => cassette.slice(cassette.lastIndexOf("\n") + 1);

/** What a cassette is of; throws `bad_config` for what is none. */
export function cassetteHeader(cassette: string): CassetteHeader {
  const parsed = headerSchema.safeParse(parseLine(cassette.split("\n", 1)[0] ?? ""));
  if (parsed.success) return parsed.data;
  throw new Skill2RealError("bad_config", `this is no cassette of ${FORMAT}: its first line is not a header`);
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
    const exchanges = whole
      .split("\n")
      .flatMap((line, index) => (index === 0 || line === "" ? [] : [exchangeOf(line, index + 1)]));
    return new CassetteReader(exchanges, strict, torn);
  }

  /** Everything that was recorded of a kind has been given. What a budget of time ended was not answered. */
  isOver(kind: string): boolean {
    const next = this.#exchanges.filter((exchange) => exchange.kind === kind)[this.#given.get(kind) ?? 0];
    return next === undefined || next.failure?.code === "budget_ended";
  }

  take({ kind, request, pixels }: Question): Exchange {
    const recorded = this.#exchanges.filter((exchange) => exchange.kind === kind);
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
}
