import { describe, expect, it } from "vitest";
import type { EndReason, GroupStatus, MotionStatus } from "../contract/generated/device.js";
import { MotionTracker } from "./motion-tracker.js";

const status = (index: number, end_reason: EndReason): MotionStatus => ({
  index,
  end_reason,
  end_time_s: 1,
  fraction_done: 1,
  contact_force_n: [],
  reached_point: 3,
  mean_force_n: 0,
});
const group = (id: number, ...motions: MotionStatus[]): GroupStatus => ({ group: id, active: false, motions });

describe("MotionTracker", () => {
  it("tells each motion's end once, whatever the order and however often it is reported", () => {
    const tracker = new MotionTracker();
    const ends: string[] = [];
    for (const [id, index] of [
      [1, 0],
      [1, 1],
      [2, 0],
    ] as const)
      tracker.expect(id, index, ({ end_reason }) => ends.push(`${id}/${index} ${end_reason}`));
    expect(tracker.active).toBe(3);
    expect(tracker.take([group(2, status(0, "END_CONTACT")), group(1, status(0, "END_UNSPECIFIED"))])).toBe(1);
    expect(tracker.take([group(1, status(1, "END_STALLED"), status(0, "END_COMPLETED"))])).toBe(2);
    expect(tracker.take([group(1, status(0, "END_FAULT")), group(2, status(0, "END_FAULT"))])).toBe(0);
    expect(ends).toEqual(["2/0 END_CONTACT", "1/1 END_STALLED", "1/0 END_COMPLETED"]);
    expect(tracker.active).toBe(0);
  });

  it("takes no notice of motions that nobody waits for", () => {
    expect(new MotionTracker().take([group(9, status(0, "END_COMPLETED"))])).toBe(0);
  });

  it("ends all that is waited for with a reason of its own", () => {
    const tracker = new MotionTracker();
    const ends: MotionStatus[] = [];
    tracker.expect(1, 0, (end) => ends.push(end));
    tracker.expect(1, 1, (end) => ends.push(end));
    expect(tracker.endAll("END_TIMEOUT", 7.5)).toBe(2);
    expect(ends.map(({ index, end_reason, end_time_s }) => [index, end_reason, end_time_s])).toEqual([
      [0, "END_TIMEOUT", 7.5],
      [1, "END_TIMEOUT", 7.5],
    ]);
    expect(tracker.endAll("END_TIMEOUT", 8)).toBe(0);
  });
});
