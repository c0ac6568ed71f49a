import type { JsonValue } from "../contract/generated/robot-api.js";
import type { PrintedLine, ProgramDiagnostic } from "../program/index.js";

/** What a Proposer says of the whole episode when it ends it. */
export type Claim = "supported" | "partial" | "execution_failure" | "unresolved";
export const CLAIMS: readonly Claim[] = ["supported", "partial", "execution_failure", "unresolved"];

/** One decision: the next program, the end with what supports it, or which budget of the Proposer's own has ended. */
export type Decision = { program: string; fileName: string } | { finish: Claim; evidence: string } | { budget: string };

export type CallRecord = {
  operation: string;
  request: unknown;
  /** "ok", another status, or for operations that give a string "returned" or the code that was thrown. */
  status: string;
  /** The result as JSON, shortened. */
  result: string;
  start_s: number;
  end_s: number;
};

export type ImageRecord = {
  kind: "view" | "overlay";
  view: string;
  observation_ref: string;
  /** Relative to the run's folder. */
  path: string;
  width: number;
  height: number;
  /** Device time between the exposure and the end of the stage. */
  age_s: number;
};

/** How a program of a stage ended. */
export type StageEnd =
  | { kind: "returned"; working_state: JsonValue }
  | { kind: "threw"; message: string; line: number | null; column: number | null; code?: string }
  | { kind: "killed"; code: string; message: string }
  | { kind: "refused"; diagnostics: readonly ProgramDiagnostic[] }
  | { kind: "looked" };

/** All that is public of one decision stage. Stage 0 is the look before the first program. */
export type StageRecord = {
  stage: number;
  program: string | null;
  calls: CallRecord[];
  printed: PrintedLine[];
  end: StageEnd;
  images: ImageRecord[];
  start_s: number;
  end_s: number;
};

export type ProposerContext = {
  instruction: string;
  stages: readonly StageRecord[];
  /** Aborts when the time that the episode may take is over: nothing that is decided later counts. */
  signal: AbortSignal;
};

/** Decides what to do next from public information alone. */
export interface Proposer {
  readonly kind: string;
  next(context: ProposerContext): Promise<Decision>;
}
