import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { connect } from "node:net";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Dealer } from "zeromq";
import { checkRig } from "../../../src/config/rig.js";
import { compiledModule } from "../../../src/contract/package-root.js";
import { PrivilegedClient } from "../../../src/evaluation/privileged-client.js";
import { EmulatedRig, RIG_PARTS, type RigPart } from "./launch.js";
import { CONTROLLER_PORTS } from "./loopback-host.js";

let rig: EmulatedRig;
let evaluator: PrivilegedClient;

beforeAll(async () => {
  rig = await EmulatedRig.start({ seed: 5 });
  evaluator = await PrivilegedClient.connect(rig.privileged);
});

afterAll(async () => {
  evaluator?.close();
  await rig?.close();
});

const alive = (pid: number): boolean => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};

async function eventually(holds: () => boolean | Promise<boolean>, within_ms = 10_000): Promise<void> {
  const until = performance.now() + within_ms;
  while (!(await holds())) {
    if (performance.now() > until) throw new Error(`still not so after ${within_ms} ms`);
    await sleep(20);
  }
}

const reachable = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port });
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });

async function frame(
  camera: string,
  not_before_s: number,
): Promise<{ header: Record<string, unknown>; parts: Buffer[] }> {
  const socket = new Dealer({ linger: 0, receiveTimeout: 10_000 });
  try {
    socket.connect(rig.framesAddress);
    await socket.send(JSON.stringify({ camera, not_before_s }));
    const [head, ...parts] = await socket.receive();
    return { header: JSON.parse(String(head)) as Record<string, unknown>, parts };
  } finally {
    socket.close();
  }
}

function expectAtHome(q_rad: readonly number[]): void {
  expect(q_rad).toHaveLength(6);
  for (const [i, q] of q_rad.entries()) expect(q).toBeCloseTo(rig.rig.arm.home_q_rad[i] ?? Number.NaN, 2);
}

const now_s = (): number => Number(process.hrtime.bigint()) / 1e9;

describe("EmulatedRig", () => {
  it("starts every part where the rig's configuration says", async () => {
    for (const port of CONTROLLER_PORTS) expect(await reachable(rig.controllerHost, port)).toBe(true);
    expect(checkRig(rig.rig, "the rig").arm.host).toBe(rig.controllerHost);
    expect(rig.rig.gripper?.path).toBe(rig.gripperPath);
    expect(readlinkSync(rig.gripperPath)).toMatch(/^\/dev\/pts\/\d+$/);
    closeSync(openSync(rig.gripperPath, "r+"));
    expect(statSync(dirname(rig.gripperPath)).mode & 0o777).toBe(0o700);
    for (const camera of Object.values(rig.rig.cameras)) expect(camera).toMatchObject({ address: rig.framesAddress });
  });

  it("serves the privileged plane of the simulators", async () => {
    const { instruction } = await evaluator.reset({ task: "r1", seed: 2003 });
    expect(instruction).toMatch(/^Put the /);
    const { q_rad, time_s } = await evaluator.trueState();
    expectAtHome(q_rad);
    expect((await evaluator.evaluate()).success).toBe(false);
    expect((await evaluator.settle(0.2)).time_s).toBeGreaterThanOrEqual(time_s + 0.2);
    await expect(evaluator.resumeToken()).rejects.toMatchObject({ code: "backend_refused" });
    await expect(PrivilegedClient.connect({ ...rig.privileged, token: Buffer.alloc(32) })).rejects.toMatchObject({
      code: "backend_refused",
    });
  });

  it("shows its cameras under the clock of this process", async () => {
    for (const [name, camera] of Object.entries(rig.rig.cameras)) {
      const asked_s = now_s();
      const { header, parts } = await frame(name, asked_s);
      const { exposure_time_s, arrival_time_s, serial } = header as Record<string, number>;
      expect(exposure_time_s).toBeGreaterThanOrEqual(asked_s);
      expect(arrival_time_s! - exposure_time_s!).toBeGreaterThanOrEqual(0.02);
      expect(now_s()).toBeGreaterThanOrEqual(arrival_time_s!);
      expect(serial).toBe("serial" in camera ? camera.serial : undefined);
      expect(parts.map((part) => part.length)).toEqual([921_600, 614_400]);
    }
  });

  it("lets the controller hold the arm through the plant memory", async () => {
    // The controller's block is written 500 times a second, by its cycle counter.
    const cycle = () => readFileSync(rig.plantPath).readBigUInt64LE(64 + 16);
    const before = cycle();
    await sleep(400);
    expect(Number(cycle() - before)).toBeGreaterThan(50);
    expect(readFileSync(rig.plantPath).readUInt32LE(64 + 24)).toBe(1);
    const { q_rad } = await evaluator.trueState();
    expectAtHome(q_rad);
  });

  it("breaks and mends its parts, and says what it cannot break", async () => {
    await rig.fault("bench", { fault: "unplug", camera: "wrist" });
    expect((await frame("wrist", 0)).header.error).toMatch(/not connected/);
    await rig.clear();
    expect((await frame("wrist", now_s())).header.error).toBeUndefined();
    for (const part of RIG_PARTS)
      await expect(rig.fault(part, { fault: "melt" })).rejects.toMatchObject({ code: "bad_argument" });
  });

  it("measures itself", async () => {
    const stats = (await rig.stats()) as Record<RigPart, Record<string, Record<string, number>>>;
    expect(stats.bench.plant).toMatchObject({ steps: expect.any(Number), late_p99_ms: expect.any(Number) });
    expect(stats.controller).toMatchObject({ lateness: expect.any(Object) });
    expect(stats.gripper).toMatchObject({ opening_m: expect.any(Number) });
  });

  it("has another address for each rig, and other errors for another seed", async () => {
    const other = await EmulatedRig.start({ seed: 6, scene: { seed: 3 } });
    try {
      expect(other.controllerHost).not.toBe(rig.controllerHost);
      expect(await reachable(other.controllerHost, 30_004)).toBe(true);
      const truth = (one: EmulatedRig) => readFileSync(one.plantPath).subarray(904, 904 + 192);
      expect(truth(other).equals(truth(rig))).toBe(false);
      const same = await EmulatedRig.start({ seed: 5 });
      expect(truth(same).equals(truth(rig))).toBe(true);
      await same.kill();
      expect(existsSync(dirname(same.gripperPath))).toBe(false);
    } finally {
      await other.close();
    }
  });

  it("says which part ended first", async () => {
    const other = await EmulatedRig.start();
    try {
      await other.fault("bench", { fault: "kill" }).catch(() => {});
      expect(await other.exited).toMatchObject({ part: "bench", signal: "SIGKILL" });
      await expect(other.fault("bench", { fault: "freeze" })).rejects.toMatchObject({ code: "backend_lost" });
    } finally {
      await other.close();
    }
  });

  it("refuses options that it does not know", async () => {
    await expect(EmulatedRig.start({ seed: -1 })).rejects.toMatchObject({ code: "bad_argument" });
    await expect(EmulatedRig.start({ scene: { seed: 1, variant: "no_such" } })).rejects.toMatchObject({
      code: "backend_unreachable",
      message: expect.stringContaining("no_such"),
    });
  });

  it("dies with the process that started it, however that ends", async () => {
    const source = `
      import { EmulatedRig, RIG_PARTS } from ${JSON.stringify(compiledModule("backends/emulators/rig/launch.ts"))};
      const rig = await EmulatedRig.start();
      console.log(JSON.stringify(RIG_PARTS.map((part) => rig.pid(part))));
      setInterval(() => {}, 1000);`;
    const parent = spawn(process.execPath, ["--input-type=module", "-e", source], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      const pids = await new Promise<number[]>((resolve, reject) => {
        createInterface({ input: parent.stdout }).once("line", (line) => resolve(JSON.parse(line) as number[]));
        parent.once("exit", (code) => reject(new Error(`it ended with ${code}`)));
      });
      expect(pids.every(alive)).toBe(true);
      parent.kill("SIGKILL");
      await eventually(() => !pids.some(alive));
    } finally {
      parent.kill("SIGKILL");
    }
  });
});
