/** Wall time of an episode. One that is resumed has used up what it had before, from the moment on at which it goes on. */
export class Stopwatch {
  #began_ms = performance.now();

  get elapsed_s(): number {
    return (performance.now() - this.#began_ms) / 1e3;
  }

  /** From now on `elapsed_s` counts on from `seconds`. */
  set(seconds: number): void {
    this.#began_ms = performance.now() - seconds * 1e3;
  }
}
