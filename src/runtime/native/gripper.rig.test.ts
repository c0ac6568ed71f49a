import { spawn } from "node:child_process";
import { once } from "node:events";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { isSkill2RealError } from "../../contract/errors.js";
import { compiledModule } from "../../contract/package-root.js";
import {
  angleFromOpening,
  GripperDriver,
  type GripperDriverOptions,
  type GripperMove,
  openingFromAngle,
} from "./gripper.js";
import { GripperTestDevice, missingForGripperTests, nextEvent } from "./gripper-test-device.js";

const missing = missingForGripperTests();
const devices: GripperTestDevice[] = [];
const drivers: GripperDriver[] = [];

async function device(...args: string[]): Promise<GripperTestDevice> {
  const started = await GripperTestDevice.start(...args);
  devices.push(started);
  return started;
}

async function open(on: GripperTestDevice, options: Partial<GripperDriverOptions> = {}): Promise<GripperDriver> {
  const driver = await GripperDriver.open({ path: on.link, ...options });
  drivers.push(driver);
  return driver;
}

async function moved(driver: GripperDriver, move: GripperMove) {
  const ended = nextEvent(driver, "motion_ended");
  const motion = driver.move(move);
  const event = await ended;
  expect(event.motion).toBe(motion);
  return event;
}

const code = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    if (isSkill2RealError(error)) return error.code;
    throw error;
  }
  return "nothing thrown";
};

afterEach(async () => {
  await Promise.all(drivers.splice(0).map((driver) => driver.close()));
  await Promise.all(devices.splice(0).map((each) => each.stop()));
});

describe.skipIf(missing)(`gripper${missing ? ` (skipped: ${missing})` : ""}`, () => {
  test("opening and angle agree in both directions", () => {
    expect((openingFromAngle(1) * 1e3).toFixed(3)).toBe("55.310");
    expect(angleFromOpening(0.05)?.toFixed(6)).toBe("0.921222");
    expect(angleFromOpening(0.2)).toBeNull();
    fc.assert(
      fc.property(fc.double({ min: 0, max: 0.095, noNaN: true }), (opening_m) => {
        expect(openingFromAngle(angleFromOpening(opening_m) ?? Number.NaN)).toBeCloseTo(opening_m, 10);
      }),
    );
  });

  test.each(["sdk", "ros"] as const)(
    "%s: opens without moving, detects the dialect, reaches its targets",
    async (dialect) => {
      const on = await device("--dialect", dialect, "--initial-mm", "30");
      const driver = await open(on);
      expect(driver.info).toMatchObject({ dialect: "auto", version: "1.3.0", current_limit_a: 1 });
      const before = await on.truth();
      expect(before).toMatchObject({ enabled: true, limit_a: 1 });
      expect(before.opening_m).toBeCloseTo(0.03, 4);
      for (const opening_m of [0.08, 0.01, 0.095, 0]) {
        const end = await moved(driver, { opening_m, speed_m_s: 0.2 });
        expect(end).toMatchObject({ reason: "completed", failure: null });
        expect(Math.abs((await on.truth()).opening_m - opening_m)).toBeLessThan(0.0008);
      }
      expect(driver.info.dialect).toBe(dialect);
      // A two-float frame never reached firmware that does not know it.
      const { counts, unknown } = await on.truth();
      if (dialect === "sdk") expect(Object.keys(unknown)).toEqual(["23"]);
      else expect(counts["13"]).toBeGreaterThan(0);
    },
  );

  test("stalls on an object with the asked force, then tells a slip", async () => {
    const on = await device("--obstacle-mm", "40", "--initial-mm", "70");
    const driver = await open(on, { dialect: "sdk", newton_per_amp: 10 });
    const end = await moved(driver, { opening_m: 0, force_n: 6 });
    expect(end.reason).toBe("stalled");
    expect(end.opening_m).toBeCloseTo(0.04, 3);
    const state = driver.state();
    expect(state).toMatchObject({ stalled: true, slipped: false, enabled: true, fault: null });
    expect(state.force_estimate_n).toBeGreaterThan(5);
    expect(state.force_estimate_n).toBeLessThan(7);
    expect(driver.info.limit_observed).toBe(true);
    const slipped = nextEvent(driver, "slipped");
    await on.fault("obstacle", { mm: 35 });
    expect((await slipped).message).toMatch(/closed from 40.0 mm/);
    expect(driver.state().slipped).toBe(true);
  });

  test("refuses with the value, the limit and the mend", async () => {
    const driver = await open(await device());
    expect(() => driver.move({ opening_m: 0.0951 })).toThrow(/0\.0951.*0\.095/);
    expect(() => driver.move({ opening_m: 0.05, force_n: 11 })).toThrow(/11.*10 N.*current_limit_a/);
    expect(() => driver.move({ opening_m: 0.05, speed_ms: 1 } as unknown as GripperMove)).toThrow(
      /Did you mean "speed_m_s"/,
    );
    for (const opening_m of [-0.001, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(code(() => driver.move({ opening_m }))).toBe("bad_argument");
    }
    expect(driver.stops).toBe(0);
    expect(code(() => driver.move({ opening_m: 0.09, stops: 1 }))).toBe("gripper_stopped");
    driver.move({ opening_m: 0.09, stops: driver.stops });
    expect(code(() => driver.move({ opening_m: 0.01 }))).toBe("gripper_busy");
    const ended = nextEvent(driver, "motion_ended");
    driver.hold();
    expect((await ended).reason).toBe("stopped");
    await expect(GripperDriver.open({ path: "/dev/none", pat: 1 } as unknown as GripperDriverOptions)).rejects.toThrow(
      /Did you mean "path"/,
    );
  });

  test("what cannot be opened says why", async () => {
    await expect(GripperDriver.open({ path: "/dev/none" })).rejects.toMatchObject({ code: "gripper_not_found" });
    await expect(GripperDriver.open({ path: "/dev/null" })).rejects.toMatchObject({ code: "gripper_not_serial" });
    const on = await device();
    await open(on);
    await expect(GripperDriver.open({ path: on.link })).rejects.toMatchObject({ code: "gripper_in_use" });
  });

  test("noise, halves and a reset on open do not matter", async () => {
    const on = await device("--reset-on-open");
    await on.fault("noise", { share: 0.15 });
    const driver = await open(on);
    const end = await moved(driver, { opening_m: 0.02, speed_m_s: 0.2 });
    expect(end.reason).toBe("completed");
    await on.clear();
    await on.fault("half_frames", { share: 0.2 });
    expect((await moved(driver, { opening_m: 0.06, speed_m_s: 0.2 })).reason).toBe("completed");
    expect(driver.info.syntax_errors).toBeGreaterThan(0);
    expect(Math.abs((await on.truth()).opening_m - 0.06)).toBeLessThan(0.0008);
  });

  test("each fault during a move has its code, and nothing false is told", async () => {
    const cases: [string, Record<string, number>, string][] = [
      ["freeze", { seconds: 30 }, "gripper_stale"],
      ["unplug", {}, "gripper_unplugged"],
      ["status", { bits: 4 }, "gripper_device_fault"],
      ["power_off", {}, "gripper_disabled"],
      ["bad_zero", { rad: -1.5 }, "gripper_bad_zero"],
      ["delay", { ms: 400 }, "gripper_stale"],
    ];
    for (const [fault, parameters, expected] of cases) {
      const on = await device("--initial-mm", "20");
      const driver = await open(on, { dialect: "sdk" });
      const ended = nextEvent(driver, "motion_ended");
      const told = nextEvent(driver, "fault");
      driver.move({ opening_m: 0.09, speed_m_s: 0.05 });
      await on.fault(fault, parameters);
      expect(await ended, fault).toMatchObject({ reason: "fault", failure: { code: expected } });
      expect((await told).failure.code).toBe(expected);
      expect(driver.state()).toMatchObject({ phase: "fault", stalled: false, fault: { code: expected } });
    }
  });

  test("a device fault latches until recover, and power is not given again before", async () => {
    const on = await device("--obstacle-mm", "40");
    const driver = await open(on, { dialect: "sdk" });
    await moved(driver, { opening_m: 0 });
    const told = nextEvent(driver, "fault");
    await on.fault("status", { bits: 0x04 });
    await told;
    expect(code(() => driver.move({ opening_m: 0.08 }))).toBe("gripper_device_fault");
    await expect(driver.recover()).rejects.toMatchObject({ code: "gripper_device_fault" });
    await on.clear();
    expect((await on.truth()).enabled).toBe(false);
    await driver.recover();
    expect((await on.truth()).enabled).toBe(true);
    expect((await moved(driver, { opening_m: 0.08 })).reason).toBe("completed");
  });

  test("jammed fingers are no grip; a deaf gripper latches", async () => {
    const on = await device();
    const driver = await open(on, { dialect: "sdk" });
    await on.fault("stuck");
    expect(await moved(driver, { opening_m: 0 })).toMatchObject({
      reason: "timeout",
      failure: { code: "gripper_stuck" },
    });
    expect(driver.state().stalled).toBe(false);
    await on.clear();
    await on.fault("drop");
    expect(await moved(driver, { opening_m: 0.09 })).toMatchObject({
      reason: "fault",
      failure: { code: "gripper_ignored" },
    });
    expect(code(() => driver.move({ opening_m: 0.08 }))).toBe("gripper_ignored");
  });

  test("replugged under another name it is found by its link, with the state it really has", async () => {
    const on = await device("--obstacle-mm", "40");
    const driver = await open(on, { dialect: "sdk" });
    await moved(driver, { opening_m: 0 });
    const before = driver.info.device;
    const told = nextEvent(driver, "fault");
    await on.fault("replug_other_name", { seconds: 0.2 });
    expect((await told).failure.code).toBe("gripper_unplugged");
    expect(await moved(driver, { opening_m: 0.02 })).toMatchObject({
      reason: "fault",
      failure: { code: "gripper_not_found" },
    });
    while (!(await on.truth()).path.startsWith("/dev/pts/") || (await on.truth()).path === before) await nextTick();
    const ready = nextEvent(driver, "ready");
    const ended = nextEvent(driver, "motion_ended");
    driver.move({ opening_m: 0.08 });
    expect((await ready).opening_m).toBeCloseTo(0.04, 3);
    expect((await ended).reason).toBe("completed");
    expect(driver.info.device).not.toBe(before);
    expect(driver.info.opened).toBe(2);
  });

  test("closing holds or releases, as set", async () => {
    for (const on_disconnect of ["hold", "release"] as const) {
      const on = await device("--obstacle-mm", "40");
      const driver = await open(on, { dialect: "sdk", on_disconnect });
      await moved(driver, { opening_m: 0 });
      expect(await driver.close()).toBe(on_disconnect === "release");
      expect((await on.truth()).enabled).toBe(on_disconnect === "hold");
      expect(code(() => driver.move({ opening_m: 0.05 }))).toBe("gripper_closed");
      if (on_disconnect === "release") continue;
      // A gripper that holds something is taken over as it is.
      const again = await open(on, { dialect: "sdk" });
      expect(again.state()).toMatchObject({ stalled: true, moving: false });
      expect(Math.abs((await on.truth()).current_a)).toBeGreaterThan(0.8);
    }
  });

  /** A process that opens the gripper and ends as told; its exit code, or the signal that ended it. */
  async function processThatEnds(on: GripperTestDevice, end: string, on_disconnect: string): Promise<number | string> {
    const program = `
      const { Worker } = await import("node:worker_threads");
      const [wrapper, path, on_disconnect, end] = process.argv.slice(1);
      const { GripperDriver } = await import(wrapper);
      if (end === "worker") {
        const source = \`(async () => {
          const { workerData, parentPort } = require("node:worker_threads");
          const { GripperDriver } = await import(workerData.wrapper);
          globalThis.driver = await GripperDriver.open({ path: workerData.path, on_disconnect: workerData.on_disconnect });
          setInterval(() => {}, 1000);
          parentPort.postMessage("open");
        })()\`;
        const worker = new Worker(source, { eval: true, execArgv: [], workerData: { wrapper, path, on_disconnect } });
        await new Promise((resolve) => worker.once("message", resolve));
        await worker.terminate();
        console.log("ended");
      } else {
        let driver = await GripperDriver.open({ path, on_disconnect });
        console.log(driver.state().phase);
        if (end === "exit") process.exit(0);
        if (end === "throw") throw new Error("asked for by the test");
        if (end === "close") await driver.close();
        if (end === "collected") {
          driver = undefined;
          for (let i = 0; i < 5; i++) {
            await new Promise((resolve) => setTimeout(resolve, 20));
            globalThis.gc();
          }
          process.kill(process.pid, "SIGKILL");
        }
        if (end === "SIGKILL") setInterval(() => {}, 1000);
      }`;
    const wrapper = compiledModule("src/runtime/native/gripper.ts");
    const args = ["--expose-gc", "--input-type=module", "-e", program, wrapper, on.link, on_disconnect, end];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
    const exited = once(child, "exit");
    await once(child.stdout, "data");
    if (end === "SIGKILL") child.kill("SIGKILL");
    const [exit_code, signal] = (await exited) as [number | null, string | null];
    return exit_code ?? signal ?? "";
  }

  test.each([
    ["exit", "release", 0, false],
    ["exit", "hold", 0, true],
    ["running out of work", "release", 0, false],
    ["close", "release", 0, false],
    ["close", "hold", 0, true],
    ["throw", "release", 1, false],
    ["worker", "release", 0, false],
    ["collected", "release", "SIGKILL", false],
    ["SIGKILL", "release", "SIGKILL", true],
  ] as const)("an end by %s with %s: exit %s, motor on %s", async (end, on_disconnect, exit, enabled) => {
    const on = await device();
    expect(await processThatEnds(on, end, on_disconnect)).toBe(exit);
    expect((await on.truth()).enabled).toBe(enabled);
    // The line is free for the next process at once.
    expect((await open(on)).state().phase).toBe("ready");
  });

  test("faults are noticed with this event loop blocked", async () => {
    const on = await device();
    const driver = await open(on, { dialect: "sdk" });
    driver.move({ opening_m: 0.09, speed_m_s: 0.03 });
    on.kill();
    const end_ms = Date.now() + 1500;
    while (Date.now() < end_ms) driver.state();
    expect(driver.state().fault?.code).toBe("gripper_unplugged");
  });
});

const nextTick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));
