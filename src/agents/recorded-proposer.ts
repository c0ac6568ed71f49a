import type { Claim, Decision, Proposer, ProposerContext } from "./proposer.js";

export type RecordedDecisions = {
  /** One program per decision stage, in order. */
  programs: readonly string[];
  /** How the episode was ended; null where its Proposer did not get to. */
  claim: Claim | null;
  evidence: string;
};

/** Decides again what was decided before, whatever it sees. */
export class RecordedProposer implements Proposer {
  readonly kind = "recorded";
  readonly #decisions: RecordedDecisions;

  constructor(decisions: RecordedDecisions) {
    this.#decisions = decisions;
  }

  async next({ stages }: ProposerContext): Promise<Decision> {
    // Stage 0 is the look before the first program.
    const number = stages.length;
    const program = this.#decisions.programs[number - 1];
    if (program !== undefined) return { program, fileName: `stage-${number}.ts` };
    return { finish: this.#decisions.claim ?? "unresolved", evidence: this.#decisions.evidence };
  }
}
