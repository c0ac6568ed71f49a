import { Skill2RealError } from "../../contract/errors.js";
import type { ProposerContext } from "../proposer.js";
import { estimateTokens } from "./estimate-tokens.js";
import { type ModelMessage, textMessage } from "./messages.js";
import { DETAIL, type Detail, type StageMessagesOptions, stageTellers } from "./stage-messages.js";

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
export function buildPrompt(
  { instruction, stages }: Omit<ProposerContext, "signal">,
  options: BuildPromptOptions,
): ModelMessage[] {
  const { fixed, tokens } = options;
  const head = [
    textMessage("system", fixed.map(({ text }) => text.trimEnd()).join("\n\n")),
    textMessage("user", `Goal: ${instruction}`),
  ];
  const shown = options.last === undefined ? stages : stages.slice(-options.last);
  const tellers = stageTellers(shown, options);
  const told = tellers.map((tell) => tell("whole"));
  const headSize = estimateTokens(head);
  let size = headSize + told.reduce((sum, messages) => sum + estimateTokens(messages), 0);
  const tell = (at: number, detail: Detail): void => {
    const less = tellers[at]?.(detail) ?? [];
    size += estimateTokens(less) - estimateTokens(told[at] ?? []);
    told[at] = less;
  };
  for (const detail of DETAIL.slice(1))
    for (let at = 0; at < shown.length - 1 && size > tokens; at += 1) tell(at, detail);
  if (size <= tokens) return [...head, ...told.flat()];
  const sizes = [
    ...fixed.map(({ name, text }) => `${name} ${estimateTokens([textMessage("system", text)])}`),
    `the latest stage ${size - headSize}`,
  ];
  throw new Skill2RealError(
    "model_context_overflow",
    `the prompt takes about ${size} tokens of ${tokens} (${sizes.join(", ")}): choose a smaller pack, fewer memories or skills, or raise model.context_tokens`,
    { details: { size, limit: tokens } },
  );
}
