/**
 * How long a stop takes from its send stamp to the first decelerating setpoint at the controller, by each way there is:
 *
 *   npm run bench:stop [-- --tries 100] [--runs 10] [--only WORD] [--check]
 *
 * On the emulated rig (the twin behind the real protocols), the native backend between. `--tries` is of each way that needs no
 * new backend, `--runs` of those that do (Ctrl-C of a run, also with its main thread in an endless loop, and the guest
 * killed). The setpoints are those that the emulated
 * controller received, with its stamps of CLOCK_MONOTONIC. Where the bench moves the arm itself, the TCP goes at 1 m/s.
 *
 * Goal: p99 at most 10 ms for every way. The last line says whether it is met; with --check the exit code does too.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import WebSocket from "ws";
import { EmulatedRig } from "../../backends/emulators/rig/launch.js";
import { NativeBackend } from "../../backends/native/launch.js";
import { noteBackend } from "../../src/cli/live-backends.js";
import { compiledModule, packageFile } from "../../src/contract/package-root.js";
import { PlantTruth } from "../../src/evaluation/hil/plant-truth.js";
import { DeviceClient } from "../../src/runtime/device/device-client.js";
import { StopChannel } from "../../src/runtime/device/stop-channel.js";
import { loadOperations } from "../../src/runtime/required-skills.js";
import { Session } from "../../src/runtime/session.js";
import { quantileOf } from "./durations.js";
import { type Arrived, type Deceleration, readStop } from "./stop-distance.js";

const GOAL_MS = 10;
const TCP_SPEED_M_S = 1;
/** Part of the joint's limits that the bench's motion uses. */
const CARE = { velocity: 0.95, acceleration: 0.85 } as const;
const CRUISE_S = 0.5;
const LEASE_MS = 20_000;
/** Longer than the endless loop lasts. */
const LOST_AFTER_MS = 8000;
const LOOP_MS = 1500;
const REST_MS = 900;
const ATTEMPTS = 4;
/** More of them than a command takes to start. */
const SWEEPS = 9;

const { values } = parseArgs({
  options: {
    tries: { type: "string", default: "100" },
    runs: { type: "string", default: "10" },
    only: { type: "string", default: "" },
    check: { type: "boolean", default: false },
  },
});
const [tries, runs] = [Number(values.tries), Number(values.runs)];
if (![tries, runs].every((count) => Number.isInteger(count) && count >= 0 && count <= 100_000)) {
  console.error("--tries and --runs are whole numbers");
  process.exit(2);
}

const now_s = (): number => Number(process.hrtime.bigint()) / 1e9;
const folder = mkdtempSync(join(tmpdir(), "bench-stop-"));
const rig = await EmulatedRig.start({ seed: 0 });

async function arrived(): Promise<Arrived[]> {
  const file = join(folder, "setpoints.csv");
  await rig.tell("controller", { dump: "setpoints", path: file });
  const [head = "", ...rows] = readFileSync(file, "utf8").trim().split("\n");
  const columns = head.split(",");
  const at = (name: string): number => columns.indexOf(name);
  const [setpoint, actual] = [at("q_setpoint_0_rad"), at("q_actual_0_rad")];
  return rows.map((row) => {
    const numbers = row.split(",").map(Number);
    return {
      arrival_s: numbers[at("arrival_s")]!,
      command: numbers[at("command")]!,
      q_rad: numbers.slice(setpoint, setpoint + 6),
      q_actual_rad: numbers.slice(actual, actual + 6),
    };
  });
}

const forget = (): Promise<unknown> => rig.tell("controller", { clear_setpoints: true });

// ---------------------------------------------------------------- the bench's own motion

/** Joint 1 to `sign` at a speed that is reached smoothly, held for a while and left smoothly; then back, and so on. */
function sweep(from: readonly number[], sign: number, speed_rad_s: number, ramp_s: number, times: number) {
  const spacing_s = 0.01;
  const duration_s = 2 * ramp_s + CRUISE_S;
  const count = times * Math.ceil(duration_s / spacing_s) + 1;
  const way = (s: number): number => s ** 4 * (2.5 - 3 * s + s * s); // of the speed s^3 (10 - 15 s + 6 s^2)
  const travel = (t: number): number => {
    if (t < ramp_s) return ramp_s * way(t / ramp_s);
    if (t < ramp_s + CRUISE_S) return 0.5 * ramp_s + (t - ramp_s);
    return ramp_s + CRUISE_S - ramp_s * way(Math.max(0, duration_s - t) / ramp_s);
  };
  const time_s = Array.from({ length: count }, (_, i) => (i * times * duration_s) / (count - 1));
  const place = (t: number): number => {
    const turn = Math.min(times - 1, Math.floor(t / duration_s));
    const within = travel(Math.min(duration_s, t - turn * duration_s));
    return turn % 2 === 0 ? within : ramp_s + CRUISE_S - within;
  };
  const q_rad = time_s.flatMap((t) => from.map((q, joint) => (joint === 0 ? q + sign * speed_rad_s * place(t) : q)));
  return { time_s, q_rad };
}

/** A backend that the bench moves the arm through. */
class Mover {
  readonly client: DeviceClient;
  readonly backend: NativeBackend;
  readonly session: Session;
  radius_m = 0;
  #sign = 1;
  #inspector = "";

  static async open(): Promise<Mover> {
    const words: string[] = [];
    // So that the endless loop can be put into this very process, by its debugger.
    process.env.NODE_OPTIONS = "--inspect-port=127.0.0.1:0";
    const backend = await NativeBackend.spawn({ rig: rig.rig, onLog: (line) => void words.push(line) });
    delete process.env.NODE_OPTIONS;
    const client = await DeviceClient.connect({
      ...backend.addresses,
      role: "CONTROLLER",
      client: "bench stop",
      leaseMs: LEASE_MS,
      lostAfterMs: LOST_AFTER_MS,
    });
    const mover = new Mover(backend, client, Session.open({ device: client, operations: await loadOperations() }));
    process.kill(backend.pid, "SIGUSR1");
    for (let waited = 0; mover.#inspector === "" && waited < 200; waited += 1) {
      mover.#inspector = /ws:\/\/\S+/.exec(words.join("\n"))?.[0] ?? "";
      await sleep(50);
    }
    return mover;
  }

  private constructor(backend: NativeBackend, client: DeviceClient, session: Session) {
    this.backend = backend;
    this.client = client;
    this.session = session;
  }

  /** Starts a sweep, the other way than the last one; resolves in the middle of its first cruise. */
  async cruise(times = 1): Promise<void> {
    const state = await this.client.getState();
    if (state.stop_latched) await this.session.resume();
    const [arm] = state.arms;
    const limit = this.client.capabilities.arms[0]?.limits[0];
    if (!arm || !limit) throw new Error("the backend has no arm");
    this.radius_m = Math.hypot(arm.X_world_tcp[3]!, arm.X_world_tcp[7]!);
    const speed_rad_s = Math.min(TCP_SPEED_M_S / this.radius_m, CARE.velocity * limit.velocity_rad_s);
    const ramp_s = (1.875 * speed_rad_s) / (CARE.acceleration * limit.acceleration_rad_s2);
    // To the side that lies farther from where it may not turn.
    const middle_rad = -1.8;
    this.#sign = (arm.q_rad[0] ?? 0) > middle_rad ? -1 : 1;
    const { time_s, q_rad } = sweep(arm.q_rad, this.#sign, speed_rad_s, ramp_s, times);
    await forget();
    await this.client.execute({
      stop_epoch: this.client.stopEpoch,
      motions: [{ joint_trajectory: { arm: arm.name, time_s, q_rad } }],
    });
    await sleep(1e3 * (ramp_s + CRUISE_S * (0.3 + 0.4 * Math.random())));
  }

  /** Runs until the backend's JavaScript is in its endless loop; `over` resolves when the loop has ended. */
  async hang(): Promise<{ over: Promise<void> }> {
    if (this.#inspector === "") throw new Error("the backend's debugger did not answer");
    const socket = new WebSocket(this.#inspector);
    await once(socket, "open");
    const expression = `{ const until = Date.now() + ${LOOP_MS}; while (Date.now() < until); }`;
    socket.send(JSON.stringify({ id: 1, method: "Runtime.evaluate", params: { expression } }));
    let going = true;
    const over = once(socket, "message").then(() => {
      going = false;
      socket.close();
    });
    await sleep(60);
    if (!going) throw new Error("the backend's JavaScript does not hang");
    return { over };
  }

  async close(): Promise<void> {
    await this.session.close();
    this.client.close();
    await this.backend.close();
  }
}

// ---------------------------------------------------------------- ways to stop

type Stopped = { sent_s: number; after?: Promise<unknown> };

async function bySocket({ backend }: Mover): Promise<Stopped> {
  const channel = new StopChannel({ address: backend.addresses.stop, lostAfterMs: LOST_AFTER_MS });
  const sent_s = now_s();
  await channel.stop("", "bench: stop socket");
  channel.close();
  return { sent_s };
}

async function bySession({ session }: Mover): Promise<Stopped> {
  const sent_s = now_s();
  await session.stop("bench: session");
  return { sent_s };
}

/** `skill2real stop` must find this backend alone, so it looks in a folder of its own. */
async function startCli({ backend }: Mover): Promise<() => Promise<Stopped>> {
  const before = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  const remove = noteBackend(backend.addresses);
  if (before === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = before;
  return async () => {
    const child = spawn(process.execPath, [packageFile("bin", "skill2real.js"), "stop", "--json"], {
      env: { ...process.env, TMPDIR: folder },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let text = "";
    child.stdout.on("data", (bytes: Buffer) => {
      text += bytes.toString();
    });
    await once(child, "close");
    remove();
    return { sent_s: (JSON.parse(text) as { sent_s: number }).sent_s };
  };
}

// ---------------------------------------------------------------- tables

type Way = { name: string; stops: (Deceleration & { radius_m: number | null })[]; void_tries: number; wanted: number };
const ways: Way[] = [];

/** Repeats a try that says nothing: the motion was over, or was slowing down by itself. */
async function repeat(
  name: string,
  count: number,
  work: () => Promise<{ sent_s: number; radius_m: number | null } | null>,
): Promise<void> {
  if (count === 0 || !name.includes(values.only)) return;
  const way: Way = { name, stops: [], void_tries: 0, wanted: count };
  ways.push(way);
  const [most, limit_tries] = [count, ATTEMPTS * count];
  for (let i = 0; i < limit_tries && way.stops.length < most; i += 1) {
    const sent = await work();
    const stop = sent ? readStop(await arrived(), sent.sent_s) : null;
    if (sent && stop) way.stops.push({ ...stop, radius_m: sent.radius_m });
    else way.void_tries += 1;
  }
  console.log(`  ${name}: ${way.stops.length} stops, ${way.void_tries} tries that say nothing`);
}

async function byOwnMotion(mover: Mover, stop: (mover: Mover) => Promise<Stopped>) {
  await mover.cruise();
  const { sent_s, after } = await stop(mover);
  await sleep(REST_MS);
  await after;
  return { sent_s, radius_m: mover.radius_m };
}

/** The program of the descendant that runs the guest, once there is one. */
function guestOf(pid: number): number | null {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
    } catch {
      // It ended meanwhile.
    }
  }
  const below = (child: number): boolean => {
    const parent = parents.get(child);
    return parent !== undefined && (parent === pid || below(parent));
  };
  for (const child of parents.keys()) {
    if (!below(child)) continue;
    try {
      const command = readFileSync(`/proc/${child}/cmdline`, "utf8").split("\0");
      if (command[0]?.includes("node") && command.some((word) => word.includes("guest-main"))) return child;
    } catch {
      // It ended meanwhile.
    }
  }
  return null;
}

/** A run of `stop-run.ts`, stopped while its arm moves. */
async function byRun(
  stop: (child: ChildProcess, guest: number | null) => Promise<number | null> | number | null,
  hung = false,
): Promise<{ sent_s: number; radius_m: null } | null> {
  const child = spawn(
    process.execPath,
    [compiledModule("scripts/bench/stop-run.ts"), JSON.stringify(rig.rig), join(folder, "runs")],
    // A group of its own, so that it can be sent what a terminal sends.
    { stdio: ["ignore", "pipe", "pipe"], detached: true },
  );
  const words: string[] = [];
  for (const stream of [child.stdout, child.stderr] as Readable[])
    stream.on("data", (bytes: Buffer) => words.push(bytes.toString()));
  const ended = once(child, "close");
  const truth = new PlantTruth(rig.plantPath);
  try {
    await forget();
    const give_up_s = now_s() + 90;
    const speed = (): number => Math.max(...truth.read().qd_rad_s.map(Math.abs));
    const guest = (): boolean => guestOf(child.pid!) !== null;
    for (let before = 0, steady = 0; steady < 3; ) {
      const now = speed();
      // Fast, and in the middle of its way rather than at an end.
      steady = now > 0.4 && Math.abs(now - before) < 0.1 * now && (steady > 0 || guest()) ? steady + 1 : 0;
      before = now;
      if (child.exitCode !== null || now_s() > give_up_s) {
        console.log(`    a run that did not move: ${words.join("").trim().split("\n").at(-1)}`);
        return null;
      }
      await sleep(15);
    }
    const sent_s = await stop(child, guestOf(child.pid!));
    await sleep(REST_MS);
    if (hung) child.kill("SIGKILL");
    await ended;
    return sent_s === null ? null : { sent_s, radius_m: null };
  } finally {
    truth.close();
    child.kill("SIGKILL");
  }
}

/** The kernel takes a killed process's memory down before anybody can know of its end. */
const teardown_s: number[] = [];

/** Waits, without a pause, until a process has ended, all its threads; gives the last moment at which it had not. */
function endOf(pid: number): number {
  for (let last_s = now_s(); ; ) {
    const looked_s = now_s();
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const first_ended = "ZX".includes(stat[stat.lastIndexOf(")") + 2] ?? "Z");
      if (first_ended && readdirSync(`/proc/${pid}/task`).length <= 1) return last_s;
    } catch {
      return last_s;
    }
    last_s = looked_s;
  }
}

const load_before = loadavg();
try {
  const mover = await Mover.open();
  try {
    await repeat("stop socket", tries, () => byOwnMotion(mover, bySocket));
    await repeat("session.stop", tries, () => byOwnMotion(mover, bySession));
    await repeat("skill2real stop", Math.ceil(tries / 2), async () => {
      // The command takes its time to start, so the arm sweeps to and fro until it has sent its stop.
      const run = await startCli(mover);
      await mover.cruise(SWEEPS);
      const stopped = await run();
      await sleep(REST_MS);
      return { ...stopped, radius_m: mover.radius_m };
    });
    await repeat("JavaScript hung", tries, () =>
      byOwnMotion(mover, async () => {
        const { over } = await mover.hang();
        return { ...(await bySocket(mover)), after: over };
      }),
    );
  } finally {
    await mover.close();
  }
  const interrupt = (child: ChildProcess): number | null => {
    const sent_s = now_s();
    return process.kill(-child.pid!, "SIGINT") ? sent_s : null;
  };
  await repeat("Ctrl-C of a run", runs, () => byRun(interrupt));
  await repeat("Ctrl-C, run hung", runs, () =>
    byRun(async (child) => {
      child.kill("SIGUSR2");
      await sleep(60);
      return interrupt(child);
    }, true),
  );
  await repeat("guest killed", runs, () =>
    byRun((_, guest) => {
      if (guest === null) return null;
      const killed_s = now_s();
      process.kill(guest, "SIGKILL");
      const gone_s = endOf(guest);
      teardown_s.push(gone_s - killed_s);
      return gone_s;
    }),
  );
} finally {
  await rig.close();
  rmSync(folder, { recursive: true, force: true });
}

const ms = (value: number): string => (1e3 * value).toFixed(2).padStart(9);
const sortedOf = (numbers: number[]): number[] => numbers.sort((a, b) => a - b);
console.log(
  `load average ${load_before.map((one) => one.toFixed(1)).join(" ")} before, ${loadavg()[0]!.toFixed(1)} after`,
);
console.log(
  `${"[ms]".padEnd(18)}${["p50", "p99", "max", "rest p50", "rest max", "stops"].map((head) => head.padStart(9)).join("")}   stopping distance`,
);
for (const { name, stops } of ways) {
  const delays = sortedOf(stops.map(({ delay_s }) => delay_s));
  const rests = sortedOf(stops.map(({ standstill_s }) => standstill_s));
  const moved = stops.flatMap(({ radius_m, speed_rad_s, distance_rad }) =>
    radius_m === null ? [] : [{ speed_m_s: speed_rad_s * radius_m, distance_m: distance_rad * radius_m }],
  );
  const distances = sortedOf(moved.map(({ distance_m }) => distance_m));
  const speeds = sortedOf(moved.map(({ speed_m_s }) => speed_m_s));
  const words =
    moved.length === 0
      ? `from ${quantileOf(sortedOf(stops.map(({ speed_rad_s }) => speed_rad_s)), 0.5).toFixed(2)} rad/s of the fastest joint`
      : `from ${quantileOf(speeds, 0.5).toFixed(2)} m/s: p50 ${(1e3 * quantileOf(distances, 0.5)).toFixed(0)} mm, max ${(1e3 * quantileOf(distances, 1)).toFixed(0)} mm`;
  console.log(
    `${name.padEnd(18)}${[quantileOf(delays, 0.5), quantileOf(delays, 0.99), quantileOf(delays, 1), quantileOf(rests, 0.5), quantileOf(rests, 1)].map(ms).join("")}${String(stops.length).padStart(9)}   ${words}`,
  );
}
console.log("from the send stamp to the first decelerating setpoint at the controller; rest: to the last that moves");
if (teardown_s.length > 0)
  console.log(
    `guest killed: from the end of its process; that took the kernel p50 ${ms(quantileOf(sortedOf(teardown_s), 0.5)).trim()} ms, max ${ms(quantileOf(sortedOf(teardown_s), 1)).trim()} ms from SIGKILL on`,
  );
const worst = ways.map(({ name, stops }) => ({
  name,
  p99_ms: 1e3 * quantileOf(sortedOf(stops.map(({ delay_s }) => delay_s)), 0.99),
}));
const complete = ways.every(({ stops, wanted }) => stops.length === wanted);
const met = complete && worst.every(({ p99_ms }) => p99_ms <= GOAL_MS);
const figures = worst.map(({ name, p99_ms }) => `${name} p99 ${p99_ms.toFixed(1)} ms`);
console.log(
  `stop: goal ${met ? "met" : "missed"} (${figures.join(", ")}; at most ${GOAL_MS} ms asked${complete ? "" : "; a way has too few stops"})`,
);
process.exit(values.check && !met ? 1 : 0);
