import { spawn } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
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
});
