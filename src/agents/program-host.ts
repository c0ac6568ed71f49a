import type { GuestHost, GuestReplies, GuestTurn, Settlement } from "../program/index.js";
import type { Session, TurnSettlement } from "../runtime/session.js";
import type { CallRecord } from "./proposer.js";

const RESULT_CHARS = 600;
const shortened = (text: string): string =>
  text.length > RESULT_CHARS ? `${text.slice(0, RESULT_CHARS)}… (${text.length} characters)` : text;

type Known = { operation: string; request: unknown; start_s: number };

/** Joins a guest's turns to a session: each turn is processed, and what ended goes back together. Keeps a record of every call. */
export class ProgramHost implements GuestHost {
  readonly calls: CallRecord[] = [];
  /** Full results by call, for those who look for images in them. */
  readonly results: unknown[] = [];
  readonly #session: Session;
  readonly #onCall: ((call: CallRecord) => void) | undefined;
  readonly #onDefect: (error: unknown) => void;
  readonly #known = new Map<number, Known>();
  #processing: Promise<void> = Promise.resolve();

  /** `onDefect` gets an error of the session itself, which no program can cause. */
  constructor(session: Session, onDefect: (error: unknown) => void, onCall?: (call: CallRecord) => void) {
    this.#session = session;
    this.#onCall = onCall;
    this.#onDefect = onDefect;
  }

  onTurn(turn: GuestTurn, replies: GuestReplies): void {
    for (const call of turn.calls)
      this.#known.set(call.id, { operation: call.name, request: call.args[0] ?? {}, start_s: this.#session.time_s });
    this.#processing = this.#processing.then(() => this.#process(turn, replies)).catch(this.#onDefect);
  }

  /** Resolves when the turns taken in so far have been processed. */
  async idle(): Promise<void> {
    await this.#processing;
  }

  /** Takes in how calls ended whose program has ended before them. */
  ended(settlements: readonly TurnSettlement[]): void {
    for (const settlement of settlements)
      this.#record(settlement.id, "error" in settlement ? settlement : { value: settlement.value });
  }

  async #process(turn: GuestTurn, replies: GuestReplies): Promise<void> {
    const settlements = await this.#session.process(turn);
    const answers: Settlement[] = settlements.map((settlement) =>
      "error" in settlement
        ? { id: settlement.id, error: settlement.error }
        : { id: settlement.id, value: settlement.value },
    );
    this.ended(settlements);
    if (answers.length > 0) replies.settle(answers, this.#session.time_s);
  }

  #record(id: number, outcome: { value: unknown } | { error: { code: string; message: string } }): void {
    const call = this.#known.get(id);
    if (!call) return;
    this.#known.delete(id);
    const failed = "error" in outcome;
    const value = failed ? outcome.error : outcome.value;
    const status = failed
      ? outcome.error.code
      : typeof value === "object" && value !== null && "status" in value
        ? String(value.status)
        : "returned";
    const record: CallRecord = {
      ...call,
      status,
      result: shortened(JSON.stringify(value) ?? "null"),
      end_s: this.#session.time_s,
    };
    this.calls.push(record);
    this.#onCall?.(record);
    this.results.push(value);
  }
}
