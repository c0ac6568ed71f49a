import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import zstd from "@foxglove/wasm-zstd";
import { McapIndexedReader } from "@mcap/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packageFile } from "../../contract/package-root.js";
import { traceCallCodec, traceEventCodec, traceExchangeCodec } from "../../contract/wire/trace-codec.js";
import { McapTrace } from "./mcap-trace.js";
import { readTrace } from "./read-trace.js";
import { foxgloveSchema } from "./schemas.js";

const PYTHON = packageFile(".venvs", "tools", "bin", "python");
const hasPython = existsSync(PYTHON) && spawnSync(PYTHON, ["-c", "import mcap_protobuf"]).status === 0;

let dir: string;
let path: string;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "s2r-trace-"));
  path = join(dir, "episode.mcap");
  await writeOne(path);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const PNG = Uint8Array.from({ length: 300 }, (_, i) => i % 251);
const PARTS = [Uint8Array.from([1, 2, 3]), Uint8Array.from({ length: 9_000_000 }, (_, i) => (i * 7) % 256)];
const X = [1, 0, 0, 0.1, 0, 1, 0, 0.2, 0, 0, 1, 0.3, 0, 0, 0, 1];

/** One message of every kind, each at a device time of its own. */
async function writeOne(file: string): Promise<McapTrace> {
  let time_s = 10;
  const trace = await McapTrace.create({
    path: file,
    now: () => time_s,
    metadata: { episode: "e1", instruction: "Put it there." },
  });
  const request = Uint8Array.from([9]);
  trace.exchange({
    sequence: 4,
    verb: "get_frames",
    request,
    reply: Uint8Array.from([8]),
    parts: PARTS,
    sent_ms: 0,
    received_ms: 1,
  });
  trace.call({
    stage: 1,
    index: 2,
    operation: "goto_pose",
    request: { pose: { x: 0.1 } },
    result: { status: "ok", hit: undefined },
    start_s: 10,
    end_s: 11.5,
  });
  trace.image({
    path: "images/0001_x.png",
    topic: "/views/topdown/left",
    time_s: 10.25,
    png: PNG,
    frame_id: "topdown_left",
  });
  const arm = {
    name: "left",
    q_rad: [0.1, 0.2],
    qd_rad_s: [0, 0.5],
    X_world_tcp: X,
    tcp_wrench: [],
    mode: "IDLE" as const,
    time_s: 10.5,
  };
  const gripper = {
    arm: "left",
    opening_m: 0.04,
    target_opening_m: 0.05,
    force_n: 3,
    moving: false,
    stalled: true,
    time_s: 10.5,
  };
  trace.state([arm], [gripper]);
  trace.camera("wrist_left", "tcp:left", X, 10.6);
  const points_world = Float32Array.from([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]);
  trace.object({
    id: "mask_1_abcd",
    time_s: 10.7,
    center_world: [0.1, 0.2, 0.3],
    size_m: [0.01, 0.02, 0.03],
    yaw_rad: 0.5,
    points_world,
  });
  trace.program(1, "return 1;");
  time_s = 12;
  trace.event("stop_latched", { stop_epoch: 3, time_s: 11 });
  trace.log("warn", "the tin is hot");
  await trace.close();
  return trace;
}

const TOPICS: Record<string, [string, number]> = {
  "/device/exchange": ["skill2real.trace.v1.Exchange", 1],
  "/calls": ["skill2real.trace.v1.Call", 1],
  "/programs": ["skill2real.trace.v1.Program", 1],
  "/events": ["skill2real.trace.v1.Event", 1],
  "/views/topdown/left": ["foxglove.CompressedImage", 1],
  "/joint_states": ["foxglove.JointStates", 1],
  "/tf": ["foxglove.FrameTransform", 2],
  "/perception/points": ["foxglove.PointCloud", 1],
  "/perception/objects": ["foxglove.SceneUpdate", 1],
  "/log": ["foxglove.Log", 1],
};

describe("McapTrace", () => {
  it("writes an indexed file that the public TypeScript reader takes whole", async () => {
    await zstd.isLoaded;
    const bytes = readFileSync(path);
    const reader = await McapIndexedReader.Initialize({
      readable: {
        size: async () => BigInt(bytes.byteLength),
        read: async (offset, size) => new Uint8Array(bytes.subarray(Number(offset), Number(offset + size))),
      },
      decompressHandlers: { zstd: (buffer, size) => zstd.decompress(buffer, Number(size)) },
    });
    const seen: Record<string, [string, number]> = {};
    for await (const message of reader.readMessages({ validateCrcs: true })) {
      const channel = reader.channelsById.get(message.channelId)!;
      const schema = reader.schemasById.get(channel.schemaId)!;
      expect([channel.messageEncoding, schema.encoding]).toEqual(["protobuf", "protobuf"]);
      seen[channel.topic] = [schema.name, (seen[channel.topic]?.[1] ?? 0) + 1];
    }
    expect(seen).toEqual(TOPICS);
    expect(reader.statistics?.messageCount).toBe(11n);
    expect(reader.chunkIndexes.every((chunk) => chunk.compression === "zstd")).toBe(true);
  });

  it("gives back what was written: bytes, JSON and pictures without loss", async () => {
    const all = new Map<string, Uint8Array>();
    const metadata: [string, ReadonlyMap<string, string>][] = [];
    for await (const { topic, data } of readTrace(path, {
      onMetadata: (name, entries) => metadata.push([name, entries]),
    }))
      all.set(topic, new Uint8Array(data));
    expect(metadata).toEqual([
      [
        "skill2real",
        new Map([
          ["episode", "e1"],
          ["instruction", "Put it there."],
        ]),
      ],
    ]);
    const exchange = traceExchangeCodec.decode(all.get("/device/exchange")!);
    expect([exchange.sequence, exchange.verb, [...exchange.request], [...exchange.reply]]).toEqual([
      4,
      "get_frames",
      [9],
      [8],
    ]);
    expect(exchange.parts.map((part, i) => Buffer.compare(part, PARTS[i]!))).toEqual([0, 0]);
    const call = traceCallCodec.decode(all.get("/calls")!);
    expect(call).toEqual({
      stage: 1,
      index: 2,
      operation: "goto_pose",
      request_json: '{"pose":{"x":0.1}}',
      result_json: '{"status":"ok"}',
      start_s: 10,
      end_s: 11.5,
    });
    expect(traceEventCodec.decode(all.get("/events")!)).toEqual({
      kind: "stop_latched",
      details_json: '{"stop_epoch":3,"time_s":11}',
    });
    const picture = foxgloveSchema("CompressedImage").decode(all.get("/views/topdown/left")!);
    expect(picture).toMatchObject({ frame_id: "topdown_left", format: "png" });
    expect([...(picture.data as Uint8Array)]).toEqual([...PNG]);
  });

  it("stamps messages with device time, on top of when the trace began", async () => {
    const times: Record<string, bigint> = {};
    for await (const { topic, time_ns } of readTrace(path)) times[topic] = time_ns;
    const base = times["/calls"]! - 11_500_000_000n;
    expect(times["/views/topdown/left"]! - base).toBe(10_250_000_000n);
    expect(times["/perception/points"]! - base).toBe(10_700_000_000n);
    expect(times["/events"]! - base).toBe(12_000_000_000n);
    const age_s = Date.now() / 1e3 - Number(base / 1_000_000_000n) - 10;
    expect(Math.abs(age_s)).toBeLessThan(3600);
  });

  it.skipIf(!hasPython)("is decoded whole, message by message, by the public Python packages", () => {
    const script = packageFile("tests", "support", "decode_mcap.py");
    const told = JSON.parse(execFileSync(PYTHON, [script, path], { encoding: "utf8" }));
    const counts = Object.fromEntries(Object.entries(TOPICS).map(([topic, [, count]]) => [topic, count]));
    const names = Object.fromEntries(Object.entries(TOPICS).map(([topic, [name]]) => [topic, name]));
    expect(told.topics).toEqual(counts);
    expect(told.schemas).toEqual(names);
    expect(told.counted).toBe(11);
    expect(told.metadata).toEqual({ skill2real: { episode: "e1", instruction: "Put it there." } });
    expect(told.last["/views/topdown/left"].data).toBe(PNG.byteLength);
    expect(told.last["/perception/points"]).toMatchObject({ point_stride: "12", data: 24, frame_id: "world" });
    expect(told.last["/joint_states"].joints).toMatch(/left\/joint_2[\s\S]*left\/gripper_opening/);
    expect(told.last["/log"]).toMatchObject({ message: "the tin is hot", level: "3" });
    expect(told.last["/perception/objects"].entities).toMatch(/mask_1_abcd/);
    expect(told.last["/tf"].child_frame_id).toBe("wrist_left");
  });

  it("does not overwrite a trace, and says where none can be made", async () => {
    await expect(McapTrace.create({ path, now: () => 0 })).rejects.toMatchObject({
      code: "storage_failed",
      message: expect.stringContaining("EEXIST"),
    });
    const nowhere = join(path, "episode.mcap");
    await expect(McapTrace.create({ path: nowhere, now: () => 0 })).rejects.toMatchObject({
      code: "storage_failed",
      message: expect.stringContaining("ENOTDIR"),
    });
  });

  it("is for its owner alone", () => {
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });
});

describe("readTrace", () => {
  it("reads a file whose writer was killed as far as it goes, and says so", async () => {
    const cut = join(dir, "cut.mcap");
    writeFileSync(cut, readFileSync(path));
    truncateSync(cut, statSync(path).size - 200);
    let told = false;
    let count = 0;
    for await (const _ of readTrace(cut, { onCut: () => (told = true) })) count += 1;
    expect([told, count]).toEqual([true, 11]);
    truncateSync(cut, 50);
    count = 0;
    for await (const _ of readTrace(cut)) count += 1;
    expect(count).toBe(0);
  });

  it("gives only the topics that were asked for", async () => {
    const topics: string[] = [];
    for await (const { topic } of readTrace(path, { topics: ["/log", "/tf"] })) topics.push(topic);
    expect(topics).toEqual(["/tf", "/tf", "/log"]);
  });

  it("says which file is missing, or is no trace", async () => {
    const all = async (file: string) => {
      for await (const _ of readTrace(file));
    };
    await expect(all(join(dir, "none"))).rejects.toMatchObject({ code: "not_found" });
    const text = join(dir, "text");
    writeFileSync(text, "this is no MCAP file, however long it is");
    await expect(all(text)).rejects.toMatchObject({ code: "protocol_mismatch" });
    const damaged = join(dir, "damaged.mcap");
    const bytes = readFileSync(path);
    bytes.fill(0xff, 400, 2000);
    writeFileSync(damaged, bytes);
    await expect(all(damaged)).rejects.toMatchObject({ code: "protocol_mismatch" });
  });
});
