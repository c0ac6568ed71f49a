/** One setpoint as it reached the controller, and where the arm was then. */
export type Arrived = { arrival_s: number; command: number; q_rad: readonly number[]; q_actual_rad: readonly number[] };

/** What a stop did. Joint speeds are of the fastest joint. */
export type Deceleration = {
  /** From the send stamp to the first setpoint that is slower than the one before it and begins the way to rest. */
  delay_s: number;
  /** From the send stamp to the last setpoint that moves. */
  standstill_s: number;
  /** Of the setpoints, when the stop was sent. */
  speed_rad_s: number;
  /** How far the fastest joint of the arm itself went from the send stamp to its rest. */
  distance_rad: number;
};

const PERIOD_S = 0.002;
const STOPS = new Set([15, 16, 33, 34, 255]);
/** Steps that shrink by less than this share are the same. */
const SAME = 1e-5;
/** Speed that nobody can take for the cruise before the stop. */
const SLOWED = 0.9;
const STANDS_RAD = 1e-7;
/** A speed that changed by more than this share in the steps before the stamp is no cruise. */
const STEADY = 0.004;
const STEADY_STEPS = 8;

const largest = (a: readonly number[], b: readonly number[]): number =>
  Math.max(...a.map((value, joint) => Math.abs(value - (b[joint] ?? value))));

/**
 * Reads a stop from the setpoints that arrived. The first that decelerates is found from behind: from where the arm is clearly
 * slower than it was, back as long as steps shrink, and not before the stamp; a setpoint that was lost on the way ends that
 * search late, never early. Gives null where nothing can be said: the arm never stopped, or was not in a cruise: one that slows
 * down by itself would make the stop look early, and one that speeds up must end its acceleration first, within its jerk.
 */
export function readStop(all: readonly Arrived[], sent_s: number): Deceleration | null {
  const after = all.findIndex(({ arrival_s }) => arrival_s >= sent_s);
  if (after < 40) return null;
  const step = all.map((one, i) => (i === 0 ? 0 : largest(one.q_rad, all[i - 1]!.q_rad)));
  // A setpoint that was overtaken by the next makes one long step: the middle of a few is the speed.
  const cruise = step.slice(after - 9, after).sort((a, b) => a - b)[4]!;
  if (cruise <= STANDS_RAD) return null;
  // Setpoints that were overtaken are seen as steps of more than one period; each counts by its own.
  const lengths = step
    .slice(after - STEADY_STEPS, after)
    .map((length) => length / Math.max(1, Math.round(length / cruise)));
  if (Math.max(...lengths) - Math.min(...lengths) > STEADY * cruise) return null;

  const stop = all.findIndex(({ command }, i) => i >= after && STOPS.has(command));
  let slowed = -1;
  for (let i = after; i < all.length && slowed < 0; i += 1)
    if (step.slice(i, i + 5).every((length) => length < SLOWED * cruise)) slowed = i;
  let first = slowed;
  while (first > after && step[first - 1]! < (1 - SAME) * step[first - 2]!) first -= 1;
  if (stop >= 0 && (first < 0 || stop < first)) first = stop;
  const moving = step.findLastIndex((length) => length > STANDS_RAD);
  if (first < 0 || moving >= all.length - 20) return null;
  const [at, rest] = [all[after]!, all.at(-1)!];
  return {
    delay_s: all[first]!.arrival_s - sent_s,
    standstill_s: all[moving]!.arrival_s - sent_s,
    speed_rad_s: cruise / PERIOD_S,
    distance_rad: largest(at.q_actual_rad, rest.q_actual_rad),
  };
}
