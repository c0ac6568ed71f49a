import { isSkill2RealError, Skill2RealError } from "../../contract/errors.js";
import { type CassetteHeader, type CassetteOptions, CassetteReader, CassetteWriter } from "./cassette.js";
import { type Answer, type Exchange, hashOf, type Question } from "./exchange.js";

export type ExchangesOptions = {
  /** What is asked is kept in `folder`; left out: nothing is kept. */
  record?: CassetteHeader & { folder: string };
  /** Answers in place of whoever would be asked; with `onward` they are asked where the recording of their kind ends. */
  replay?: CassetteOptions & { onward?: boolean | undefined };
};

/** Everything that one episode asks outside of it: asked or answered from a recording, and kept either way. */
export class Exchanges {
  readonly #writer: CassetteWriter | null;
  #reader: CassetteReader | null;
  readonly #onward: boolean;
  #mayPart = false;

  /** Throws what CassetteReader.open throws. */
  constructor({ record, replay }: ExchangesOptions) {
    this.#reader = replay ? CassetteReader.open(replay) : null;
    this.#onward = replay?.onward ?? false;
    if (record) {
      const { folder, ...header } = record;
      this.#writer = new CassetteWriter(folder, header);
    } else this.#writer = null;
  }

  /**
   * From here on the episode is no repetition: what is asked may be another than what was recorded, where a clock ended something
   * then and does not now. The first such question ends the recording.
   */
  mayPart(): void {
    this.#mayPart = true;
  }

  /** `live` is not called where a recording answers. Throws what it throws, `diverged` for what was not recorded. */
  async ask(question: Question, live: () => Promise<Answer>): Promise<Answer> {
    const reader = this.#onward && this.#reader?.isOver(question.kind) ? null : this.#reader;
    const exchange = (reader && this.#recorded(reader, question)) ?? (await asked(question, live));
    this.#writer?.add(exchange);
    if (exchange.failure)
      throw new Skill2RealError(exchange.failure.code, exchange.failure.message, {
        details: { troubles: exchange.troubles },
      });
    return exchange;
  }

  #recorded(reader: CassetteReader, question: Question): Exchange | null {
    try {
      return reader.take(question);
    } catch (error) {
      if (!this.#mayPart || !isSkill2RealError(error, "diverged")) throw error;
      this.#reader = null;
      return null;
    }
  }
}

async function asked({ kind, request, pixels, survives }: Question, live: () => Promise<Answer>): Promise<Exchange> {
  const began = performance.now();
  const known = { kind, hash: hashOf(request), pixels: [...pixels], request };
  try {
    const { reply, usage, latency_ms, cost, troubles } = await live();
    return { ...known, reply, failure: null, usage, latency_ms, cost, troubles: [...troubles] };
  } catch (error) {
    if (!isSkill2RealError(error) || error.code === "stopped") throw error;
    // A budget of time ends a replay where it ended the episode, however fast the replay is.
    if (!survives && error.code !== "budget_ended") throw error;
    return {
      ...known,
      reply: null,
      failure: { code: error.code, message: error.message },
      usage: null,
      latency_ms: performance.now() - began,
      cost: null,
      troubles: troublesOf(error),
    };
  }
}

/** The failed tries that an error stands for, by code; none where it is nobody's failure but ours. */
export function troublesOf(error: unknown): string[] {
  if (!isSkill2RealError(error)) return [];
  const { troubles } = error.details;
  if (Array.isArray(troubles)) return troubles.map(String);
  return error.code.startsWith("model_") ? [error.code] : [];
}
