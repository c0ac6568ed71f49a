import { closeSync, openSync, readSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Offsets of the plant memory's blocks (backends/emulators/bench/skill2real_bench/plant_memory.py). */
const ARM_STATE = 256;
const GRIPPER_STATE = 768;
const BYTES = 2048;
const STANDS_RAD_S = 0.004;
const STANDS_FOR_S = 0.05;
const LOOK_MS = 3;

export type PlantState = { time_s: number; q_rad: number[]; qd_rad_s: number[]; opening_m: number };

/** What the emulated arm and jaw really do, read past every protocol. */
export class PlantTruth {
  readonly #fd: number;
  readonly #bytes = Buffer.alloc(BYTES);

  constructor(path: string) {
    this.#fd = openSync(path, "r");
  }

  read(): PlantState {
    const bytes = this.#bytes;
    for (;;) {
      readSync(this.#fd, bytes, 0, BYTES, 0);
      const [arm, jaw] = [bytes.readBigUInt64LE(ARM_STATE), bytes.readBigUInt64LE(GRIPPER_STATE)];
      // A counter that is odd says that its block is being written.
      if (arm % 2n === 0n && jaw % 2n === 0n) break;
    }
    const six = (at: number): number[] => Array.from({ length: 6 }, (_, i) => bytes.readDoubleLE(at + 8 * i));
    return {
      time_s: bytes.readDoubleLE(ARM_STATE + 8),
      q_rad: six(ARM_STATE + 32),
      qd_rad_s: six(ARM_STATE + 80),
      opening_m: bytes.readDoubleLE(GRIPPER_STATE + 16),
    };
  }

  /** When the arm came to stand and stayed so, on this process's clock; null where it does not within the patience. */
  async standstill(patience_s: number): Promise<number | null> {
    const begun_s = now_s();
    let still_since: number | null = null;
    while (now_s() - begun_s < patience_s) {
      const stands = this.read().qd_rad_s.every((speed) => Math.abs(speed) < STANDS_RAD_S);
      if (!stands) still_since = null;
      else if (still_since === null) still_since = now_s();
      else if (now_s() - still_since > STANDS_FOR_S) return still_since;
      await sleep(LOOK_MS);
    }
    return null;
  }

  close(): void {
    closeSync(this.#fd);
  }
}

export const now_s = (): number => Number(process.hrtime.bigint()) / 1e9;
