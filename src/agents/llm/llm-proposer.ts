import type { ChatCompletionTool } from "openai/resources/chat/completions";
import { isSkill2RealError } from "../../contract/errors.js";
import { type CheckResult, formatDiagnostics } from "../../program/index.js";
import { troublesOf } from "../exchanges/exchanges.js";
import { CLAIMS, type Decision, type Proposer, type ProposerContext } from "../proposer.js";
import { claimOf } from "../script-proposer.js";
import { withinLimits } from "../time-limits.js";
import { buildPrompt, type FixedParts } from "./build-prompt.js";
import { NORM1000_FUNCTIONS, requestInPixels, sizeFor } from "./coordinates.js";
import { type ModelMessage, type ModelReply, textMessage } from "./messages.js";
import type { Model, ModelCompletion } from "./model.js";
import type { Accountant } from "./model-account.js";
import { type ReadReply, readDirectReply, readProgramReply } from "./read-reply.js";
import type { ModelSettings } from "./settings.js";

/** What a model is offered where the endpoint has tools. */
export const TOOLS: ChatCompletionTool[] = [
  {
    type: "function",
    function: {
      name: "run_program",
      description: "Runs one TypeScript program on the robot as the next stage.",
      parameters: {
        type: "object",
        properties: {
          program: { type: "string", description: "The body of one async function, in TypeScript." },
          purpose: { type: "string", description: "What it is for, in a sentence." },
        },
        required: ["program"],
        additionalProperties: false,
      },
    },
  },
  {
    type: "function",
    function: {
      name: "finish",
      description: "Ends the episode.",
      parameters: {
        type: "object",
        properties: {
          claim: { type: "string", enum: [...CLAIMS] },
          evidence: { type: "string", description: "What was seen that supports it." },
        },
        required: ["claim", "evidence"],
        additionalProperties: false,
      },
    },
  },
];

export type LlmProposerOptions = {
  settings: ModelSettings;
  model: Model;
  accountant: Accountant;
  fixed: FixedParts;
  /** Checks a program as a stage would, so that one that does not pass can go back to the model. */
  check: (program: string, fileName: string) => Promise<CheckResult>;
  /** Memory entries that the prompt shows. */
  entries: readonly string[];
  signal: AbortSignal;
  onEvent?: (kind: string, details: Record<string, unknown>) => void;
};

/** Results of the last operations that the modes without programs show. */
const DIRECT_STAGES = 3;
const USES = /^[ \t]*\/\/[ \t]*uses:[ \t]*(.+)$/im;

/**
 * A language model. Each decision is at most `1 + repairs` replies: one that is no usable program goes back with what is wrong.
 * Troubles of the endpoint throw with their code; replies that stay unusable end the episode as the Proposer's own failure.
 */
export class LlmProposer implements Proposer {
  readonly kind = "llm";
  readonly #options: LlmProposerOptions;
  readonly #accountant: Accountant;
  #notes = "";

  constructor(options: LlmProposerOptions) {
    this.#options = options;
    this.#accountant = options.accountant;
  }

  /** A budget of time that ends while a reply is waited for ends that wait, and the episode. */
  async next(context: ProposerContext): Promise<Decision> {
    try {
      const signal = AbortSignal.any([this.#options.signal, context.signal]);
      this.#accountant.asks();
      return await withinLimits(this.#accountant.limits(), signal, (within) => this.#next(context, within));
    } catch (error) {
      if (isSkill2RealError(error, "budget_ended")) return { budget: error.message };
      throw error;
    }
  }

  async #next(context: ProposerContext, signal: AbortSignal): Promise<Decision> {
    const { settings } = this.#options;
    const last = context.stages.at(-1);
    if (settings.interaction === "program-once" && last && last.stage > 0) return claimOf(last.end);
    const messages = this.#prompt(context);
    for (let attempt = 0; ; attempt += 1) {
      const spent = this.#accountant.spent();
      if (spent !== null) return { budget: spent };
      const completion = await this.#asked(messages, signal);
      const decided = await this.#decide(completion.reply, context);
      if ("decision" in decided && (decided.problem === undefined || attempt >= settings.repairs))
        return decided.decision;
      if (attempt >= settings.repairs)
        return {
          finish: "execution_failure",
          evidence: `${decided.code}: the model gave no usable reply in ${attempt + 1} tries`,
        };
      messages.push(textMessage("assistant", spoken(completion.reply)), textMessage("user", decided.problem ?? ""));
    }
  }

  async #asked(messages: readonly ModelMessage[], signal: AbortSignal): Promise<ModelCompletion> {
    try {
      const completion = await this.#options.model.complete(messages, signal);
      this.#accountant.add(completion);
      return completion;
    } catch (error) {
      for (const code of troublesOf(error)) this.#accountant.trouble(code);
      throw error;
    }
  }

  #prompt(context: ProposerContext): ModelMessage[] {
    const { settings, fixed } = this.#options;
    const direct = settings.interaction === "direct" || settings.interaction === "direct-notes";
    const messages = buildPrompt(context, {
      fixed,
      tokens: settings.context_tokens - settings.max_tokens,
      coordinates: settings.coordinates,
      images: settings.images,
      start_s: context.stages[0]?.start_s ?? 0,
      ...(direct ? { last: DIRECT_STAGES } : {}),
    });
    if (settings.interaction === "direct-notes")
      messages.push(textMessage("user", this.#notes === "" ? "You have no notes yet." : `Your notes:\n${this.#notes}`));
    return messages;
  }

  /** A decision, perhaps with what is wrong with it; or only what is wrong. */
  async #decide(
    reply: ModelReply,
    context: ProposerContext,
  ): Promise<{ decision: Decision; problem?: string; code?: string } | { problem: string; code: string }> {
    const { interaction } = this.#options.settings;
    const direct = interaction === "direct" || interaction === "direct-notes";
    const read = direct ? readDirectReply(reply) : readProgramReply(reply);
    if (read.kind === "unusable") {
      this.#accountant.trouble(read.code);
      return { problem: read.problem, code: read.code };
    }
    if (read.kind === "finish") return { decision: { finish: read.finish, evidence: read.evidence } };
    const number = context.stages.length;
    const program = read.kind === "program" ? this.#written(read.program) : this.#called(read, context);
    const fileName = `stage-${number}.ts`;
    const check = await this.#options.check(program, fileName);
    this.#note(program, number);
    const decision = { program, fileName };
    if (check.ok) return { decision };
    this.#accountant.trouble("program_refused");
    return {
      decision,
      code: "program_refused",
      problem: `Your program did not pass the check, and nothing of it was run:\n${formatDiagnostics(check.diagnostics)}\nReply with a mended program.`,
    };
  }

  #written(program: string): string {
    // At its end, where functions are found all the same and no line number moves.
    return this.#options.settings.coordinates === "norm1000" ? `${program.trimEnd()}\n${NORM1000_FUNCTIONS}` : program;
  }

  #called(read: Extract<ReadReply, { kind: "call" }>, { stages }: ProposerContext): string {
    if (this.#options.settings.interaction === "direct-notes" && read.notes !== null) this.#notes = read.notes;
    const images = stages.flatMap((stage) => stage.images);
    const size = this.#options.settings.coordinates === "norm1000" ? sizeFor(read.request, images) : null;
    const request = size ? requestInPixels(read.request, size) : read.request;
    // A name that is no identifier must not become code.
    const name = /^\w+$/.test(read.name) ? `.${read.name}` : `[${JSON.stringify(read.name)}]`;
    return `return await robot${name}(${JSON.stringify(request, null, 1)});\n`;
  }

  #note(program: string, stage: number): void {
    const said =
      USES.exec(program)?.[1]
        ?.split(",")
        .map((id) => id.trim()) ?? [];
    const { entries, onEvent } = this.#options;
    onEvent?.("memory", { stage, shown: entries, used: said.filter((id) => entries.includes(id)) });
  }
}

/** A reply as it stands in the conversation. Endpoints differ in how calls of tools are told back to them; text all of them take. */
function spoken({ text, tool }: ModelReply): string {
  if (tool) return `${text}\n(call of ${tool.name}: ${tool.arguments})`.trim();
  return text.trim() === "" ? "(an empty reply)" : text;
}
