/**
 * The clock of the controller's lease. A backend whose arm is driven elsewhere (in C++) brings its own, so that a lapse stops
 * the arm also while this process hangs.
 */
export interface Lease {
  /** A controller asks for something, or begins: its time runs anew. Also takes back a lapse that nobody answered. */
  renew(lease_ms: number): void;
  /** True while the backend itself works inside one of the controller's requests: no time passes. */
  hold(held: boolean): void;
  /** Nobody controls any more: nothing can lapse. */
  end(): void;
}

/** Nothing lapses: for a backend that cannot move. */
export const NO_LEASE: Lease = { renew: () => {}, hold: () => {}, end: () => {} };

/** A lease by a timer of this process. */
export class TimerLease implements Lease {
  readonly #onLapse: () => void;
  #timer: NodeJS.Timeout | undefined;
  #lease_ms = 0;
  #held = false;

  constructor(onLapse: () => void) {
    this.#onLapse = onLapse;
  }

  renew(lease_ms: number): void {
    this.#lease_ms = lease_ms;
    this.#start();
  }

  hold(held: boolean): void {
    this.#held = held;
    this.#start();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#lease_ms = 0;
  }

  #start(): void {
    clearTimeout(this.#timer);
    if (this.#held || this.#lease_ms === 0) return;
    this.#timer = setTimeout(this.#onLapse, this.#lease_ms);
    this.#timer.unref();
  }
}
