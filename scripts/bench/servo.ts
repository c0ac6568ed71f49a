/**
 * How evenly setpoints leave at 500 Hz while the process beside them is busy, and ur_rtde's own loop under the same load:
 *
 *   npm run bench:servo [-- --seconds 60] [--rounds 6] [--check]
 *
 * Three series take turns, `--seconds` each in all: the arm's driver in this process with garbage, JSON and stereo matching in
 * it; ur_rtde's initPeriod + servoJ + waitPeriod loop in C++ (native/arm/bench/servo_peer.cpp) beside the same load; and the
 * driver without the garbage and JSON. Lateness is of the loops' wake-ups: the driver's against absolute times, ur_rtde's
 * against 2 ms after its own last one, so that what it drifts does not count. Arrival is what the emulated controller received.
 *
 * Goals: lateness p99 below 1 ms, p99.9 not above ur_rtde's, and no dependence on the JavaScript load: p99 with it at most
 * half as much again as without it, or 100 us more. The last line says whether they are met; with --check the exit code does.
 *
 * @module
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { packageFile } from "../../src/contract/package-root.js";
import { ArmDriver } from "../../src/runtime/native/arm.js";
import { START_Q_RAD, TestController, testArmOptions } from "../../src/runtime/native/arm-test-rig.js";
import { addCounts, type Counts, countedQuantile, noCounts, quantileOf } from "./durations.js";
import { ServoLoad } from "./servo-load.js";

const P99_GOAL_US = 1000;
const DEPENDENCE = { factor: 1.5, more_us: 100 } as const;
const SERVO_COMMAND = 11;
/** Joint 1 swings by this and back. */
const SWING = { amplitude_rad: 0.4, period_s: 2 } as const;
/** What starts and ends is left out of the arrivals. */
const EDGE_S = 0.3;
const PERIOD_S = 0.002;
const PRIORITY = 80;
const SERVO = { lookahead_s: 0.05, gain: 500 } as const;

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" },
    rounds: { type: "string", default: "6" },
    check: { type: "boolean", default: false },
  },
});
const seconds = Number(values.seconds);
const asked_rounds = Number(values.rounds);
if (!(seconds >= 2 && seconds <= 3600) || !Number.isInteger(asked_rounds) || asked_rounds < 1) {
  console.error("--seconds is from 2 to 3600, --rounds a whole number from 1");
  process.exit(2);
}
/** Whole swings, so that each slice ends where it began. */
const rounds = Math.min(asked_rounds, Math.floor(seconds / SWING.period_s));
const slice_s = Math.max(1, Math.round(seconds / rounds / SWING.period_s)) * SWING.period_s;

type Series = {
  name: string;
  js: boolean;
  play: () => Promise<void>;
  late: Counts;
  arrivals: number[][];
  cpu_s: number;
  lasted_s: number;
  fifo: boolean;
  turns: number;
  pairs: number;
};

const series = (name: string, js: boolean, play: (into: Series) => Promise<void>): Series => {
  const one: Series = {
    name,
    js,
    play: () => play(one),
    late: noCounts(),
    arrivals: [],
    cpu_s: 0,
    lasted_s: 0,
    fifo: true,
    turns: 0,
    pairs: 0,
  };
  return one;
};

/** Processor time of the driver's own threads, ur_rtde's among them [s]. */
function threadsTime_s(): number {
  const tick_s = 0.01;
  let ticks = 0;
  for (const task of readdirSync("/proc/self/task")) {
    try {
      const stat = readFileSync(`/proc/self/task/${task}/stat`, "utf8");
      const name = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"));
      if (!name.startsWith("s2r-")) continue;
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      ticks += Number(fields[11]) + Number(fields[12]);
    } catch {
      // It ended meanwhile.
    }
  }
  return ticks * tick_s;
}

function swing(from: readonly number[]): { time_s: Float64Array; q_rad: Float64Array } {
  const count = Math.round(slice_s / 0.01) + 1;
  const time_s = Float64Array.from({ length: count }, (_, i) => i * 0.01);
  const q_rad = new Float64Array(6 * count);
  for (const [i, t] of time_s.entries()) {
    q_rad.set(from, 6 * i);
    q_rad[6 * i]! += 0.5 * SWING.amplitude_rad * (1 - Math.cos((2 * Math.PI * t) / SWING.period_s));
  }
  return { time_s, q_rad };
}

const folder = mkdtempSync(join(tmpdir(), "bench-servo-"));
const controller = await TestController.start();
const load = new ServoLoad();

async function playDriver(into: Series): Promise<void> {
  const arm = await ArmDriver.open(
    testArmOptions(controller.host, {
      realtime_priority: PRIORITY,
      servo_lookahead_s: SERVO.lookahead_s,
      servo_gain: SERVO.gain,
    }),
  );
  try {
    into.fifo &&= arm.info.realtime.policy === "fifo";
    const { q_rad, stop_epoch } = arm.state();
    const ended = new Promise<string>((resolve) =>
      arm.onEvent((event) => {
        if (event.kind === "motion_ended") resolve(event.end_reason);
        if (event.kind === "fault") resolve(event.message);
      }),
    );
    const before = arm.timing().wake_lateness.counts_us;
    const [used_s, begun_ms] = [threadsTime_s(), performance.now()];
    arm.execute(1, stop_epoch, swing(Array.from(q_rad)));
    const end = await ended;
    into.cpu_s += threadsTime_s() - used_s;
    into.lasted_s += (performance.now() - begun_ms) / 1e3;
    addCounts(into.late, arm.timing().wake_lateness.counts_us, before);
    if (end !== "END_COMPLETED") throw new Error(`the swing ended with ${end}`);
  } finally {
    await arm.close();
  }
}

type PeerReport = { fifo: boolean; refused: number; lasted_s: number; processor_s: number; counts_us: number[] };

async function playPeer(into: Series): Promise<void> {
  const child: ChildProcess = spawn(
    packageFile("build", "Release", "arm-servo-peer"),
    [
      controller.host,
      ...[slice_s, PRIORITY, SERVO.lookahead_s, SERVO.gain, SWING.amplitude_rad, SWING.period_s].map(String),
      ...START_Q_RAD.map(String),
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  let report: PeerReport | null = null;
  const ended = once(child, "exit");
  for await (const line of createInterface({ input: child.stdout! })) {
    // ur_rtde says what it does on the same stream.
    if (line.startsWith('{"done"')) report = JSON.parse(line) as PeerReport;
  }
  const [code] = (await ended) as [number | null];
  if (!report) throw new Error(`ur_rtde's loop ended with ${code} and without its report`);
  if (report.refused > 0) throw new Error(`ur_rtde refused ${report.refused} of its setpoints`);
  into.fifo &&= report.fifo;
  into.cpu_s += report.processor_s;
  into.lasted_s += report.lasted_s;
  addCounts(into.late, report.counts_us);
}

/** When the setpoints of a slice reached the controller, its start and end left out [s]. */
async function arrivals(): Promise<number[]> {
  const all = await controller.setpoints(join(folder, "setpoints.csv"));
  const servo = all.filter(({ command }) => command === SERVO_COMMAND).map(({ arrival_s }) => arrival_s);
  const [first = 0, last = 0] = [servo[0], servo.at(-1)];
  return servo.filter((at_s) => at_s > first + EDGE_S && at_s < last - EDGE_S);
}

async function playSlice(one: Series): Promise<void> {
  await controller.ask({ clear_setpoints: true });
  load.startStereo();
  if (one.js) load.startJs();
  try {
    await one.play();
  } finally {
    const { turns, pairs } = await load.stop();
    one.turns += turns;
    one.pairs += pairs;
  }
  one.arrivals.push(await arrivals());
  await sleep(300); // the emulated controller has ended the program
}

/** cyclictest beside all of it, through the same minutes and loads: what this machine's timers alone are late. */
function startCyclictest(): { report: () => Promise<string> } {
  if (spawnSync("which", ["cyclictest"]).status !== 0)
    return {
      report: async () =>
        "cyclictest: not installed (apt-get install rt-tests), so nothing is known of the timers alone",
    };
  const child = spawn("cyclictest", ["-m", "-q", "-t1", "-p", String(PRIORITY - 1), "-i", "2000", "-h", "8000"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "close");
  let text = "";
  let errors = "";
  child.stderr.on("data", (bytes: Buffer) => {
    errors += bytes.toString();
  });
  child.stdout.on("data", (bytes: Buffer) => {
    text += bytes.toString();
  });
  return {
    report: async () => {
      child.kill("SIGINT");
      await ended;
      const counts = noCounts();
      for (const [, us, count] of text.matchAll(/^(\d{6})\s+(\d+)/gm)) counts[Number(us)]! += Number(count);
      const most = /Max Latencies:\s*(\d+)/.exec(text)?.[1];
      if (most === undefined || !counts.some((count) => count > 0))
        return `cyclictest: it measured nothing (${errors.trim().split("\n")[0] || `exit code ${child.exitCode}`})`;
      return `cyclictest, every 2 ms at FIFO ${PRIORITY - 1}, the same minutes: late p50 ${countedQuantile(counts, 0.5)} us, p99 ${countedQuantile(counts, 0.99)} us, p99.9 ${countedQuantile(counts, 0.999)} us, max ${Number(most)} us`;
    },
  };
}

const driver = series("driver, JS load", true, playDriver);
const peer = series("ur_rtde loop, JS load", true, playPeer);
const quiet = series("driver, no JS load", false, playDriver);
const all = [driver, peer, quiet];
const load_before = loadavg();
const timers = startCyclictest();
try {
  for (let round = 0; round < rounds; round += 1)
    for (const one of round % 2 === 0 ? all : all.toReversed()) await playSlice(one);
} finally {
  await load.stop();
  await controller.stop();
  rmSync(folder, { recursive: true, force: true });
}

const us = (value: number): string => `${Math.round(value)}`.padStart(8);
console.log(
  `${rounds} rounds of ${slice_s} s a series, in turns; load average ${load_before.map((one) => one.toFixed(1)).join(" ")} before, ${loadavg()[0]!.toFixed(1)} after`,
);
console.log(
  `${"[us]".padEnd(24)}${["late p50", "p99", "p99.9", "max", "jitter p50", "p99", "p99.9", "max", "missed", "setpoints", "CPU %", "FIFO", "JS turns", "pairs"].map((head) => head.padStart(head.length > 8 ? 11 : 8)).join("")}`,
);
for (const one of all) {
  const gaps = one.arrivals.flatMap((times) => times.slice(1).map((at, i) => at - times[i]!));
  const jitter = gaps.map((gap) => 1e6 * Math.abs(gap - PERIOD_S)).sort((a, b) => a - b);
  // A setpoint more than a period late: the controller went through a cycle without a new one.
  const missed = gaps.filter((gap) => gap > 2 * PERIOD_S).length;
  const most = one.late.findLastIndex((count) => count > 0);
  console.log(
    [
      one.name.padEnd(24),
      ...[0.5, 0.99, 0.999].map((share) => us(countedQuantile(one.late, share))),
      us(most),
      us(quantileOf(jitter, 0.5)).padStart(11),
      ...[0.99, 0.999, 1].map((share) => us(quantileOf(jitter, share))),
      String(missed).padStart(8),
      String(gaps.length).padStart(11),
      ((100 * one.cpu_s) / one.lasted_s).toFixed(1).padStart(8),
      (one.fifo ? "yes" : "no").padStart(8),
      String(one.turns).padStart(8),
      String(one.pairs).padStart(8),
    ].join(""),
  );
}
console.log(
  "late: wake-ups of the loop; jitter: distance of arrivals from 2 ms; missed: gaps above 4 ms; CPU: of one processor, the driver's threads, and the whole process of ur_rtde's loop",
);
console.log(await timers.report());

const [p99, p999, peer_p999, quiet_p99] = [
  countedQuantile(driver.late, 0.99),
  countedQuantile(driver.late, 0.999),
  countedQuantile(peer.late, 0.999),
  countedQuantile(quiet.late, 0.99),
];
const independent = p99 <= Math.max(DEPENDENCE.factor * quiet_p99, quiet_p99 + DEPENDENCE.more_us);
const met = p99 < P99_GOAL_US && p999 <= peer_p999 && independent;
const figures = [
  `late p99 ${p99} us, below ${P99_GOAL_US} us asked`,
  `p99.9 ${p999} us, ur_rtde's loop ${peer_p999} us`,
  `p99 without the JS load ${quiet_p99} us`,
  ...(driver.fifo && peer.fifo ? [] : ["without FIFO, which was refused"]),
];
console.log(`servo: goal ${met ? "met" : "missed"} (${figures.join("; ")})`);
process.exit(values.check && !met ? 1 : 0);
