/** One setpoint as it reached the controller, and where the arm was then. */
export type Arrived = { arrival_s: number; command: number; q_rad: readonly number[]; q_actual_rad: readonly number[] };

/** What a stop did. Joint speeds are of the fastest joint. */
export type Deceleration = {
  /** From the send stamp to the first setpoint that is slower than the motion would have gone on. */
  delay_s: number;
  /** From the send stamp to the last setpoint that moves. */
  standstill_s: number;
  /** Of the setpoints, when the stop was sent. */
  speed_rad_s: number;
  /** How far the fastest joint of the arm itself went from the send stamp to its rest. */
  distance_rad: number;
};

const PERIOD_S = 0.002;
const SERVO = 11;
const STOPS = new Set([15, 16, 33, 34, 255]);
/** Steps before the stamp that say how the motion would have gone on. */
const KNOWN = 16;
/** Share of the speed: what they may be off a smooth course; how much slower a setpoint is that decelerates. */
const SMOOTH = 0.002;
const SLOWER = 5e-5;
/** As many setpoints in a row are slower, at the end by what a change of jerk as a stop's makes, but no plan's [rad/s^3]. */
const SLOWER_FOR = 8;
const JERK_RAD_S3 = 40;
const SLOWER_AT_END_RAD = (JERK_RAD_S3 / 2) * (SLOWER_FOR * PERIOD_S) ** 2 * PERIOD_S;
const STANDS_RAD = 1e-7;
const AT_REST = 20;
const LATE_END_S = 0.02;

const largest = (a: readonly number[], b: readonly number[]): number =>
  Math.max(...a.map((value, joint) => Math.abs(value - (b[joint] ?? value))));

/** Least squares: the parabola through `values` at -count … -1, as a function. */
function parabola(values: readonly number[]): (x: number) => number {
  const xs = values.map((_, i) => i - values.length);
  const power = (n: number): number => xs.reduce((sum, x) => sum + x ** n, 0);
  const moment = (n: number): number => xs.reduce((sum, x, i) => sum + x ** n * values[i]!, 0);
  const rows = [0, 1, 2].map((n) => [power(n), power(n + 1), power(n + 2), moment(n)]);
  for (let pivot = 0; pivot < 3; pivot += 1)
    for (let row = 0; row < 3; row += 1) {
      if (row === pivot) continue;
      const by = rows[row]![pivot]! / rows[pivot]![pivot]!;
      rows[row] = rows[row]!.map((value, column) => value - by * rows[pivot]![column]!);
    }
  const [c, b, a] = rows.map((row, i) => row[3]! / row[i]!) as [number, number, number];
  return (x) => c + x * (b + x * a);
}

/** Below this share of the cruise a long step says nothing of how many it was. */
const FAST = 0.2;

type Step = { length_rad: number; arrival_s: number };

/**
 * The steps from setpoint to setpoint. One that was overtaken by its successor on the way leaves a step that is several in one:
 * they are put back, along the slope between their neighbours, so that the course has no gap and no kink.
 */
function stepsOf(servo: readonly Arrived[], raw: readonly number[], cruise_rad: number): Step[] {
  const steps: Step[] = [];
  for (const [i, length] of raw.entries()) {
    const { arrival_s } = servo[i]!;
    const before = steps.at(-1)?.length_rad ?? 0;
    const fast = Math.min(before, length) > FAST * cruise_rad;
    const count = fast ? Math.max(1, Math.round(length / before)) : 1;
    const next = (raw[i + 1] ?? 0) / Math.max(1, Math.round((raw[i + 1] ?? 0) / (length / count)));
    const slope = count === 1 ? 0 : (next - before) / (count + 1);
    for (let k = 1; k <= count; k += 1)
      steps.push({ length_rad: length / count + (k - (count + 1) / 2) * slope, arrival_s });
  }
  return steps;
}

/**
 * Reads a stop from the setpoints that arrived. How the motion would have gone on is what the steps right before a setpoint say
 * (their jerk goes on); the first that decelerates is the first after the stamp from which on steps stay clearly below that.
 * Gives null where nothing can be said: the arm stood, its course was not smooth up to there, or it never came to rest.
 */
export function readStop(all: readonly Arrived[], sent_s: number): Deceleration | null {
  const servo = all.filter(({ command }) => command === SERVO);
  const after = servo.findIndex(({ arrival_s }) => arrival_s >= sent_s);
  if (after <= KNOWN) return null;
  const raw = servo.map((one, i) => (i === 0 ? 0 : largest(one.q_rad, servo[i - 1]!.q_rad)));
  const cruise = raw.slice(after - KNOWN, after).sort((a, b) => a - b)[KNOWN >> 1]!;
  if (cruise <= STANDS_RAD) return null;
  const steps = stepsOf(servo, raw, cruise);
  const step = steps.map(({ length_rad }) => length_rad);
  const from = steps.findIndex(({ arrival_s }) => arrival_s >= sent_s);
  const decelerates = (i: number): boolean | null => {
    const before = step.slice(i - KNOWN, i);
    const course = parabola(before);
    const off = Math.max(...before.map((length, n) => Math.abs(length - course(n - KNOWN))));
    if (off > SMOOTH * cruise) return null;
    const tolerance = Math.max(4 * off, SLOWER * cruise);
    const behind = Array.from({ length: SLOWER_FOR }, (_, n) => course(n) - (step[i + n] ?? Number.NaN));
    return behind.every((value) => value > tolerance) && behind[SLOWER_FOR - 1]! > SLOWER_AT_END_RAD;
  };
  // What lies behind a course that is not smooth is not the beginning of the stop.
  const first = steps.findIndex((_, i) => i >= from && decelerates(i) !== false);
  if (decelerates(from) === null || (first >= 0 && decelerates(first) === null)) return null;
  const stop = all.find(({ command, arrival_s }) => arrival_s >= sent_s && STOPS.has(command));
  const begun_s = Math.min(
    steps[first]?.arrival_s ?? Number.POSITIVE_INFINITY,
    stop?.arrival_s ?? Number.POSITIVE_INFINITY,
  );
  const moving = raw.findLastIndex((length) => length > STANDS_RAD);
  // A program that is ended after its arm came to rest stopped nothing.
  if (begun_s > (servo[moving]?.arrival_s ?? 0) + LATE_END_S || moving >= raw.length - AT_REST) return null;
  return {
    delay_s: begun_s - sent_s,
    standstill_s: servo[moving]!.arrival_s - sent_s,
    speed_rad_s: cruise / PERIOD_S,
    distance_rad: largest(servo[after]!.q_actual_rad, servo.at(-1)!.q_actual_rad),
  };
}
