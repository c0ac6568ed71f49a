import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { SimBackend } from "../../backends/sim/launch.js";
import type { SimSpawnOptions } from "../../backends/sim/sim-backend.js";
import { compiledModule } from "../../src/contract/package-root.js";
import { jointTrajectory, nearby } from "../../src/evaluation/conformance/motion.js";
import { runConformance } from "../../src/evaluation/conformance/run-conformance.js";
import { PrivilegedClient } from "../../src/evaluation/privileged-client.js";
import { DeviceClient } from "../../src/runtime/device/device-client.js";

/** What the whole project promises of a backend that is gone. */
const SEEN_WITHIN_MS = 1000;

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

async function untilDead(pid: number): Promise<void> {
  for (let waited = 0; alive(pid); waited += 20) {
    if (waited > 10_000) throw new Error(`process ${pid} is still there after 10 s`);
    await sleep(20);
  }
}

async function simulator(options: Partial<SimSpawnOptions> = {}, variant = "") {
  const sim = await SimBackend.spawn({ privileged: true, ...options });
  endings.push(async () => {
    if (alive(sim.pid)) process.kill(sim.pid, "SIGCONT");
    await sim.close();
  });
  const evaluator = await PrivilegedClient.connect(sim.privileged!);
  endings.push(() => evaluator.close());
  await evaluator.reset({ task: "r1", seed: 7, variant });
  return { sim, evaluator };
}

async function controller(sim: SimBackend): Promise<DeviceClient> {
  const client = await DeviceClient.connect({ ...sim.addresses, role: "CONTROLLER", client: "faults", leaseMs: 1500 });
  endings.push(() => client.close());
  return client;
}

/** Starts a motion of some seconds. */
async function startMotion(client: DeviceClient) {
  const { arms, stop_epoch } = await client.getState();
  const arm = client.capabilities.arms[0]!;
  const { q_rad } = arms[0]!;
  const trajectory = jointTrajectory(arm, q_rad, nearby(q_rad, 0.5));
  trajectory.time_s = trajectory.time_s.map((time_s) => 3 * time_s);
  const motions = [{ joint_trajectory: trajectory }];
  return { ...(await client.execute({ stop_epoch, motions })), motions, q_rad };
}

/** Resolves with the host time at which the client tells that its backend is lost. */
const lostAt = (client: DeviceClient): Promise<number> =>
  new Promise((resolve) => client.onLost(() => resolve(performance.now())));

/** Advances in the middle of a motion without end, as a runtime does, until a call fails; gives its error. */
async function advanceUntilItFails(client: DeviceClient): Promise<unknown> {
  try {
    for (;;) await client.advance({ until_s: client.time_s + 0.01, through_motion_ends: true });
  } catch (error) {
    return error;
  }
}

describe("a backend that is gone in the middle of a motion is seen within a second", () => {
  const faults = [
    ["killed", "SIGKILL"],
    ["stopped", "SIGSTOP"],
  ] as const;

  for (const [word, signal] of faults) {
    it(`${word}, while a program waits for simulated time`, async () => {
      const { sim } = await simulator();
      const client = await controller(sim);
      await startMotion(client);
      const failed = advanceUntilItFails(client);
      const lost = lostAt(client);
      await sleep(300);
      const began_ms = performance.now();
      process.kill(sim.pid, signal);
      expect((await lost) - began_ms).toBeLessThanOrEqual(SEEN_WITHIN_MS);
      expect(await failed).toMatchObject({ code: "backend_lost" });
      await expect(client.getState()).rejects.toMatchObject({ code: "backend_lost" });
    });

    it(`${word}, on a wall clock, while nothing is asked`, async () => {
      const { sim } = await simulator({ realtime: 1 });
      const client = await controller(sim);
      await startMotion(client);
      const lost = lostAt(client);
      await sleep(400);
      const began_ms = performance.now();
      process.kill(sim.pid, signal);
      expect((await lost) - began_ms).toBeLessThanOrEqual(SEEN_WITHIN_MS);
    });
  }

  it("hung: its process lives and its sockets answer the network, but its work stands", async () => {
    // The test world of the server core, told to hang in the middle of its first motion.
    const { sim } = await simulator({ world: "fake", module: "skill2real_sim.core.testing" }, "hung_step");
    const client = await controller(sim);
    await startMotion(client);
    const lost = lostAt(client);
    await client.advance({ until_s: 0.4 });
    const began_ms = performance.now();
    const failed = client.advance({ until_s: 0.6 }).catch((error: unknown) => error);
    expect((await lost) - began_ms).toBeLessThanOrEqual(SEEN_WITHIN_MS);
    expect(await failed).toMatchObject({ code: "backend_lost" });
    expect(alive(sim.pid)).toBe(true);
    await sim.close();
    expect(alive(sim.pid)).toBe(false);
  });
});

describe("nothing is silently reset", () => {
  it("a backend that comes back has stopped its arm, and its old session stays lost", async () => {
    const { sim } = await simulator({ realtime: 1 });
    const client = await controller(sim);
    await startMotion(client);
    const lost = lostAt(client);
    process.kill(sim.pid, "SIGSTOP");
    await lost;
    process.kill(sim.pid, "SIGCONT");
    const watcher = await DeviceClient.connect({ ...sim.addresses, role: "OBSERVER", client: "faults" });
    endings.push(() => watcher.close());
    await expect.poll(async () => (await watcher.getState()).stop_latched, { timeout: 5000 }).toBe(true);
    await expect(client.getState()).rejects.toMatchObject({ code: "backend_lost" });
    expect(client.lost).toBe(true);
  });
});

describe("motions", () => {
  it("a repeated request does not move twice, and an Execute from before a stop never moves", async () => {
    const { sim } = await simulator();
    const names = ["repeated_execute_moves_once", "execute_of_an_older_epoch", "execute_is_refused_while_stopped"];
    const results = await runConformance({ target: { ...target(sim), allowMotion: true }, filter: names });
    expect(results.map(({ outcome, message }) => outcome + message)).toEqual(["passed", "passed", "passed"]);
  });
});

describe("messages that are none", () => {
  it("malformed, oversized, of another version or without the token: refused, and the server lives", async () => {
    const { sim } = await simulator();
    const filter = ["robustness", "another_major_version", "wrong_token", "garbage", "unreadable_stop", "mean_nothing"];
    const results = await runConformance({ target: { ...target(sim), allowMotion: true }, filter });
    expect(results.filter(({ outcome }) => outcome !== "passed")).toEqual([]);
    expect(results.length).toBeGreaterThanOrEqual(15);
    expect(alive(sim.pid)).toBe(true);
  });
});

const target = (sim: SimBackend) => ({
  addresses: sim.addresses,
  ...(sim.privileged ? { privileged: sim.privileged } : {}),
});

function child(file: string, needs: string): ChildProcess {
  if (!existsSync(compiledModule(needs)))
    throw new Error(`${compiledModule(needs)} is missing: run "npm run build" first`);
  const path = fileURLToPath(new URL(file, import.meta.url));
  const process_ = spawn(process.execPath, [path], { stdio: ["pipe", "pipe", "inherit"] });
  endings.push(() => process_.kill("SIGKILL"));
  return process_;
}

const firstLine = (from: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    createInterface({ input: from.stdout! }).once("line", resolve);
    from.once("exit", (code) => reject(new Error(`the child ended (exit code ${code}) before it said anything`)));
  });

describe("a runtime that is killed", () => {
  it("lets its lease lapse: the arm stops, then the simulator ends", async () => {
    const { sim } = await simulator({ realtime: 1, exitOnLeaseLapse: true });
    const watcher = await DeviceClient.connect({ ...sim.addresses, role: "OBSERVER", client: "faults" });
    endings.push(() => watcher.close());
    const heard: string[] = [];
    watcher.onEvent((event) => {
      if (event.stopped) heard.push(`stopped: ${event.stopped.reason}`);
      const end_reason = event.motion_ended?.motions[0]?.end_reason;
      if (end_reason) heard.push(end_reason);
      if (event.ending) heard.push("ending");
    });
    const runtime = child("./runtime-process.mjs", "src/runtime/device/device-client.ts");
    runtime.stdin!.write(`${JSON.stringify(sim.addresses)}\n`);
    expect(await firstLine(runtime)).toBe("moving");
    await sleep(500);
    expect((await watcher.getState()).groups.at(-1)?.active).toBe(true);
    runtime.kill("SIGKILL");
    expect(await sim.exited).toMatchObject({ code: 3, signal: null });
    expect(heard.filter((word) => word !== "ending")).toEqual(["stopped: lease lapsed", "END_STOPPED"]);
    expect(alive(sim.pid)).toBe(false);
  });
});

describe("a launcher that is killed", () => {
  it("leaves no simulator behind, and the next launcher removes its folder", async () => {
    const launcher = child("./parent-process.mjs", "backends/sim/launch.ts");
    const { pid, folder } = JSON.parse(await firstLine(launcher)) as { pid: number; folder: string };
    expect(alive(pid)).toBe(true);
    launcher.kill("SIGKILL");
    await untilDead(pid);
    await simulator();
    expect(existsSync(folder)).toBe(false);
  });
});
