import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { isSkill2RealError } from "../../contract/errors.js";
import { ArmDriver, type ArmEvent, ArmRefusal } from "./arm.js";
import { swing, TestController, testArmOptions } from "./arm-test-rig.js";

async function until(condition: () => boolean, what: string, timeout_ms = 10_000): Promise<void> {
  const end = performance.now() + timeout_ms;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`not in time: ${what}`);
    await sleep(2);
  }
}

/** Waits until it is idle; what keeps it from that is in the failure. */
async function untilIdle(arm: ArmDriver): Promise<void> {
  const told = () => arm.state().state;
  await until(() => told() === "idle" || told() === "fault", "idle or at fault").catch((error: Error) => {
    throw new Error(`${error.message}; it is ${told()}`);
  });
  expect(arm.state()).toMatchObject({ state: "idle", fault_code: "", fault_message: "" });
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    const opened = await work;
    if (opened instanceof ArmDriver) await opened.close();
    return "nothing thrown";
  } catch (error) {
    expect((error as Error).message.length).toBeGreaterThan(30);
    return isSkill2RealError(error) ? error.code : String(error);
  }
}

function refusalOf(work: () => void): string {
  try {
    work();
    return "taken";
  } catch (error) {
    return error instanceof ArmRefusal ? error.code : String(error);
  }
}

/** An open arm and what it told, on a controller of its own. */
type Opened = { controller: TestController; arm: ArmDriver; events: ArmEvent[]; folder: string };

async function openArm(args: string[] = [], more: object = {}): Promise<Opened> {
  const controller = await TestController.start(args);
  const folder = mkdtempSync(join(tmpdir(), "s2r-arm-"));
  const arm = await ArmDriver.open(testArmOptions(controller.host, { recorder_folder: folder, ...more }));
  const events: ArmEvent[] = [];
  arm.onEvent((event) => events.push(event));
  return { controller, arm, events, folder };
}

async function closeArm({ controller, arm, folder }: Opened): Promise<void> {
  await arm.close();
  await controller.stop();
  rmSync(folder, { recursive: true, force: true });
}

type Ended = Extract<ArmEvent, { kind: "motion_ended" }>;
const ended = (events: ArmEvent[]) => events.find((event): event is Ended => event.kind === "motion_ended");

describe("an arm on an emulated controller", () => {
  let opened: Opened;
  const open = () =>
    openArm(["--kinematic-deltas", ...Array.from({ length: 24 }, (_, i) => String(((i % 5) - 2) * 1e-4))]);
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(() => closeArm(opened));
  beforeEach(async () => {
    // An arm that a test left with a fault needs a person: the next one gets another.
    if (opened.arm.state().state === "fault") {
      await closeArm(opened);
      opened = await open();
    }
    opened.events.length = 0;
    await untilIdle(opened.arm);
  });

  it("says what it is", () => {
    const { info } = opened.arm;
    expect(info.kinematics, info.kinematics_reason).toBe("calibrated");
    expect(info.dh[1]?.a_m).toBeCloseTo(-0.425, 2);
    expect(info.dh[1]?.a_m).not.toBe(-0.425);
    expect(info.checksum).toMatch(/^([0-9a-f]{8} ){5}[0-9a-f]{8}$/);
    expect(info.controller_version).toMatch(/^5\.17\./);
    expect(["fifo", "other"]).toContain(info.realtime.policy);
    if (!info.realtime.granted) expect(info.realtime.reason.length).toBeGreaterThan(20);
  });

  it("plays a trajectory to its end and tells it once", async () => {
    const { arm, events } = opened;
    const start = arm.state();
    arm.execute(1, start.stop_epoch, swing(start.q_rad, 0.4, 1.2));
    expect(refusalOf(() => arm.execute(2, start.stop_epoch, swing(start.q_rad, 0.1, 1)))).toBe("busy");
    await until(() => ended(events) !== undefined, "motion_ended");
    expect(ended(events)).toMatchObject({ group: 1, end_reason: "END_COMPLETED", contact_force_n: [] });
    const state = arm.state();
    expect(state.q_rad[0]).toBeCloseTo((start.q_rad[0] ?? 0) + 0.4, 2);
    expect(state.state).toBe("idle");
    expect(events.filter((event) => event.kind === "motion_ended")).toHaveLength(1);
  });

  it("refuses what does not start here, another epoch, and what is no trajectory", () => {
    const { arm } = opened;
    const { q_rad, stop_epoch } = arm.state();
    const shifted = q_rad.map((q) => q + 0.1);
    expect(refusalOf(() => arm.execute(11, stop_epoch, swing(shifted, 0.1, 1)))).toBe("not_start");
    expect(refusalOf(() => arm.execute(12, stop_epoch + 1, swing(q_rad, 0.1, 1)))).toBe("stop_epoch");
    expect(
      refusalOf(() => arm.execute(13, stop_epoch, { time_s: new Float64Array(0), q_rad: new Float64Array(0) })),
    ).toBe("bad_argument");
    const bad = swing(q_rad, 0.1, 1);
    bad.q_rad[20] = Number.NaN;
    expect(refusalOf(() => arm.execute(14, stop_epoch, bad))).toBe("bad_argument");
  });

  it("knows where it was", async () => {
    const { arm } = opened;
    const now = arm.state();
    await sleep(50);
    const then = arm.stateAt(now.time_s - 0.001);
    expect(then?.q_rad[1]).toBeCloseTo(now.q_rad[1] ?? 0, 3);
    expect(then?.time_s).toBeCloseTo(now.time_s - 0.001, 9);
    expect(arm.stateAt(now.time_s - 1000)).toBeNull();
    expect(arm.stateAt(now.time_s + 1000)).toBeNull();
  });

  it("stops on the way, latches, and goes on after a resume", async () => {
    const { arm, events } = opened;
    const start = arm.state();
    arm.execute(21, start.stop_epoch, swing(start.q_rad, -0.6, 1.5));
    await until(() => Math.abs(arm.state().qd_rad_s[0] ?? 0) > 0.4, "speed");
    const epoch = arm.stop("a test");
    expect(epoch).toBe(start.stop_epoch + 1);
    expect(arm.state()).toMatchObject({ stop_latched: true, stop_epoch: epoch, stop_reason: "a test" });
    await until(() => ended(events) !== undefined, "motion_ended");
    expect(ended(events)).toMatchObject({ group: 21, end_reason: "END_STOPPED" });
    expect(events.find((event) => event.kind === "stopped")).toMatchObject({ stop_epoch: epoch, reason: "a test" });
    await until(() => arm.state().state === "held", "held");
    const held = arm.state();
    expect(refusalOf(() => arm.execute(22, held.stop_epoch, swing(held.q_rad, 0.1, 1)))).toBe("stop_epoch");
    expect(refusalOf(() => arm.resume(start.stop_epoch))).toBe("stop_epoch");
    arm.resume(epoch);
    await untilIdle(arm);
    expect(arm.state().stop_latched).toBe(false);
    arm.execute(23, epoch, swing(arm.state().q_rad, 0.1, 0.8));
    await until(() => events.some((event) => event.kind === "motion_ended" && event.group === 23), "23");
  });

  it("ends a motion by contact where that was asked for", async () => {
    const { arm, events, controller } = opened;
    const start = arm.state();
    arm.execute(31, start.stop_epoch, swing(start.q_rad, 0.5, 2), { force_n: 15, contact_expected: true });
    await sleep(700);
    await controller.ask({ world: { wrench: [0, 0, 40, 0, 0, 0] } });
    await until(() => ended(events) !== undefined, "motion_ended");
    await controller.ask({ world: { wrench: [0, 0, 0, 0, 0, 0] } });
    expect(ended(events)).toMatchObject({ group: 31, end_reason: "END_CONTACT" });
    expect(ended(events)?.contact_force_n[2]).toBeGreaterThan(15);
  });

  it("latches a lapse of the lease, but not of a held or ended one", async () => {
    const { arm, events } = opened;
    const { stop_epoch } = arm.state();
    arm.renewLease(100);
    arm.holdLease(true);
    await sleep(250);
    expect(arm.state().stop_latched).toBe(false);
    arm.holdLease(false);
    await until(() => arm.state().stop_latched, "lapse");
    expect(arm.state()).toMatchObject({ stop_epoch: stop_epoch + 1, stop_reason: "lease lapsed" });
    await until(() => events.some((event) => event.kind === "fault"), "fault event");
    expect(events.map((event) => event.kind)).toEqual(["stopped", "fault"]);
    expect(events[1]).toMatchObject({ code: "lease_lapsed" });
    arm.renewLease(100);
    arm.resume(stop_epoch + 1);
    arm.endLease();
    await sleep(250);
    expect(arm.state().stop_latched).toBe(false);
  });

  it("measures its own loop", () => {
    const { wake_lateness, servo_call, events_dropped } = opened.arm.timing();
    expect(wake_lateness.count).toBeGreaterThan(500);
    expect(wake_lateness.p50_s).toBeLessThanOrEqual(wake_lateness.p99_s);
    expect(servo_call.count).toBeGreaterThan(200);
    expect(events_dropped).toBe(0);
  });

  it("refuses a second driver: its registers are taken, or its program runs", async () => {
    expect(await codeOf(ArmDriver.open(testArmOptions(opened.controller.host)))).toBe("arm_program_running");
    expect(opened.arm.state().state).toBe("idle");
  });
});

describe("faults of a link, each with a code of its own", () => {
  let opened: Opened;
  afterEach(() => closeArm(opened));

  async function faultWhileMoving(fault: Record<string, unknown>, group = 1): Promise<string> {
    const { arm, controller, events } = opened;
    const start = arm.state();
    arm.execute(group, start.stop_epoch, swing(start.q_rad, 0.8, 2));
    await sleep(800);
    await controller.ask(fault);
    await until(() => events.some((event) => event.kind === "fault"), "fault event");
    await until(() => events.some((event) => event.kind === "motion_ended"), "motion_ended");
    const end = ended(events);
    expect(end?.end_reason).toMatch(/^END_(FAULT|PROTECTIVE_STOP)$/);
    const kinds = events.map((event) => event.kind).filter((kind) => kind !== "group_progress");
    expect(kinds.slice(0, 2)).toEqual(["fault", "stopped"]);
    const told = events.find((event) => event.kind === "fault");
    return told?.kind === "fault" ? told.code : "";
  }

  async function recoverAndMove(group = 2): Promise<void> {
    const { arm, events } = opened;
    const recovery = await arm.recover();
    expect(refusalOf(() => arm.resume(recovery.stop_epoch, "0000000000000001"))).toBe("resume_token");
    arm.resume(recovery.stop_epoch, recovery.token);
    await until(() => arm.state().state === "idle", "idle");
    events.length = 0;
    arm.execute(group, arm.state().stop_epoch, swing(arm.state().q_rad, 0.1, 0.8));
    await until(() => ended(events) !== undefined, "motion_ended");
    expect(ended(events)).toMatchObject({ group, end_reason: "END_COMPLETED" });
  }

  it("protective stop: the lock-out is waited, a token is needed, the flight record is written", async () => {
    opened = await openArm();
    expect(await faultWhileMoving({ fault: "protective_stop" })).toBe("protective_stop");
    const { arm, folder } = opened;
    expect(refusalOf(() => arm.resume(arm.state().stop_epoch))).toMatch(/resume_token|fault/);
    await sleep(500);
    expect(arm.state(), "it is never reset by itself").toMatchObject({ state: "fault", fault_code: "protective_stop" });
    await recoverAndMove();
    await until(() => readdirSync(folder).length > 0, "flight record");
    const record = readFileSync(join(folder, readdirSync(folder)[0] ?? ""));
    expect(record.subarray(0, 8).toString()).toBe("S2RFLT01");
    expect(record.readUInt32LE(16)).toBeGreaterThan(250);
  }, 60_000);

  it("reset connections", async () => {
    opened = await openArm();
    expect(await faultWhileMoving({ fault: "rst" })).toMatch(/^link_(reset|lost)$/);
    await sleep(500);
    await recoverAndMove();
  }, 60_000);

  it("frozen controller", async () => {
    opened = await openArm();
    expect(await faultWhileMoving({ fault: "freeze", seconds: 1 })).toBe("controller_frozen");
    await sleep(1500);
    await recoverAndMove();
  }, 60_000);

  it("local mode", async () => {
    opened = await openArm();
    expect(await faultWhileMoving({ fault: "local" })).toMatch(/^(local_mode|program_stopped)$/);
    await opened.controller.ask({ clear: true });
    await sleep(1200);
    await recoverAndMove();
  }, 60_000);

  it("emergency stop", async () => {
    opened = await openArm();
    expect(await faultWhileMoving({ fault: "emergency_stop" })).toBe("emergency_stop");
    expect(await codeOf(opened.arm.recover())).toMatch(/^arm_(emergency_stop|not_running|refused|safety)$/);
  }, 60_000);

  it("speed slider at zero", async () => {
    opened = await openArm();
    expect(await faultWhileMoving({ set: { speed_slider: 0 } })).toBe("speed_slider_zero");
    await opened.controller.ask({ set: { speed_slider: 1 } });
    await recoverAndMove();
  }, 60_000);

  it("killed controller", async () => {
    opened = await openArm();
    const { arm, events } = opened;
    const start = arm.state();
    arm.execute(1, start.stop_epoch, swing(start.q_rad, 0.8, 2));
    await sleep(700);
    opened.controller.signal("SIGKILL");
    // Its silence may be noticed before the end of its connection is.
    const lost = (event: ArmEvent) => event.kind === "fault" && /^link_/.test(event.code);
    await until(() => events.some(lost), "link fault");
    expect(arm.state().state).not.toBe("idle");
  }, 60_000);
});

describe("controllers that cannot be opened", () => {
  it("nothing listens", async () => {
    expect(await codeOf(ArmDriver.open(testArmOptions("127.9.9.9")))).toBe("arm_unreachable");
  });

  it("something listens and says nothing", async () => {
    const host = "127.9.9.10";
    const server = createServer(() => {});
    await new Promise<void>((resolve) => server.listen(29999, host, resolve));
    const start = performance.now();
    expect(await codeOf(ArmDriver.open(testArmOptions(host)))).toBe("arm_silent");
    expect(performance.now() - start).toBeLessThan(5000);
    server.close();
  });

  it("the pendant is in local control", async () => {
    const controller = await TestController.start(["--local"]);
    expect(await codeOf(ArmDriver.open(testArmOptions(controller.host)))).toBe("arm_local_mode");
    await controller.stop();
  });

  it("the arm has no power", async () => {
    const controller = await TestController.start(["--powered-off"]);
    expect(await codeOf(ArmDriver.open(testArmOptions(controller.host)))).toBe("arm_not_running");
    await controller.stop();
  });

  it("its software mixes the register ranges", async () => {
    const controller = await TestController.start(["--polyscope-version", "5.25.0.1"]);
    expect(await codeOf(ArmDriver.open(testArmOptions(controller.host)))).toBe("arm_version");
    await controller.stop();
  });

  it("options that are none", async () => {
    expect(await codeOf(ArmDriver.open({ ...testArmOptions("127.0.0.1"), watchdog_hz: 0 }))).toBe("bad_argument");
    const misspelt = { ...testArmOptions("127.0.0.1"), servo_gian: 500 };
    await expect(ArmDriver.open(misspelt)).rejects.toThrow('Did you mean "servo_gain"?');
  });
});
