import { isSkill2RealError, Skill2RealError } from "../../contract/errors.js";
import { type Exchanges, troublesOf } from "../exchanges/exchanges.js";
import { ExchangedModel } from "../llm/exchanged-model.js";
import { LiveModel } from "../llm/live-model.js";
import type { ModelMessage } from "../llm/messages.js";
import type { Model, ModelCompletion } from "../llm/model.js";
import type { Accountant } from "../llm/model-account.js";
import { modelSettingsSchema } from "../llm/settings.js";
import { type TimeLimit, withinLimits } from "../time-limits.js";
import type { ServiceRole, ServiceSettings } from "./settings.js";

/** One further try, as a question whose answer is of no use gets one. */
const RETRIES = 1;

/** A vision model behind an endpoint, as services ask it. */
export function visionModel(settings: NonNullable<ServiceSettings["model"]>): Model {
  const { base_url, model, api_key, coordinates, max_tokens, timeout_s, price_in, price_out } = settings;
  const known = modelSettingsSchema.parse({
    ...{ base_url, model, coordinates, max_tokens, timeout_s, idle_s: timeout_s, tools: "off", stream: false },
    retries: RETRIES,
    max_wait_s: timeout_s,
    ...(api_key === undefined ? {} : { api_key }),
    ...(price_in === undefined ? {} : { price_in }),
    ...(price_out === undefined ? {} : { price_out }),
  });
  return new LiveModel({ settings: known, folder: ".", tools: [] });
}

export type ServiceEpisode = {
  settings: NonNullable<ServiceSettings["model"]>;
  exchanges: Exchanges;
  accountant: Accountant;
  /** Another budget that ends questions too, in words once it has ended. */
  alsoSpent: () => string | null;
  /** Budgets of time that end a question under way. */
  limits: () => TimeLimit[];
  signal: AbortSignal;
};

/**
 * Where the questions of services go in the episode under way: its recording, its account and its stop. Skills are loaded once
 * for many episodes, and ask here.
 */
export class ServiceDesk {
  #episode: (ServiceEpisode & { live: Model }) | null = null;
  #refused: string | null = null;

  begin(episode: ServiceEpisode): void {
    this.#episode = { ...episode, live: visionModel(episode.settings) };
    this.#refused = null;
  }

  end(): void {
    this.#episode = null;
    this.#refused = null;
  }

  /** The budget for want of which a question was refused or given up, in words, or null. */
  get refused(): string | null {
    return this.#refused;
  }

  /** Throws `budget_ended`, `diverged`, `stopped`, or a code that begins with `model_`. */
  async ask(role: ServiceRole, messages: readonly ModelMessage[]): Promise<ModelCompletion> {
    if (!this.#episode) throw new Skill2RealError("internal", "a service was asked outside of an episode");
    const { exchanges, accountant, alsoSpent, limits, live, signal } = this.#episode;
    this.#refused = accountant.spent() ?? alsoSpent();
    if (this.#refused !== null) throw new Skill2RealError("budget_ended", this.#refused);
    const model = new ExchangedModel({ kind: role, survives: true, exchanges, live, folder: "." });
    try {
      const all = [...accountant.limits(), ...limits()];
      const completion = await withinLimits(all, signal, (within) => model.complete(messages, within));
      accountant.add(completion);
      return completion;
    } catch (error) {
      for (const code of troublesOf(error)) accountant.trouble(code);
      if (isSkill2RealError(error, "budget_ended")) this.#refused = error.message;
      throw error;
    }
  }
}
