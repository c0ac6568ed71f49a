import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { emulatedRig } from "../../../src/config/index.js";
import { ALL_CHECKS } from "../../../src/evaluation/conformance/all-checks.js";
import { formatResults } from "../../../src/evaluation/conformance/format-results.js";
import { runConformance } from "../../../src/evaluation/conformance/run-conformance.js";
import { DeviceClient } from "../../../src/runtime/device/device-client.js";
import { ArmDouble, CameraDouble, GripperDouble } from "../../../tests/support/rig-doubles.js";
import { NativeServer } from "./native-server.js";

const { rig } = emulatedRig();

let arm: ArmDouble;
let gripper: GripperDouble;
let cameras: Map<string, CameraDouble>;
const open: (() => unknown)[] = [];

async function startServer(): Promise<NativeServer> {
  const socket_dir = mkdtempSync(join(tmpdir(), "s2r-native-"));
  gripper = new GripperDouble();
  cameras = new Map([
    ["wrist", new CameraDouble()],
    ["scene", new CameraDouble()],
  ]);
  const server = await NativeServer.start({
    rig,
    socket_dir,
    speed_cap: 1,
    open: async (stop_address) => {
      arm = await ArmDouble.open(rig, stop_address);
      return { arm, gripper, cameras };
    },
  });
  open.push(async () => {
    await server.close("the test ended");
    rmSync(socket_dir, { recursive: true, force: true });
  });
  return server;
}

async function connect(server: NativeServer): Promise<DeviceClient> {
  const client = await DeviceClient.connect({ ...server.addresses, role: "CONTROLLER", client: "test" });
  open.push(() => client.bye());
  return client;
}

let server: NativeServer;
beforeEach(async () => {
  server = await startServer();
});
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** A slow turn of the last joint. */
const turn = (amount_rad: number, duration_s: number, contact_expected = false) => {
  const from = rig.arm.look_q_rad!;
  const count = Math.ceil(duration_s / 0.01) + 1;
  const parts = Array.from({ length: count }, (_, i) => i / (count - 1));
  return {
    joint_trajectory: {
      arm: "arm",
      time_s: parts.map((part) => part * duration_s),
      q_rad: parts.flatMap((part) => from.map((q, joint) => (joint === 5 ? q + part * amount_rad : q))),
      guard: { contact_expected },
    },
  };
};

/** Waits until the group has ended; gives how. */
async function ended(client: DeviceClient, group: number) {
  for (;;) {
    const status = (await client.getState()).groups.find((entry) => entry.group === group);
    if (status && !status.active) return status.motions.map((motion) => motion.end_reason);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe("the native server", () => {
  it("conforms, on drivers that do what they are told", async () => {
    // Fifty poses of an arm whose poses are its forward kinematics show nothing and take a minute; the emulated rig's do.
    const filter = ALL_CHECKS.flatMap(({ group, checks }) => checks.map(({ name }) => `${group}: ${name}`)).filter(
      (check) => !check.includes("forward_kinematics"),
    );
    const results = await runConformance({ target: { addresses: server.addresses, allowMotion: true }, filter });
    const failed = results.filter((result) => result.outcome === "failed");
    expect(failed, formatResults(failed)).toEqual([]);
    expect(results.filter((result) => result.outcome === "passed").length).toBeGreaterThanOrEqual(75);
  }, 300_000);

  it("ends the whole group at an unexpected contact, and only the gripper's part at a stall", async () => {
    const client = await connect(server);
    const together = await client.execute({
      stop_epoch: 0,
      motions: [turn(0.3, 2), { gripper_move: { arm: "arm", opening_m: 0, speed_m_s: 0.02 } }],
    });
    setTimeout(() => arm.touch(), 100);
    expect(await ended(client, together.group)).toEqual(["END_UNEXPECTED_CONTACT", "END_GROUP"]);
    expect((await client.getState()).stop_latched).toBe(false);

    gripper.between_m = 0.04;
    const closing = await client.execute({ stop_epoch: 0, motions: [{ gripper_move: { arm: "arm", opening_m: 0 } }] });
    expect(await ended(client, closing.group)).toEqual(["END_STALLED"]);
    expect((await client.getState()).grippers[0]).toMatchObject({ stalled: true, moving: false });
    expect(arm.carried_m).toBeCloseTo(0.04, 6);
    await client.execute({ stop_epoch: 0, motions: [{ gripper_move: { arm: "arm", opening_m: 0.09 } }] });
    expect(arm.carried_m).toBeNull();
  });

  it("asks for a person's token after a fault, and takes it once", async () => {
    const client = await connect(server);
    const moving = await client.execute({ stop_epoch: 0, motions: [turn(0.3, 2)] });
    arm.fault("protective_stop", "the arm met more than it may; look, then run the recovery");
    expect(await ended(client, moving.group)).toEqual(["END_PROTECTIVE_STOP"]);
    const { stop_epoch, arms } = await client.getState();
    expect(arms[0]?.mode).toBe("PROTECTIVE_STOP");
    await expect(client.execute({ stop_epoch, motions: [turn(0.1, 1)] })).rejects.toMatchObject({
      details: { device_code: "ERROR_FAULT" },
    });
    await expect(client.resume({ stop_epoch })).rejects.toMatchObject({
      details: { device_code: "ERROR_RESUME_TOKEN" },
    });
    const { token } = await arm.recover(() => {});
    await client.resume({ stop_epoch, token });
    expect((await client.getState()).arms[0]?.mode).toBe("IDLE");
  });

  it("begins no move of the gripper once a stop came, however late it is looked for", async () => {
    const client = await connect(server);
    // Between the look at the epoch and the gripper's start, where this event loop hears of no stop.
    const execute = arm.execute.bind(arm);
    arm.execute = (...given) => {
      execute(...given);
      gripper.stop();
    };
    const { opening_m } = gripper.state();
    const moving = await client.execute({
      stop_epoch: 0,
      motions: [turn(0.01, 0.3), { gripper_move: { arm: "arm", opening_m: 0 } }],
    });
    expect(await ended(client, moving.group)).toEqual(["END_COMPLETED", "END_STOPPED"]);
    expect(gripper.state()).toMatchObject({ opening_m, moving: false });
    // What was stopped before the look is no reason to refuse.
    const again = await client.execute({ stop_epoch: 0, motions: [{ gripper_move: { arm: "arm", opening_m: 0.05 } }] });
    expect(await ended(client, again.group)).toEqual(["END_COMPLETED"]);
  });

  it("stops the arm when the gripper is lost, and resumes when it is back", async () => {
    const client = await connect(server);
    const moving = await client.execute({
      stop_epoch: 0,
      motions: [turn(0.3, 3), { gripper_move: { arm: "arm", opening_m: 0, speed_m_s: 0.01 } }],
    });
    gripper.plugged = false;
    gripper.fault("gripper_stale", "no telemetry for 100 ms: see its cable");
    expect(await ended(client, moving.group)).toEqual(["END_STOPPED", "END_FAULT"]);
    const { stop_epoch, stop_reason } = await client.getState();
    expect(stop_reason).toContain("gripper_stale");
    await expect(client.resume({ stop_epoch })).rejects.toMatchObject({ details: { device_code: "ERROR_FAULT" } });
    gripper.plugged = true;
    await client.resume({ stop_epoch });
    expect((await client.getState()).stop_latched).toBe(false);

    gripper.fault("gripper_device_fault", "the motor is hot");
    const again = (await client.getState()).stop_epoch;
    await expect(client.resume({ stop_epoch: again })).rejects.toThrow(/arm recover/);
  });

  it("tells a camera's fault in its own words, and serves the others", async () => {
    const client = await connect(server);
    cameras.get("wrist")!.broken = "camera wrist: unplugged";
    await expect(client.getFrames(["wrist_left"])).rejects.toThrow(/unplugged/);
    const [picture, depth] = await client.getFrames(["scene_left", "scene_depth"], { not_before_s: client.time_s });
    expect(picture).toMatchObject({ format: "rgb8", width: 64 });
    expect(depth?.pixels[0]).toBeNaN();
    expect(depth?.pixels[1]).toBe(0.5);
  });
});
