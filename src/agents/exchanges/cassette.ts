import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { Skill2RealError } from "../../contract/errors.js";
import { foreignToolsSchema } from "../tools/settings.js";
import { type Exchange, exchangeSchema, firstDifference, hashOf, type Question } from "./exchange.js";

/** Where a run keeps what went to models and other services and came back. It holds neither key nor address. */
export const CASSETTE_FILE = "model.jsonl";
const FORMAT = "skill2real-cassette-2";

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
    this.#write({ format: FORMAT, ...header });
  }

  add(exchange: Exchange): void {
    this.#write(exchange);
  }

  #write(line: unknown): void {
    try {
      appendFileSync(join(this.#folder, CASSETTE_FILE), `${JSON.stringify(line)}\n`, { mode: 0o600 });
    } catch (cause) {
      throw new Skill2RealError(
        "storage_failed",
        `the exchange with the model cannot be kept: ${(cause as Error).message}`,
        { cause },
      );
    }
  }
}

/** What a cassette is of; throws `bad_config` for what is none. */
export function cassetteHeader(cassette: string): CassetteHeader {
  const parsed = headerSchema.safeParse(parseLine(cassette.split("\n", 1)[0] ?? ""));
  if (!parsed.success) throw new Skill2RealError("bad_config", "this is no cassette: its first line is not a header");
  return parsed.data;
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
  /** How many of each kind have been given. */
  readonly #given = new Map<string, number>();

  private constructor(exchanges: readonly Exchange[], strict: boolean) {
    this.#exchanges = exchanges;
    this.#strict = strict;
  }

  /** Throws `bad_config` for what is no cassette, `diverged` for one of another policy. */
  static open({ cassette, policy, strict }: CassetteOptions): CassetteReader {
    const lines = cassette.split("\n").filter((line) => line !== "");
    try {
      const header = headerSchema.parse(JSON.parse(lines[0] ?? "null"));
      if (policy !== null && header.policy !== policy)
        throw new Skill2RealError(
          "diverged",
          `the cassette was made under another policy (${header.policy.slice(0, 12)}, now ${policy.slice(0, 12)}): "skill2real config --diff" says what changed`,
        );
      return new CassetteReader(
        lines.slice(1).map((line) => exchangeSchema.parse(JSON.parse(line))),
        strict,
      );
    } catch (cause) {
      if (cause instanceof Skill2RealError) throw cause;
      throw new Skill2RealError("bad_config", `this is no cassette: ${(cause as Error).message.slice(0, 300)}`, {
        cause,
      });
    }
  }

  /** Everything that was recorded of a kind has been given. */
  isOver(kind: string): boolean {
    const recorded = this.#exchanges.filter((exchange) => exchange.kind === kind);
    return (this.#given.get(kind) ?? 0) >= recorded.length;
  }

  take({ kind, request, pixels }: Question): Exchange {
    const recorded = this.#exchanges.filter((exchange) => exchange.kind === kind);
    const given = this.#given.get(kind) ?? 0;
    const exchange = recorded[given];
    const what = `${kind === "proposer" ? "" : `${kind}: `}request ${given + 1}`;
    if (!exchange)
      throw new Skill2RealError(
        "diverged",
        `${what} is not in the cassette, which ends after ${recorded.length} replies${kind === "proposer" ? "" : ` of the ${kind}`}`,
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
