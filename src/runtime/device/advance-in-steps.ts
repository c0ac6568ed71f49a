import type { AdvanceReply, DeviceEvent } from "../../contract/generated/device.js";
import type { Stamped } from "./device.js";

/**
 * Simulated time per request. A simulator computes it in some tens of milliseconds, so that one which takes a second over
 * it hangs; and what a request costs beside it stays under one part in a hundred.
 */
const STEP_S = 0.5;

export type AdvanceInStepsOptions = {
  from_s: number;
  until_s: number;
  control_period_s: number;
  through_motion_ends: boolean;
  /** Host time for the whole of it, ms; what happened until then is the result. */
  deadlineMs?: number;
  advance: (until_s: number) => Promise<Stamped<AdvanceReply>>;
};

const ends_any = (event: DeviceEvent): boolean =>
  event.kind === "stopped" || event.kind === "fault" || event.kind === "world_changed" || event.kind === "ending";

/**
 * One long Advance as a chain of short ones that ends where the long one would have ended. Every step but the last is a
 * whole number of control periods, so that the simulation is the same as in one piece. A step that a slow simulator cut
 * short at its own deadline, with nothing to report, is taken up where it ended.
 */
export async function advanceInSteps(options: AdvanceInStepsOptions): Promise<Stamped<AdvanceReply>> {
  const period_s = options.control_period_s > 0 ? options.control_period_s : STEP_S;
  const step_s = Math.max(1, Math.floor(STEP_S / period_s + 1e-9)) * period_s;
  const give_up_ms = performance.now() + (options.deadlineMs ?? Number.POSITIVE_INFINITY);
  const events: DeviceEvent[] = [];
  let from_s = options.from_s;
  for (;;) {
    // A rest of less than half a step goes with the last one.
    const until_s = options.until_s - from_s < 1.5 * step_s ? options.until_s : from_s + step_s;
    const reply = await options.advance(until_s);
    events.push(...reply.events);
    const ended = reply.events.some(
      (event) => ends_any(event) || (event.kind === "motion_ended" && !options.through_motion_ends),
    );
    const arrived = reply.time_s >= options.until_s - 0.51 * period_s;
    const stuck = reply.time_s <= from_s;
    if (ended || arrived || stuck || performance.now() >= give_up_ms) return { ...reply, events };
    from_s = reply.time_s;
  }
}
