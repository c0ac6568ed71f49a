import { Skill2RealError } from "../contract/errors.js";
import type { MemoryEntry } from "./entry.js";
import type { Library } from "./library.js";

export type Triggered = { entry: MemoryEntry; parameters: Record<string, string> };

/** The brain entry whose pattern fits the instruction, with its named groups; the longest match of several wins. Null for none. */
export function triggeredBy(brain: Library, instruction: string): Triggered | null {
  let best: (Triggered & { length: number }) | null = null;
  for (const entry of brain.entries) {
    const { pattern } = entry.front.trigger;
    if (pattern === undefined) continue;
    const match = new RegExp(pattern, "i").exec(instruction.trim());
    if (match && (best === null || match[0].length > best.length))
      best = { entry, parameters: { ...match.groups }, length: match[0].length };
  }
  return best;
}

/** The functions of the named cerebellum entries and of those that they use, each once, used ones first. */
function functionsOf(
  cerebellum: Library,
  ids: readonly string[],
  chosen = new Map<string, string>(),
  above: readonly string[] = [],
): Map<string, string> {
  for (const id of ids) {
    if (chosen.has(id)) continue;
    if (above.includes(id))
      throw new Skill2RealError(
        "bad_config",
        `memory entries use each other in a circle: ${[...above, id].join(", ")}`,
      );
    const entry = cerebellum.entries.find((candidate) => candidate.front.id === id);
    if (!entry)
      throw new Skill2RealError("bad_config", `a memory entry uses "${id}", which the cerebellum does not have`);
    functionsOf(cerebellum, entry.front.uses, chosen, [...above, id]);
    chosen.set(id, entry.code[0]?.source ?? "");
  }
  return chosen;
}

/** The program of one stage of a brain entry: its parameters as `task`, the cerebellum functions it uses, and its code. */
export function composeProgram(cerebellum: Library, { entry, parameters }: Triggered, stage: string): string {
  const block = entry.code.find((candidate) => candidate.stage === stage);
  if (!block)
    throw new Skill2RealError(
      "bad_config",
      `memory entry ${entry.path} has no stage "${stage}"; stages: ${entry.code.map((candidate) => candidate.stage).join(", ")}`,
    );
  const functions = [...functionsOf(cerebellum, entry.front.uses).values()];
  return [
    `const task = ${JSON.stringify(parameters)} as const;`,
    ...functions.map((source) => source.trimEnd()),
    block.source.trimEnd(),
    "",
  ].join("\n\n");
}
