import { Skill2RealError } from "../contract/errors.js";
import {
  composeProgram,
  type Library,
  type Memories,
  readMemories,
  type Triggered,
  triggeredBy,
} from "../memory/index.js";
import type { Decision, Proposer, ProposerContext } from "./proposer.js";
import { claimOf } from "./script-proposer.js";

/** Stage programs that fail in a row before the library gives up. */
const MOST_FAILURES = 3;

/**
 * No model: the brain entry whose trigger fits the instruction, one program per decision stage with the cerebellum functions
 * that it names inlined. A stage's program names the next stage in what it returns (`next`), or ends the episode (`finish`).
 */
export class LibraryProposer implements Proposer {
  readonly kind = "library";
  readonly #cerebellum: Library;
  readonly #brain: Library;
  readonly #skills: readonly string[];
  #chosen: Triggered | null = null;

  constructor({ cerebellum, brain }: Memories, skills: readonly string[]) {
    this.#cerebellum = cerebellum;
    this.#brain = brain;
    this.#skills = skills;
  }

  /** Throws `not_found` or `bad_config` for a library that is missing or not as its lock says. */
  static create(folder: string, skills: readonly string[]): LibraryProposer {
    return new LibraryProposer(readMemories(folder), skills);
  }

  async next({ instruction, stages }: ProposerContext): Promise<Decision> {
    this.#chosen ??= triggeredBy(this.#brain, instruction);
    const chosen = this.#chosen;
    if (!chosen) return { finish: "unresolved", evidence: "no entry of the library fits this instruction" };
    const needed = chosen.entry.front.skills.find((skill) => !this.#skills.includes(skill));
    if (needed !== undefined)
      return {
        finish: "unresolved",
        evidence: `entry ${chosen.entry.front.id} needs the skill ${needed}, which is off`,
      };
    const last = stages.at(-1)?.end;
    const [first] = chosen.entry.code;
    if (!first?.stage) throw new Skill2RealError("bad_config", `memory entry ${chosen.entry.path} has no code`);
    if (!last || last.kind === "looked") return this.#program(chosen, first.stage);
    if (last.kind === "returned") {
      const state = last.working_state;
      const next = state !== null && typeof state === "object" && !Array.isArray(state) ? state.next : undefined;
      return typeof next === "string" ? this.#program(chosen, next) : claimOf(last);
    }
    const failures =
      stages.length - 1 - stages.findLastIndex((stage) => stage.end.kind === "returned" || stage.end.kind === "looked");
    if (last.kind === "refused" || failures >= MOST_FAILURES) return claimOf(last);
    return this.#program(chosen, first.stage);
  }

  #program(chosen: Triggered, stage: string): Decision {
    return {
      program: composeProgram(this.#cerebellum, chosen, stage),
      fileName: `${chosen.entry.front.id}.${stage}.ts`,
    };
  }
}
