import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Dealer } from "zeromq";
import { compiledModule } from "../../src/contract/package-root.js";
import { replyCodec, requestCodec } from "../../src/contract/wire/device-codec.js";
import type { Device, DeviceConnectOptions } from "../../src/runtime/device/device.js";
import { DeviceClient } from "../../src/runtime/device/device-client.js";
import { McapTrace } from "../../src/runtime/trace/mcap-trace.js";
import { FakeBackend } from "../../tests/support/fake-backend.js";
import { ReplayBackend } from "./launch.js";

let dir: string;
let recording: string;
let recorded: Awaited<ReturnType<typeof scripted>>;

const PIXELS = Buffer.from(Array.from({ length: 12 }, (_, i) => i * 20));
const move = (opening_m: number) => ({ stop_epoch: 0, motions: [{ gripper_move: { arm: "left", opening_m } }] });

/** What the tests ask of a device, and all that it gave. */
async function scripted(device: Device) {
  const { time_s: seen_s } = await device.getState();
  const frames = await device.getFrames(["a"], { not_before_s: seen_s });
  const group = await device.execute(move(0.05));
  const advanced = await device.advance({ until_s: 0.4 });
  const refused = await device.getFrames(["none"]).catch((error: { code: string; message: string }) => error);
  return { seen_s, frames: frames.map((frame) => ({ ...frame, pixels: [...frame.pixels] })), group, advanced, refused };
}

/** A backend whose answers depend on what it was asked before. */
async function fakeWorld(): Promise<FakeBackend> {
  const fake = await FakeBackend.start();
  fake.answer = (request) => {
    if (request.get_frames?.cameras[0] === "none")
      return { reply: { error: { code: "ERROR_BAD_ARGUMENT", message: "there is no camera none" } } };
    if (request.get_frames) {
      const frame = { camera: "a", width: 2, height: 2, format: "rgb8", part: 0, exposure_time_s: fake.time_s };
      return { reply: { frames: { frames: [frame] } }, parts: [PIXELS] };
    }
    if (request.execute) return { reply: { execute: { group: 5, expected_end_time_s: 0.3 } } };
    if (!request.advance) return undefined;
    fake.time_s = request.advance.until_s;
    const ended = { group: 5, motions: [{ index: 0, end_reason: "END_COMPLETED" as const }] };
    return { reply: { advance: { state: { groups: [ended] }, events: [{ number: 1, motion_ended: ended }] } } };
  };
  return fake;
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "s2r-replay-"));
  recording = join(dir, "episode.mcap");
  const fake = await fakeWorld();
  const trace = await McapTrace.create({ path: recording, now: () => fake.time_s });
  const device = await DeviceClient.connect({
    ...fake.addresses,
    role: "CONTROLLER",
    client: "test",
    onExchange: (exchange) => trace.exchange(exchange),
  });
  recorded = await scripted(device);
  await device.bye();
  await trace.close();
  expect(trace.failed).toBeNull();
  fake.close();
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function replay(): Promise<ReplayBackend> {
  const backend = await ReplayBackend.spawn({ recording });
  open.push(backend);
  return backend;
}
async function connect(backend: ReplayBackend, extra: Partial<DeviceConnectOptions> = {}): Promise<DeviceClient> {
  const client = await DeviceClient.connect({ ...backend.addresses, role: "CONTROLLER", client: "test", ...extra });
  open.push(client);
  return client;
}

describe("ReplayBackend", () => {
  it("answers the same calls with the same results, pixels and refusals, under the recorded capabilities", async () => {
    const backend = await replay();
    const device = await connect(backend);
    expect(device.capabilities).toMatchObject({ backend: "replay", clock: "SIM", control_period_s: 0.002 });
    expect(device.session).not.toBe("s1");
    expect(await scripted(device)).toEqual(recorded);
  });

  it("refuses a call that differs as diverged, names it, and says so again", async () => {
    const device = await connect(await replay());
    await device.getState();
    await device.getFrames(["a"], { not_before_s: 0 });
    const error = await device.execute(move(0.06)).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: "diverged", details: { device_code: "ERROR_DIVERGED", verb: "execute" } });
    expect((error as Error).message).toMatch(/opening_m is 0\.06, recorded is 0\.05/);
    await expect(device.execute(move(0.05))).rejects.toMatchObject({
      code: "diverged",
      message: (error as Error).message,
    });
    expect(device.lost).toBe(false);
  });

  it("keeps the lease of a controller that thinks for longer than it, without using up the recording", async () => {
    const device = await connect(await replay(), { leaseMs: 150 });
    const { seen_s } = { seen_s: (await device.getState()).time_s };
    await new Promise((resolve) => setTimeout(resolve, 400));
    await device.renew();
    const frames = await device.getFrames(["a"], { not_before_s: seen_s });
    expect([...frames[0]!.pixels]).toEqual([...PIXELS]);
  });

  it("latches stops at any time, tells of them, and starts nothing after one that was not recorded", async () => {
    const device = await connect(await replay());
    const heard = new Promise((resolve) => device.onEvent((event) => event.stopped && resolve(event.stopped)));
    await device.getState();
    await device.getFrames(["a"], { not_before_s: 0 });
    expect(await device.stop("enough")).toMatchObject({ stop_epoch: 1 });
    expect(await heard).toEqual({ stop_epoch: 1, reason: "enough" });
    const error = await device.execute(move(0.05)).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: "backend_refused", details: { device_code: "ERROR_STOP_EPOCH" } });
  });

  it("publishes the recorded events and shows the last state to observers", async () => {
    const backend = await replay();
    const watcher = await connect(backend, { role: "OBSERVER" });
    await expect(watcher.getState()).rejects.toMatchObject({ details: { device_code: "ERROR_NOT_READY" } });
    const heard = new Promise((resolve) => watcher.onEvent((event) => resolve(event.kind)));
    await scripted(await connect(backend));
    expect(await heard).toBe("motion_ended");
    expect((await watcher.getState()).groups).toEqual(recorded.advanced.state?.groups);
    await expect(watcher.getFrames(["a"])).rejects.toMatchObject({ details: { device_code: "ERROR_UNSUPPORTED" } });
  });

  it("plays to one controller only", async () => {
    const backend = await replay();
    const first = await connect(backend);
    await first.bye();
    await expect(connect(backend)).rejects.toMatchObject({ details: { device_code: "ERROR_CONTROLLER_TAKEN" } });
  });

  it("does nothing twice, and outlives what it cannot read", async () => {
    const backend = await replay();
    const socket = new Dealer({ linger: 0 });
    open.push(socket);
    socket.connect(backend.addresses.device);
    const ask = async (...parts: Buffer[]) => {
      await socket.send(parts);
      const [header, ...raw] = await socket.receive();
      return { reply: replyCodec.decode(header!), raw, header: header! };
    };
    const base = { protocol_major: 1, deadline_ms: 1000 };
    const hello = { ...base, request_id: "h", hello: { role: "CONTROLLER" as const, lease_ms: 1000 } };
    const { session } = (await ask(requestCodec.encode(hello))).reply.hello!;
    const at = (sequence: number, body: Parameters<typeof requestCodec.encode>[0]) =>
      requestCodec.encode({ ...base, session, request_id: `r${sequence}`, sequence, ...body });

    const state = await ask(at(1, { get_state: {} }));
    expect((await ask(at(1, { get_state: {} }))).header.equals(state.header)).toBe(true);
    expect((await ask(at(1, { renew: {} }))).reply.error?.code).toBe("ERROR_DUPLICATE_ID");
    expect((await ask(at(3, { renew: {} }))).reply.error?.code).toBe("ERROR_SEQUENCE");
    const frames = await ask(at(2, { get_frames: { cameras: ["a"] } }));
    expect(frames.raw.map((part) => [...part])).toEqual([[...PIXELS]]);
    expect((await ask(at(2, { get_frames: { cameras: ["a"] } }))).raw).toHaveLength(1);

    expect((await ask(Buffer.from("nonsense"))).reply.error?.code).toBe("ERROR_MALFORMED");
    expect((await ask(Buffer.alloc(0), Buffer.alloc(1))).reply.error?.code).toBe("ERROR_MALFORMED");
    expect((await ask(Buffer.alloc((1 << 20) + 1))).reply.error?.code).toBe("ERROR_TOO_LARGE");
    const newer = requestCodec.encode({ ...hello, protocol_major: 2, request_id: "n" });
    expect((await ask(newer)).reply.error?.code).toBe("ERROR_PROTOCOL_VERSION");
    const stranger = requestCodec.encode({ ...base, session: "s", request_id: "s", sequence: 1, renew: {} });
    expect((await ask(stranger)).reply.error?.code).toBe("ERROR_UNKNOWN_SESSION");
    expect((await ask(at(3, { renew: {} }))).reply.renew?.lease_ms).toBe(1000);
  });

  it("says why a recording cannot be played", async () => {
    await expect(ReplayBackend.spawn({ recording: join(dir, "none.mcap") })).rejects.toMatchObject({
      code: "not_found",
    });
    const junk = join(dir, "junk.mcap");
    writeFileSync(junk, "not an MCAP file at all");
    const error = await ReplayBackend.spawn({ recording: junk }).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: "backend_unreachable" });
    expect((error as Error).message).toMatch(/is not a recording, or is damaged/);
    const empty = join(dir, "empty.mcap");
    await (await McapTrace.create({ path: empty, now: () => 0 })).close();
    await expect(ReplayBackend.spawn({ recording: empty })).rejects.toThrow(/does not begin with a session/);
  });

  it("ends, with its folder, when it is closed and when its parent is killed", async () => {
    const backend = await replay();
    const folder = backend.addresses.device.slice("ipc://".length, -2);
    expect(existsSync(folder)).toBe(true);
    expect(await backend.close()).toMatchObject({ code: 0 });
    expect(existsSync(folder)).toBe(false);

    const script = `const { ReplayBackend } = await import(${JSON.stringify(compiledModule("backends/replay/launch.ts"))});
      const backend = await ReplayBackend.spawn({ recording: ${JSON.stringify(recording)} });
      console.log(backend.pid);
      setInterval(() => {}, 1000);`;
    const parent = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const pid = await new Promise<number>((resolve) => parent.stdout.once("data", (line) => resolve(Number(line))));
    expect(existsSync(`/proc/${pid}`)).toBe(true);
    parent.kill("SIGKILL");
    while (existsSync(`/proc/${pid}`)) await new Promise((resolve) => setTimeout(resolve, 20));
  });
});
