import { Skill2RealError } from "../../contract/errors.js";
import type { ProposerContext } from "../proposer.js";
import { estimateTokens } from "./estimate-tokens.js";
import { type ModelMessage, textMessage } from "./messages.js";
import { DETAIL, type Detail, type StageMessagesOptions, stageMessages } from "./stage-messages.js";

/** What is never trimmed, with what each part is called when it does not fit. */
export type FixedParts = { name: string; text: string }[];

export type BuildPromptOptions = StageMessagesOptions & {
  fixed: FixedParts;
  /** Tokens that the prompt may take. */
  tokens: number;
  /** Only the newest stages count; the direct modes forget what is older. */
  last?: number;
};

/**
 * The messages for the next decision. What does not fit is cut from the history: images first, then results, then programs,
 * each from the oldest stage on; never from the latest stage. Throws `model_context_overflow` with sizes where that is not enough,
 * which shows before anything has moved, for the fixed part does not grow.
 */
export function buildPrompt({ instruction, stages }: ProposerContext, options: BuildPromptOptions): ModelMessage[] {
  const { fixed, tokens } = options;
  const head = [
    textMessage("system", fixed.map(({ text }) => text.trimEnd()).join("\n\n")),
    textMessage("user", `Goal: ${instruction}`),
  ];
  const shown = options.last === undefined ? stages : stages.slice(-options.last);
  const details: Detail[] = shown.map(() => "whole");
  const sized = (): { messages: ModelMessage[]; size: number } => {
    const messages = [...head, ...stageMessages(shown, details, options)];
    return { messages, size: estimateTokens(messages) };
  };
  let now = sized();
  for (const detail of DETAIL.slice(1))
    for (let at = 0; at < shown.length - 1 && now.size > tokens; at += 1) {
      details[at] = detail;
      now = sized();
    }
  if (now.size <= tokens) return now.messages;
  const sizes = [
    ...fixed.map(({ name, text }) => `${name} ${estimateTokens([textMessage("system", text)])}`),
    `the latest stage ${now.size - estimateTokens(head)}`,
  ];
  throw new Skill2RealError(
    "model_context_overflow",
    `the prompt takes about ${now.size} tokens of ${tokens} (${sizes.join(", ")}): choose a smaller pack, fewer memories or skills, or raise model.context_tokens`,
    { details: { size: now.size, limit: tokens } },
  );
}
