import type { ModelCompletion } from "./model.js";
import type { ModelSettings } from "./settings.js";

/** What an episode took of its model. */
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

/** Adds up, and says which budget has ended. */
export class Accountant {
  readonly account: ModelAccount;
  readonly #settings: ModelSettings;
  readonly #began = performance.now();

  constructor(settings: ModelSettings) {
    this.#settings = settings;
    const cost = settings.price_in === undefined && settings.price_out === undefined ? null : 0;
    this.account = {
      model: settings.model,
      calls: 0,
      tokens_in: 0,
      tokens_out: 0,
      counted: true,
      cost,
      latency_ms: 0,
      troubles: {},
    };
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

  /** The budget that has ended, in words, or null. */
  spent(): string | null {
    const { calls, tokens_in, tokens_out, cost } = this.account;
    const { budget_calls, budget_tokens, budget_money, budget_wait_s } = this.#settings;
    if (calls >= budget_calls) return `${budget_calls} calls of the model are used up`;
    if (budget_tokens !== undefined && tokens_in + tokens_out >= budget_tokens)
      return `${budget_tokens} tokens of the model are used up (${tokens_in + tokens_out})`;
    if (budget_money !== undefined && cost !== null && cost >= budget_money)
      return `${budget_money} of money for the model are used up (${cost.toFixed(4)})`;
    const waited_s = (performance.now() - this.#began) / 1e3;
    if (budget_wait_s !== undefined && waited_s >= budget_wait_s)
      return `${budget_wait_s} s of time with the model are used up`;
    return null;
  }
}
