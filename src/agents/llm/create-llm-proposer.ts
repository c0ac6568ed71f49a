import { assembleDirect, assemblePrompt, type PromptContext } from "../../config/prompts/assemble-prompt.js";
import { loadPack } from "../../config/prompts/pack.js";
import { roleText } from "../../config/prompts/texts.js";
import { Skill2RealError } from "../../contract/errors.js";
import type { Capabilities } from "../../contract/generated/device.js";
import type { Memories, MemoryEntry } from "../../memory/index.js";
import type { CheckResult } from "../../program/index.js";
import type { Exchanges } from "../exchanges/exchanges.js";
import type { EpisodeRequest } from "../host/messages.js";
import type { LoadedSkills } from "../load-skills.js";
import type { FixedParts } from "./build-prompt.js";
import { NORM1000_RULE } from "./coordinates.js";
import { ExchangedModel } from "./exchanged-model.js";
import { LiveModel } from "./live-model.js";
import { LlmProposer, TOOLS } from "./llm-proposer.js";
import type { Accountant } from "./model-account.js";
import type { ModelSettings } from "./settings.js";

export type LlmSurroundings = {
  skills: LoadedSkills;
  capabilities: Capabilities;
  /** The run's folder. */
  folder: string;
  /** Of the episode; null where nobody is asked anything. */
  exchanges: Exchanges | null;
  /** Of the model; null where there is none. */
  accountant: Accountant | null;
  check: (program: string, fileName: string) => Promise<CheckResult>;
  signal: AbortSignal;
  onEvent: (kind: string, details: Record<string, unknown>) => void;
};

/** The Proposer behind a model, or behind the recording of one. Throws before anything moves where its prompt cannot be made. */
export function createLlmProposer(
  request: Extract<EpisodeRequest["proposer"], { kind: "llm" }>,
  { skills, capabilities, folder, exchanges, accountant, check, signal, onEvent }: LlmSurroundings,
): LlmProposer {
  if (!exchanges || !accountant) throw new Skill2RealError("internal", "a model without exchanges or account");
  const { model: settings, memories, task_text } = request;
  const shown = memories ? shownEntries(memories, skills.names) : [];
  const fixed = fixedParts(settings, { ...skills, capabilities }, shown, task_text);
  const programs = settings.interaction === "program" || settings.interaction === "program-once";
  const live = new LiveModel({ settings, folder, tools: programs ? TOOLS : [] });
  const model = new ExchangedModel({ kind: "proposer", survives: false, exchanges, live, folder });
  const entries = shown.map(({ front }) => front.id);
  return new LlmProposer({ settings, model, accountant, fixed, check, entries, signal, onEvent });
}

/** Entries whose skills are on, brain first; the others are withheld. */
export const shownEntries = ({ brain, cerebellum }: Memories, skills: readonly string[]): MemoryEntry[] =>
  [...brain.entries, ...cerebellum.entries].filter(({ front }) => front.skills.every((name) => skills.includes(name)));

/** Everything that a model is told beside the goal and what has happened. */
export function fixedParts(
  settings: ModelSettings,
  context: PromptContext,
  entries: readonly MemoryEntry[],
  task_text: string,
): FixedParts {
  const { interaction, pack, coordinates } = settings;
  const system =
    interaction === "direct" || interaction === "direct-notes"
      ? assembleDirect(interaction, context)
      : assemblePrompt(loadPack(pack), context);
  const parts: FixedParts = [{ name: "pack", text: system.text }];
  if (coordinates === "norm1000") parts.push({ name: "coordinates", text: NORM1000_RULE });
  if (task_text.trim() !== "") parts.push({ name: "task", text: task_text });
  if (entries.length > 0) {
    const text = entries
      .map((entry) => `## ${entry.front.level}: ${entry.front.id}\n\n${entryText(entry)}`)
      .join("\n\n");
    parts.push({ name: "role", text: roleText("proposer-deployment") }, { name: "memories", text });
  }
  return parts;
}

const entryText = ({ sections }: MemoryEntry): string =>
  Object.entries(sections)
    .filter(([, text]) => text.trim() !== "")
    .map(([name, text]) => `${name}: ${text.trim()}`)
    .join("\n\n");
