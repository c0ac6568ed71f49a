import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { compiledModule } from "../../src/contract/package-root.js";
import { countResults, formatResults } from "../../src/evaluation/conformance/format-results.js";
import { type CheckResult, runConformance } from "../../src/evaluation/conformance/run-conformance.js";
import { DeviceClient } from "../../src/runtime/device/device-client.js";
import { EmulatedRig } from "../emulators/rig/launch.js";
import { NativeBackend } from "./launch.js";
import { operatorRecover, operatorStatus } from "./operator.js";

/** A whole emulated rig and a native backend on it; both end together. */
async function start(): Promise<{ rig: EmulatedRig; native: NativeBackend; close: () => Promise<void> }> {
  const rig = await EmulatedRig.start({ seed: 1 });
  try {
    const native = await NativeBackend.spawn({ rig: rig.rig });
    const close = async (): Promise<void> => {
      await native.close();
      await rig.close();
    };
    return { rig, native, close };
  } catch (error) {
    await rig.close();
    throw error;
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function gone(pid: number, within_ms: number): Promise<boolean> {
  for (const give_up_ms = performance.now() + within_ms; performance.now() < give_up_ms; await sleep(50))
    if (!alive(pid)) return true;
  return !alive(pid);
}

/** A turn of the last joint from where the arm is. */
async function turn(client: DeviceClient, amount_rad: number, duration_s: number) {
  const { arms } = await client.getState();
  const from = arms[0]!.q_rad;
  const count = Math.ceil(duration_s / 0.01) + 1;
  const parts = Array.from({ length: count }, (_, i) => i / (count - 1));
  const smooth = (s: number): number => s * s * s * (10 - 15 * s + 6 * s * s);
  return {
    joint_trajectory: {
      arm: "arm",
      time_s: parts.map((part) => part * duration_s),
      q_rad: parts.flatMap((part) => from.map((q, joint) => (joint === 5 ? q - smooth(part) * amount_rad : q))),
    },
  };
}

describe("the native backend on the emulated rig conforms", () => {
  let started: Awaited<ReturnType<typeof start>>;
  let results: CheckResult[];

  beforeAll(async () => {
    started = await start();
    const spawnAnother = async () => {
      const { native, close } = await start();
      return { addresses: native.addresses, close };
    };
    const filter = process.env.S2R_CONFORMANCE?.split(",");
    results = await runConformance({
      target: { addresses: started.native.addresses, allowMotion: true, spawnAnother },
      ...(filter ? { filter } : {}),
    });
    console.log(formatResults(results));
  }, 900_000);
  afterAll(() => started?.close(), 30_000);

  it("in every check, without an exception", () => {
    const failed = results.filter((result) => result.outcome === "failed");
    expect(failed.map((result) => `${result.name}: ${result.message}`)).toEqual([]);
  });

  it.skipIf(process.env.S2R_CONFORMANCE)(
    "skips only what needs a simulated clock, its privileged plane or a pair",
    () => {
      const skipped = results.filter((result) => result.outcome === "skipped").map((result) => result.message);
      expect(skipped.filter((why) => !/clock is not simulated|no privileged socket|no stereo view/.test(why))).toEqual(
        [],
      );
      expect(countResults(results).passed).toBeGreaterThanOrEqual(75);
    },
  );

  it("says what it found of the rig", () => {
    const notes = started.native.notes.join("\n");
    expect(notes).toContain("kinematics of its factory calibration");
    expect(notes).toMatch(/real-time scheduling/);
  });
});

describe("the native backend on the emulated rig", () => {
  it("gets out of a protective stop by a person's token, and by nothing else", async () => {
    const { rig, native, close } = await start();
    try {
      const client = await DeviceClient.connect({ ...native.addresses, role: "CONTROLLER", client: "test" });
      const faults: string[] = [];
      client.onEvent((event) => {
        if (event.fault) faults.push(event.fault.code);
      });
      await client.execute({ stop_epoch: client.stopEpoch, motions: [await turn(client, 0.4, 3)] });
      await sleep(500);
      await rig.fault("controller", { fault: "protective_stop" });
      while (!(await client.getState()).stop_latched) await sleep(20);
      const { stop_epoch, arms, groups } = await client.getState();
      expect(arms[0]?.mode).toBe("PROTECTIVE_STOP");
      expect(groups.at(-1)).toMatchObject({ active: false, motions: [{ end_reason: "END_PROTECTIVE_STOP" }] });
      expect(faults).toContain("protective_stop");
      await expect(client.resume({ stop_epoch })).rejects.toMatchObject({
        details: { device_code: "ERROR_RESUME_TOKEN" },
      });
      expect(await operatorStatus(native.operator)).toMatchObject({
        fault_code: "protective_stop",
        stop_latched: true,
      });
      await rig.clear("controller");
      const waits: number[] = [];
      const recovered = await operatorRecover(native.operator, (seconds) => waits.push(seconds));
      expect(waits.length).toBeGreaterThan(0);
      await client.resume({ stop_epoch: recovered.stop_epoch, token: recovered.token });
      expect((await client.getState()).arms[0]?.mode).toBe("IDLE");
      await client.bye();
    } finally {
      await close();
    }
  }, 120_000);

  it("brings the arm to rest and ends when its parent is killed", async () => {
    const rig = await EmulatedRig.start({ seed: 1 });
    try {
      const launch = compiledModule("backends/native/launch.ts");
      const program = `import { NativeBackend } from ${JSON.stringify(launch)};
        const native = await NativeBackend.spawn({ rig: JSON.parse(process.env.S2R_TEST_RIG) });
        console.log(JSON.stringify({ pid: native.pid, ...native.addresses }));
        setInterval(() => {}, 1000);`;
      const parent = spawn(process.execPath, ["--no-warnings", "--input-type=module", "-e", program], {
        env: { ...process.env, S2R_TEST_RIG: JSON.stringify(rig.rig) },
        stdio: ["ignore", "pipe", "inherit"],
      });
      const line = await new Promise<string>((resolve, reject) => {
        parent.stdout.once("data", (bytes) => resolve(String(bytes)));
        parent.once("exit", () => reject(new Error("the parent ended early")));
      });
      const { pid, ...addresses } = JSON.parse(line) as { pid: number; device: string; stop: string; events: string };
      const client = await DeviceClient.connect({ ...addresses, role: "CONTROLLER", client: "test", leaseMs: 60_000 });
      await client.execute({ stop_epoch: client.stopEpoch, motions: [await turn(client, 0.4, 4)] });
      await sleep(1000);
      parent.kill("SIGKILL");
      expect(await gone(pid, 8000)).toBe(true);
      client.close();
    } finally {
      await rig.close();
    }
  }, 120_000);

  it("is stopped by Ctrl-C while the main thread of the command that started it hangs", async () => {
    const rig = await EmulatedRig.start({ seed: 1 });
    const program = `import { NativeBackend } from ${JSON.stringify(compiledModule("backends/native/launch.ts"))};
      process.on("SIGINT", () => {});
      const native = await NativeBackend.spawn({ rig: JSON.parse(process.env.S2R_TEST_RIG) });
      process.stdout.write(JSON.stringify(native.addresses), () => { for (;;); });`;
    const command = spawn(process.execPath, ["--no-warnings", "--input-type=module", "-e", program], {
      env: { ...process.env, S2R_TEST_RIG: JSON.stringify(rig.rig) },
      stdio: ["ignore", "pipe", "inherit"],
      detached: true,
    });
    try {
      const line = await new Promise<string>((resolve, reject) => {
        command.stdout.once("data", (bytes) => resolve(String(bytes)));
        command.once("exit", () => reject(new Error("the command ended early")));
      });
      const addresses = JSON.parse(line) as NativeBackend["addresses"];
      const client = await DeviceClient.connect({ ...addresses, role: "CONTROLLER", client: "test", leaseMs: 60_000 });
      const stopped = new Promise<string>((resolve) => {
        client.onEvent((event) => {
          if (event.stopped) resolve(event.stopped.reason);
        });
      });
      await client.execute({ stop_epoch: client.stopEpoch, motions: [await turn(client, 0.4, 20)] });
      // As a terminal does: to the whole foreground group.
      process.kill(-command.pid!, "SIGINT");
      expect(await stopped).toBe("interrupted by SIGINT");
      while ((await client.getState()).groups.some(({ active }) => active)) await sleep(20);
      const { groups } = await client.getState();
      expect(groups.at(-1)).toMatchObject({ motions: [{ end_reason: "END_STOPPED" }] });
      client.close();
    } finally {
      command.kill("SIGKILL");
      await rig.close();
    }
  }, 120_000);

  it("holds its gripper too at a stop, while its JavaScript is in an endless loop", async () => {
    const rig = await EmulatedRig.start({ seed: 1 });
    const words: string[] = [];
    // So that the loop can be put into this very process, by its debugger.
    process.env.NODE_OPTIONS = "--inspect-port=127.0.0.1:0";
    const native = await NativeBackend.spawn({ rig: rig.rig, onLog: (line) => void words.push(line) }).finally(() => {
      delete process.env.NODE_OPTIONS;
    });
    const jaw = async (): Promise<{ target_rad: number; angle_rad: number }> =>
      ((await rig.tell("gripper", { stats: true })) as { stats: { target_rad: number; angle_rad: number } }).stats;
    try {
      process.kill(native.pid, "SIGUSR1");
      const client = await DeviceClient.connect({
        ...native.addresses,
        role: "CONTROLLER",
        client: "test",
        leaseMs: 60_000,
        lostAfterMs: 60_000,
      });
      const grip = (opening_m: number, speed_m_s: number) =>
        client.execute({
          stop_epoch: client.stopEpoch,
          motions: [{ gripper_move: { arm: "arm", opening_m, speed_m_s } }],
        });
      const ended = new Promise<void>((resolve) => {
        client.onEvent((event) => event.motion_ended && resolve());
      });
      await grip(0.08, 0.1);
      await ended;
      const { target_rad: open_rad } = await jaw();
      await grip(0, 0.005);
      for (let seen = await jaw(); seen.target_rad >= open_rad; seen = await jaw()) await sleep(5);

      while (!/ws:\/\/\S+/.test(words.join("\n"))) await sleep(20);
      const debuggerSocket = new WebSocket(/ws:\/\/\S+/.exec(words.join("\n"))![0]);
      await once(debuggerSocket, "open");
      debuggerSocket.send(JSON.stringify({ id: 1, method: "Runtime.enable" }));
      await once(debuggerSocket, "message");
      const looping = "console.log('loops'); for (;;);";
      debuggerSocket.send(JSON.stringify({ id: 2, method: "Runtime.evaluate", params: { expression: looping } }));
      await once(debuggerSocket, "message");
      await client.stop("a person said stop");
      let held = await jaw();
      for (; held.target_rad < 0.1; held = await jaw()) await sleep(5);
      expect(held.target_rad).toBeGreaterThan(0.1);
      expect(held.target_rad).toBeLessThan(open_rad);
      // It was told to stay where it was, and stays there.
      expect(Math.abs(held.angle_rad - held.target_rad)).toBeLessThan(0.05);
      debuggerSocket.terminate();
      client.close();
    } finally {
      await native.kill();
      await rig.close();
    }
  }, 120_000);
});
