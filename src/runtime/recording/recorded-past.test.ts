import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { FakeBackend } from "../../../tests/support/fake-backend.js";
import type { Device } from "../device/device.js";
import { DeviceClient } from "../device/device-client.js";
import { McapTrace } from "../trace/mcap-trace.js";
import { readTrace } from "../trace/read-trace.js";
import { RecordedPast } from "./recorded-past.js";
import { Recording } from "./recording.js";

const PIXELS = Buffer.from(Array.from({ length: 12 }, (_, i) => i * 20));
const move = (stop_epoch: number, opening_m = 0.05) => ({
  stop_epoch,
  motions: [{ gripper_move: { arm: "left", opening_m } }],
});

let dir: string;
let path: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "s2r-past-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function world(time_s: number, stop_epoch = 0): Promise<FakeBackend> {
  const fake = await FakeBackend.start();
  open.push(fake);
  fake.time_s = time_s;
  fake.stop_epoch = stop_epoch;
  fake.answer = (request) => {
    if (request.get_frames) {
      const frame = { camera: "a", width: 2, height: 2, format: "rgb8", part: 0, exposure_time_s: fake.time_s };
      return { reply: { frames: { frames: [frame] } }, parts: [PIXELS] };
    }
    if (request.execute) return { reply: { execute: { group: 1, expected_end_time_s: 0.3 } } };
    if (request.resume) return { reply: { resume: {} } };
    if (!request.advance) return undefined;
    fake.time_s = request.advance.until_s;
    return { reply: { advance: { state: {} } } };
  };
  return fake;
}

/** Stage 1 of what is asked, then the mark, then a request of stage 2. */
async function firstStage(device: Device) {
  const { time_s } = await device.getState();
  const [frame] = await device.getFrames(["a"], { not_before_s: time_s });
  const stopped = await device.stop("halt");
  const resumed = await device.resume({ stop_epoch: stopped.stop_epoch });
  const { group } = await device.execute(move(device.stopEpoch));
  const advanced = await device.advance({ until_s: 0.4 });
  return { time_s, pixels: [...(frame?.pixels ?? [])], stopped, resumed, group, end_s: advanced.time_s };
}

/** Records one, whose writer is never closed, as that of a killed process. */
async function recorded() {
  const fake = await world(0);
  path = join(dir, `${Math.random()}.mcap`);
  const trace = await McapTrace.create({ path, now: () => fake.time_s });
  const device = await DeviceClient.connect({
    ...fake.addresses,
    role: "CONTROLLER",
    client: "test",
    onExchange: (exchange) => trace.exchange(exchange),
  });
  open.push(device);
  // As a session writes it when a stop was answered.
  device.stop = async (reason) => {
    const latched = await DeviceClient.prototype.stop.call(device, reason);
    trace.event("stop_latched", latched);
    return latched;
  };
  const told = await firstStage(device);
  await trace.mark("stage_end", { stage: 1 });
  await device.advance({ until_s: 0.9 });
  expect(trace.failed).toBeNull();
  return told;
}

async function goOn(fake: FakeBackend) {
  const past = await RecordedPast.open(path, 1);
  const verbs: string[] = [];
  const device = await DeviceClient.connect({
    ...fake.addresses,
    role: "CONTROLLER",
    client: "test",
    past,
    onExchange: ({ verb }) => verbs.push(verb),
  });
  open.push(device);
  return { device, verbs };
}

describe("a session that goes on with an interrupted one", () => {
  it("has on the disk what was recorded up to the mark, though its writer never ended", async () => {
    await recorded();
    const verbs: string[] = [];
    let cut = false;
    const onCut = () => {
      cut = true;
    };
    for await (const { topic } of readTrace(path, { onCut })) verbs.push(topic);
    expect(cut).toBe(true);
    expect(verbs.filter((topic) => topic === "/events")).toHaveLength(2);
    await expect(RecordedPast.open(path, 2)).rejects.toMatchObject({ code: "protocol_mismatch" });
    expect((await Recording.open(path, { until: 1 })).stops).toHaveLength(1);
  });

  it("is told the same again, then by the backend, which hears of what is new alone", async () => {
    const told = await recorded();
    const fake = await world(0.4, 7);
    const { device, verbs } = await goOn(fake);
    expect(device.time_s).toBe(0);
    expect(await firstStage(device)).toEqual(told);
    expect(fake.verbs()).toEqual(["hello"]);
    expect([device.time_s, device.stopEpoch]).toEqual([0.4, 7]);
    expect((await device.advance({ until_s: 0.5 })).time_s).toBe(0.5);
    expect(verbs).toEqual(["hello", "get_state", "get_frames", "resume", "execute", "advance", "advance"]);
  });

  it("keeps its lease meanwhile, and is not misled by the backend's own time", async () => {
    await recorded();
    const fake = await world(0.4);
    const { device, verbs } = await goOn(fake);
    await device.renew();
    expect(device.time_s).toBe(0);
    expect(verbs).toEqual(["hello"]);
  });

  it("refuses what was not asked then, and a world that stands elsewhere", async () => {
    await recorded();
    const { device } = await goOn(await world(0.4));
    await expect(device.advance({ until_s: 3 })).rejects.toMatchObject({
      code: "diverged",
      message: expect.stringContaining("asked is advance, recorded as request 1 is get_state"),
    });
    const other = await goOn(await world(0.3));
    await expect(firstStage(other.device)).rejects.toMatchObject({
      code: "diverged",
      message: expect.stringContaining("stands at 0.3 s"),
    });
  });
});
