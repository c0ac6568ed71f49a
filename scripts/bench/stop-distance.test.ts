import { describe, expect, it } from "vitest";
import { type Arrived, readStop } from "./stop-distance.js";

const PERIOD_S = 0.002;
const SPEED = 2;

/** Setpoints of joint 1: `speedAt` by the number of the setpoint; the arm itself is two setpoints behind. */
function sweep(count: number, speedAt: (i: number) => number, lost: readonly number[] = []): Arrived[] {
  const all: Arrived[] = [];
  let [q, behind, behind_2] = [0, 0, 0];
  for (let i = 0; i < count; i += 1) {
    q += speedAt(i) * PERIOD_S;
    const row = { arrival_s: 10 + i * PERIOD_S, command: 11, q_rad: [q, 0, 0, 0, 0, 0] };
    if (!lost.includes(i)) all.push({ ...row, q_actual_rad: [behind_2, 0, 0, 0, 0, 0] });
    [behind_2, behind] = [behind, q];
  }
  return all;
}

/** A cruise that is left at setpoint 200, at 8 rad/s^2. */
const stopped = (i: number): number => Math.max(0, i < 200 ? SPEED : SPEED - 8 * PERIOD_S * (i - 199));
const at = (i: number): number => 10 + i * PERIOD_S;

describe("readStop", () => {
  it("finds the first slower setpoint, the way to rest and when it ended", () => {
    const stop = readStop(sweep(500, stopped), at(197) - 0.0005);
    expect(stop?.delay_s).toBeCloseTo(3 * PERIOD_S + 0.0005, 9);
    expect(stop?.speed_rad_s).toBeCloseTo(SPEED, 6);
    expect(stop?.standstill_s).toBeCloseTo(at(323) - at(197) + 0.0005, 9);
    // 0.25 s from 2 rad/s, and what the cruise and the lag add.
    expect(stop?.distance_rad).toBeGreaterThan(0.25);
    expect(stop?.distance_rad).toBeLessThan(0.28);
  });

  it("bears a setpoint that was lost in the cruise, and one on the way to rest", () => {
    expect(readStop(sweep(500, stopped, [193]), at(197))?.delay_s).toBeCloseTo(3 * PERIOD_S, 9);
    expect(readStop(sweep(500, stopped, [203]), at(197))?.delay_s).toBeCloseTo(3 * PERIOD_S, 9);
  });

  it("bears any one setpoint that was lost while the motion speeds up and then stops at limited jerk", () => {
    const [begin, jerk] = [200, 40];
    const rising = (i: number): number => 0.4 + 2 * PERIOD_S * i;
    const course = (i: number): number => {
      if (i < begin) return rising(i);
      const t = PERIOD_S * (i - begin + 1);
      const ramp_s = Math.min(t, 0.2);
      return Math.max(0, rising(begin - 1) + 2 * t - jerk * ramp_s * (t - ramp_s / 2));
    };
    const whole = readStop(sweep(900, course), at(begin - 3));
    expect(whole?.delay_s).toBeGreaterThan(0);
    const delays = Array.from({ length: 60 }, (_, i) => begin - 30 + i).map(
      (lost) => readStop(sweep(900, course, [lost]), at(begin - 3))?.delay_s ?? null,
    );
    // It may say nothing of a few, but nothing wrong.
    for (const delay_s of delays)
      if (delay_s !== null) expect(Math.abs(delay_s - whole!.delay_s)).toBeLessThan(1.5 * PERIOD_S);
    expect(delays.filter((delay_s) => delay_s === null).length).toBeLessThan(6);
  });

  it("tells a stop from a deceleration that was planned, and from an acceleration", () => {
    const planned = (i: number): number => SPEED - 1.5 * PERIOD_S * Math.max(0, i - 150);
    const slowing = (i: number): number => Math.max(0, planned(i) - 8 * PERIOD_S * Math.max(0, i - 199));
    expect(readStop(sweep(600, slowing), at(197))?.delay_s).toBeCloseTo(3 * PERIOD_S, 9);
    const rising = (i: number): number => Math.max(0, 0.5 + 0.004 * Math.min(i, 199) - 0.02 * Math.max(0, i - 199));
    expect(readStop(sweep(600, rising), at(197))?.delay_s).toBeCloseTo(3 * PERIOD_S, 9);
  });

  it("takes a stop command for what it is", () => {
    const all = sweep(500, (i) => (i < 200 ? SPEED : 0)).filter((_, i) => i <= 200 || i > 240);
    all[200] = { ...all[200]!, command: 16, q_rad: [9, 9, 9, 9, 9, 9] };
    expect(readStop(all, at(199))?.delay_s).toBeCloseTo(PERIOD_S, 9);
  });

  it("says nothing of an arm that stood, never came to rest, or shook", () => {
    expect(
      readStop(
        sweep(500, () => 0),
        at(200),
      ),
    ).toBeNull();
    expect(
      readStop(
        sweep(500, () => SPEED),
        at(200),
      ),
    ).toBeNull();
    expect(
      readStop(
        sweep(500, (i) => stopped(i) * (1 + 0.02 * (i % 2))),
        at(197),
      ),
    ).toBeNull();
  });
});
