import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AdvanceReply, DeviceEvent } from "../../contract/generated/device.js";
import { advanceInSteps } from "./advance-in-steps.js";
import type { Stamped } from "./device.js";

const replyAt = (time_s: number, events: Partial<DeviceEvent>[] = []): Stamped<AdvanceReply> => ({
  state: null,
  events: events as DeviceEvent[],
  time_s,
  stop_epoch: 0,
});

describe("advanceInSteps", () => {
  it("reaches the asked time exactly, in whole control periods of at most three quarters of a second", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.double({ min: 0, max: 100, noNaN: true }),
        fc.double({ min: 0.001, max: 20, noNaN: true }),
        fc.constantFrom(0.002, 0.01, 0.05),
        async (from_s, length_s, control_period_s) => {
          const asked: number[] = [];
          const until_s = from_s + length_s;
          await advanceInSteps({
            from_s,
            until_s,
            control_period_s,
            through_motion_ends: false,
            advance: async (time_s) => {
              asked.push(time_s);
              return replyAt(time_s);
            },
          });
          expect(asked.at(-1)).toBe(until_s);
          let last = from_s;
          for (const [index, time_s] of asked.entries()) {
            const step_s = time_s - last;
            expect(step_s).toBeLessThan(0.7501);
            const periods = step_s / control_period_s;
            if (index < asked.length - 1) expect(Math.abs(periods - Math.round(periods))).toBeLessThan(1e-6);
            last = time_s;
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it("takes a step up again that was cut short with nothing to report, and gives up where time stands", async () => {
    const reached = [0.3, 0.8, 0.8];
    const asked: number[] = [];
    const result = await advanceInSteps({
      from_s: 0,
      until_s: 5,
      control_period_s: 0.002,
      through_motion_ends: false,
      advance: async (until_s) => {
        asked.push(until_s);
        return replyAt(reached.shift()!);
      },
    });
    expect(asked).toEqual([0.5, 0.8, 1.3]);
    expect(result.time_s).toBe(0.8);
  });

  it("ends with the step in which time stopped early, and keeps all events in order", async () => {
    const steps = [
      replyAt(0.5, [{ number: 1, kind: "group_progress" }]),
      replyAt(0.7, [{ number: 2, kind: "motion_ended" }]),
    ];
    const result = await advanceInSteps({
      from_s: 0,
      until_s: 5,
      control_period_s: 0.002,
      through_motion_ends: false,
      advance: async () => steps.shift()!,
    });
    expect(result.time_s).toBe(0.7);
    expect(result.events.map((event) => event.number)).toEqual([1, 2]);
  });

  it("ends at a motion that ends just where a step does, unless told to run through", async () => {
    for (const through_motion_ends of [false, true]) {
      let calls = 0;
      const result = await advanceInSteps({
        from_s: 0,
        until_s: 2,
        control_period_s: 0.002,
        through_motion_ends,
        advance: async (until_s) => {
          calls += 1;
          return replyAt(until_s, calls === 1 ? [{ kind: "motion_ended" }] : []);
        },
      });
      expect(result.time_s).toBe(through_motion_ends ? 2 : 0.5);
    }
  });

  it("ends at a stop even when told to run through motion ends", async () => {
    const result = await advanceInSteps({
      from_s: 0,
      until_s: 2,
      control_period_s: 0.002,
      through_motion_ends: true,
      advance: async (until_s) => replyAt(until_s, [{ kind: "stopped" }]),
    });
    expect(result.time_s).toBe(0.5);
  });
});
