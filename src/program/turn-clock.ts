import { performance } from "node:perf_hooks";

/** Turns shorter than this are timed by the wall clock alone: reading the CPU clock costs as much as a short turn. */
const LONG_TURN_S = 0.02;

/**
 * How long the guest has computed in this turn: the smaller of wall time, which counts other processes, and the process's CPU time,
 * which counts the compiler's threads. Both are above the guest's own CPU time.
 */
export class TurnClock {
  #start_ms = performance.now();
  /** CPU time when the turn turned out to be long, and its wall time until then. */
  #long: { cpu_s: number; wall_s: number } | undefined;

  restart(): void {
    this.#start_ms = performance.now();
    this.#long = undefined;
  }

  get elapsed_s(): number {
    const wall_s = (performance.now() - this.#start_ms) / 1e3;
    if (wall_s < LONG_TURN_S) return wall_s;
    this.#long ??= { cpu_s: ownCpu_s(), wall_s };
    return Math.min(wall_s, this.#long.wall_s + ownCpu_s() - this.#long.cpu_s);
  }
}

/** CPU time of this process since it started. */
export function ownCpu_s(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
