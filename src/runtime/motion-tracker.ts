import type { EndReason, GroupStatus, MotionStatus } from "../contract/generated/device.js";

type Waiting = { group: number; index: number; end: (status: MotionStatus) => void };

/** Matches the ends that a backend reports (in states, replies and events, in any order and more than once) to who waits for them. */
export class MotionTracker {
  readonly #waiting = new Map<string, Waiting>();

  /** Number of motions that have not ended. */
  get active(): number {
    return this.#waiting.size;
  }

  expect(group: number, index: number, end: (status: MotionStatus) => void): void {
    this.#waiting.set(`${group}/${index}`, { group, index, end });
  }

  /** Takes in what the backend says of groups; gives how many motions ended. */
  take(groups: readonly GroupStatus[]): number {
    let ended = 0;
    for (const group of groups) {
      for (const status of group.motions) {
        const waiting = this.#waiting.get(`${group.group}/${status.index}`);
        if (!waiting || status.end_reason === "END_UNSPECIFIED") continue;
        this.#waiting.delete(`${group.group}/${status.index}`);
        waiting.end(status);
        ended += 1;
      }
    }
    return ended;
  }

  /** Ends everything that is waited for with a reason of our own (backend lost, deadline). */
  endAll(end_reason: EndReason, end_time_s: number): number {
    const all = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { index, end } of all)
      end({ index, end_reason, end_time_s, fraction_done: 0, contact_force_n: [], reached_point: 0, mean_force_n: 0 });
    return all.length;
  }
}
