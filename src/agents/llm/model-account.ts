import { Stopwatch } from "../stopwatch.js";
import type { TimeLimit } from "../time-limits.js";
import type { ModelCompletion } from "./model.js";

/** What an episode took of a model. */
export type ModelAccount = {
  model: string;
  calls: number;
  tokens_in: number;
  tokens_out: number;
  /** False where some of the tokens are estimated. */
  counted: boolean;
  cost: number | null;
  latency_ms: number;
  /** How often each trouble came, by code; unusable replies too. */
  troubles: Record<string, number>;
};

/** What an episode took of the model that decides, and of the vision model that answers for services; null where it has none. */
export type EpisodeAccounts = { model: ModelAccount | null; services: ModelAccount | null };

export type AccountantOptions = {
  model: string;
  price_in?: number | undefined;
  price_out?: number | undefined;
  budget_calls: number;
  budget_tokens?: number | undefined;
  budget_money?: number | undefined;
  budget_wait_s?: number | undefined;
};

/** Adds up, and says which budget has ended. */
export class Accountant {
  readonly account: ModelAccount;
  readonly #options: AccountantOptions;
  readonly #whose: string;
  readonly #besides: Accountant | null;
  readonly #stopwatch: Stopwatch;
  /** What the stopwatch showed at the first question. */
  #asked_s: number | null = null;

  /** `besides` is an account that draws on the same budgets; `whose` is how messages name the budgets; `stopwatch` is the episode's. */
  constructor(
    options: AccountantOptions,
    whose = "the model",
    besides: Accountant | null = null,
    stopwatch = new Stopwatch(),
  ) {
    this.#stopwatch = stopwatch;
    this.#options = options;
    this.#whose = whose;
    this.#besides = besides;
    const cost = options.price_in === undefined && options.price_out === undefined ? null : 0;
    this.account = {
      model: options.model,
      calls: 0,
      tokens_in: 0,
      tokens_out: 0,
      counted: true,
      cost,
      latency_ms: 0,
      troubles: {},
    };
  }

  /** To be called before each question: the budget of time runs from the first one on. */
  asks(): void {
    this.#asked_s ??= this.#stopwatch.elapsed_s;
  }

  add({ usage, latency_ms, cost, troubles }: ModelCompletion): void {
    const { account } = this;
    account.calls += 1;
    account.tokens_in += usage.tokens_in;
    account.tokens_out += usage.tokens_out;
    account.counted &&= usage.counted;
    account.latency_ms += latency_ms;
    if (account.cost !== null) account.cost += cost ?? 0;
    for (const code of troubles) this.trouble(code);
  }

  trouble(code: string): void {
    this.account.troubles[code] = (this.account.troubles[code] ?? 0) + 1;
  }

  /** The budgets of time, which can end while a reply is waited for. */
  limits(): TimeLimit[] {
    const { budget_wait_s } = this.#options;
    if (budget_wait_s === undefined) return [];
    const words = `${budget_wait_s} s of the time of ${this.#whose} are used up`;
    const { elapsed_s } = this.#stopwatch;
    return [{ left_s: budget_wait_s - (elapsed_s - (this.#asked_s ?? elapsed_s)), words }];
  }

  /** The budget that has ended, in words, or null. */
  spent(): string | null {
    const { budget_calls, budget_tokens, budget_money } = this.#options;
    const accounts = [this.account, ...(this.#besides ? [this.#besides.account] : [])];
    const sum = (pick: (account: ModelAccount) => number): number =>
      accounts.reduce((total, account) => total + pick(account), 0);
    const calls = sum((account) => account.calls);
    const tokens = sum(({ tokens_in, tokens_out }) => tokens_in + tokens_out);
    const money = sum(({ cost }) => cost ?? 0);
    const others = this.#besides?.account.calls ?? 0;
    const with_others = others === 0 ? "" : `; ${others} of ${calls} replies are the vision model's`;
    const used_up = (what: string, taken: string): string =>
      `${what} of ${this.#whose} are used up${taken}${with_others}`;
    if (calls >= budget_calls) return used_up(`${budget_calls} calls`, "");
    if (budget_tokens !== undefined && tokens >= budget_tokens)
      return used_up(`${budget_tokens} tokens`, ` (${tokens})`);
    if (budget_money !== undefined && money >= budget_money)
      return used_up(`${budget_money} of the money`, ` (${money.toFixed(4)})`);
    return this.limits().find(({ left_s }) => left_s <= 0)?.words ?? null;
  }
}
