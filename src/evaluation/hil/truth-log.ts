import { now_s, type PlantState, type PlantTruth } from "./plant-truth.js";

const LOOK_MS = 4;
/** A joint slower than this stands. */
const STANDS_RAD_S = 0.004;
/** As long as nothing moves for this long, it stands. */
const STANDS_FOR_S = 0.05;
/** The plant writes 500 times a second: one that is this far behind is gone or stands still itself. */
const GONE_S = 0.3;

export type TruthSample = PlantState & { at_s: number };

const moves = ({ qd_rad_s }: PlantState): boolean => qd_rad_s.some((speed) => Math.abs(speed) >= STANDS_RAD_S);

/** What arm and jaw really did, looked at past every protocol, some 200 times a second. */
export class TruthLog {
  readonly #truth: PlantTruth;
  readonly #samples: TruthSample[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(truth: PlantTruth) {
    this.#truth = truth;
    this.#look();
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
  }

  /** What is the case now; `time_s` is the plant's own stamp, CLOCK_MONOTONIC. */
  now(): TruthSample {
    return this.#look();
  }

  get samples(): readonly TruthSample[] {
    return this.#samples;
  }

  /** Whether the arm moves now. */
  get moving(): boolean {
    return moves(this.now());
  }

  /** What was the case at a time of CLOCK_MONOTONIC: the nearest sample. */
  at(time_s: number): TruthSample {
    let best = this.#samples[0]!;
    for (const sample of this.#samples)
      if (Math.abs(sample.time_s - time_s) < Math.abs(best.time_s - time_s)) best = sample;
    return best;
  }

  /** Whether the plant's own clock goes on. */
  get alive(): boolean {
    const { at_s, time_s } = this.now();
    return at_s - time_s < GONE_S;
  }

  /** When the arm came to stand after a time, on CLOCK_MONOTONIC; null while it moves, or where nobody can say any more. */
  stoodAfter(since_s: number): number | null {
    const after = this.#samples.filter(({ at_s }) => at_s >= since_s);
    const last = after.findLastIndex(moves);
    const next = after[last + 1];
    const newest = after.at(-1);
    if (!next || !newest || newest.at_s - next.at_s < STANDS_FOR_S) return null;
    if (newest.at_s - newest.time_s >= GONE_S) return null;
    return next.at_s;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#truth.close();
  }

  #look(): TruthSample {
    const sample = { ...this.#truth.read(), at_s: now_s() };
    this.#samples.push(sample);
    return sample;
  }
}
