import type { JsonValue } from "../contract/generated/robot-api.js";

/** What is known of the decision stages: which one runs, what the previous one returned. */
export class StageMemory {
  #stage = 0;
  #previous: { stage: number; working_state: JsonValue | null } | null = null;

  /** Number of the running stage; 0 is the look before the first program. */
  get stage(): number {
    return this.#stage;
  }

  get previous(): { stage: number; working_state: JsonValue | null } | null {
    return this.#previous;
  }

  begin(stage: number): void {
    this.#stage = stage;
  }

  /** Keeps what the program of a stage returned, for the next one. */
  finish(working_state: JsonValue | null): void {
    this.#previous = { stage: this.#stage, working_state };
  }
}
