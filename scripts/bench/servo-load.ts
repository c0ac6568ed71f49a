import { computeStereoDepth } from "../../src/runtime/native/stereo.js";

const [WIDTH, HEIGHT] = [640, 480];
const KEPT = 64;

/** Short-lived objects, strings, typed arrays that outlive a young collection, JSON both ways: a few milliseconds of it. */
function litter(kept: unknown[], turn: number): number {
  const rows = Array.from({ length: 400 }, (_, index) => ({
    name: `row ${index} of ${turn}`,
    at: [index, index / 3, Math.sqrt(index)],
    note: index % 7 === 0 ? null : { words: String(index).repeat(9) },
  }));
  const read = JSON.parse(JSON.stringify({ turn, rows })) as { rows: unknown[] };
  kept[turn % KEPT] = { read, pixels: new Uint8Array(256 * 1024).fill(turn) };
  return read.rows.length;
}

/** What a busy backend's process does beside its arm. */
export class ServoLoad {
  #js = false;
  #stereo = false;
  #turns = 0;
  #pairs = 0;
  #matching: Promise<void> = Promise.resolve();

  /** Garbage and JSON in this thread, as fast as it goes. */
  startJs(): void {
    this.#js = true;
    const kept: unknown[] = [];
    const work = (): void => {
      if (!this.#js) return;
      litter(kept, this.#turns);
      this.#turns += 1;
      setImmediate(work);
    };
    setImmediate(work);
  }

  /** Stereo pairs one after the other, in threads of the addon. */
  startStereo(): void {
    this.#stereo = true;
    this.#matching = this.#match();
  }

  /** Resolves when nothing of it runs any more; gives what it did. */
  async stop(): Promise<{ turns: number; pairs: number }> {
    this.#js = this.#stereo = false;
    await this.#matching;
    const done = { turns: this.#turns, pairs: this.#pairs };
    this.#turns = this.#pairs = 0;
    return done;
  }

  async #match(): Promise<void> {
    const [left, right] = [0, 40].map((shift) =>
      Uint8Array.from(
        { length: WIDTH * HEIGHT },
        (_, i) => 128 + 90 * Math.sin(0.37 * ((i % WIDTH) + shift) + i / 977),
      ),
    );
    const calibration = { fx_px: 1, baseline_m: 1, doffs_px: 0 };
    while (this.#stereo) {
      await computeStereoDepth(
        { left: left!, right: right!, width: WIDTH, height: HEIGHT, channels: 1, calibration },
        { near_m: 1 / 126, far_m: 1, threads: 1 },
      );
      this.#pairs += 1;
    }
  }
}
