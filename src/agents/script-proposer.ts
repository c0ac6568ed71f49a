import type { Decision, Proposer, ProposerContext } from "./proposer.js";

export type ScriptProposerOptions = { source: string; fileName: string };

/**
 * Plays one program, once. Its claim is what the program returns as `{ finish, evidence }`; a program that returns anything
 * else claims nothing ("unresolved"), one that fails claims "execution_failure".
 */
export class ScriptProposer implements Proposer {
  readonly kind = "script";
  readonly #options: ScriptProposerOptions;

  constructor(options: ScriptProposerOptions) {
    this.#options = options;
  }

  async next({ stages }: ProposerContext): Promise<Decision> {
    const last = stages.at(-1);
    if (!last || last.end.kind === "looked") return { program: this.#options.source, fileName: this.#options.fileName };
    return claimOf(last.end);
  }
}

/** The claim in what a stage's program returned. */
export function claimOf(
  end: NonNullable<ProposerContext["stages"][number]>["end"],
): Extract<Decision, { finish: unknown }> {
  if (end.kind === "returned") {
    const state = end.working_state;
    if (
      state !== null &&
      typeof state === "object" &&
      !Array.isArray(state) &&
      (state.finish === "supported" ||
        state.finish === "partial" ||
        state.finish === "execution_failure" ||
        state.finish === "unresolved")
    ) {
      return {
        finish: state.finish,
        evidence: typeof state.evidence === "string" ? state.evidence : JSON.stringify(state.evidence ?? null),
      };
    }
    return { finish: "unresolved", evidence: "the program returned no claim" };
  }
  if (end.kind === "refused")
    return {
      finish: "execution_failure",
      evidence: `the program was refused: ${end.diagnostics[0]?.message ?? "no reason given"}`,
    };
  if (end.kind === "looked") return { finish: "unresolved", evidence: "no program ran" };
  return { finish: "execution_failure", evidence: end.message };
}
