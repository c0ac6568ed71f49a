import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ReplayBackend } from "../backends/replay/launch.js";
import { main } from "../src/cli/main.js";
import {
  traceCallCodec,
  traceEventCodec,
  traceExchangeCodec,
  traceProgramCodec,
} from "../src/contract/wire/trace-codec.js";
import { EpisodeWorker } from "../src/evaluation/episode-worker.js";
import { replayEpisode } from "../src/evaluation/replay-episode.js";
import { openSimulatedSession } from "../src/evaluation/simulated-session.js";
import { DeviceClient } from "../src/runtime/device/device-client.js";
import { loadOperations } from "../src/runtime/required-skills.js";
import { Session } from "../src/runtime/session.js";
import { McapTrace, TRACE_FILE } from "../src/runtime/trace/mcap-trace.js";
import { readTrace } from "../src/runtime/trace/read-trace.js";
import { foxgloveSchema } from "../src/runtime/trace/schemas.js";
import { missing } from "./support/missing.js";

const lacking = missing();
let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "s2r-replays-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Looks, measures, moves two things at once, fails once, is stopped in a motion and goes on: all that a session does. */
async function scripted(session: Session, opening_m = 0.03): Promise<unknown[]> {
  const results: unknown[] = [];
  const call = async (name: string, request?: unknown): Promise<Record<string, unknown>> => {
    const outcome = await session.call(name, request);
    results.push([name, outcome]);
    return ("value" in outcome ? outcome.value : {}) as Record<string, unknown>;
  };
  const { observation_ref } = await call("get_topdown_stereo_view");
  const { depth_ref } = await call("get_foundation_stereo_depth", { observation_ref });
  await call("get_point_from_pixel", { depth_ref, u: 320, v: 240 });
  await call("get_wrist_stereo_view", {});
  const { tcp_pose } = (await call("get_robot_state", {})) as { tcp_pose: Record<string, number> };
  const lower = { ...tcp_pose, z: tcp_pose.z! - 0.05 };
  const calls = [
    { id: 1, name: "goto_pose", args: [{ pose: lower, motion: "linear" }] },
    { id: 2, name: "gripper_goto", args: [{ opening_m }] },
  ];
  const settled = await session.process({ calls, sleeps: [] });
  while (session.pending.length > 0) settled.push(...(await session.process({ calls: [], sleeps: [] })));
  results.push(settled);
  await call("goto_pose", { pose: { ...lower, x: 9 } });
  await call("get_point_from_pixel", { depth_ref: "depth_9_aaaa", u: 1, v: 1 });
  // Left in flight and stopped: the epoch rises, and what comes after carries the new one.
  const left = session.process({
    calls: [
      { id: 3, name: "goto_home", args: [{}] },
      { id: 4, name: "sleep", args: [] },
    ],
    sleeps: [{ id: 5, seconds: 0.2 }],
  });
  results.push(await left, await session.halt("the script let go"));
  await call("goto_home", {});
  await call("get_gripper_state", {});
  results.push(session.time_s, session.device.stopEpoch);
  return results;
}

describe.skipIf(lacking !== "")(`a recorded session, replayed${lacking ? ` (missing: ${lacking})` : ""}`, () => {
  let recording: string;
  let recorded: unknown[];
  const refKey = "0123456789abcdef";
  beforeAll(async () => {
    const folder = join(dir, "session");
    recording = join(folder, TRACE_FILE);
    const robot = await openSimulatedSession({ seed: 11, folder, refKey });
    recorded = await scripted(robot.session);
    await robot.close();
  }, 120_000);

  async function replayed(play: (session: Session) => Promise<unknown>): Promise<unknown> {
    const backend = await ReplayBackend.spawn({ recording });
    const device = await DeviceClient.connect({ ...backend.addresses, role: "CONTROLLER", client: "test" });
    const session = Session.open({ device, operations: await loadOperations(), refKey });
    try {
      return await play(session);
    } finally {
      await session.close();
      await backend.close();
    }
  }

  it("gives the same results for the same calls, refs, stops and failures included", async () => {
    expect(recorded.length).toBe(14);
    expect(await replayed((session) => scripted(session))).toEqual(recorded);
  }, 60_000);

  it("rejects a call that asks for something else as diverged, and is stopped all the same", async () => {
    await replayed(async (session) => {
      await expect(scripted(session, 0.031)).rejects.toMatchObject({
        code: "diverged",
        message: expect.stringMatching(
          /execute, recorded as request \d+, differs: execute\.motions\[1\]\.gripper_move\.opening_m is 0\.031, recorded is 0\.03/,
        ),
      });
      await expect(session.call("get_gripper_state", {})).rejects.toMatchObject({ code: "diverged" });
      expect((await session.stop("enough")).stop_epoch).toBeGreaterThan(0);
    });
  }, 60_000);

  it("gives other refs under another key, and all else alike: refs stay above the device", async () => {
    const backend = await ReplayBackend.spawn({ recording });
    const device = await DeviceClient.connect({ ...backend.addresses, role: "CONTROLLER", client: "test" });
    const session = Session.open({ device, operations: await loadOperations(), refKey: "another" });
    const masked = (results: unknown[]): string => JSON.stringify(results).replaceAll(/_[a-z2-9]{4}"/g, '_tag"');
    const results = await scripted(session);
    expect(results).not.toEqual(recorded);
    expect(masked(results)).toBe(masked(recorded));
    await session.close();
    await backend.close();
  }, 60_000);
});

describe.skipIf(lacking !== "")(`a session recorded on a wall clock${lacking ? ` (missing: ${lacking})` : ""}`, () => {
  /** Results without times, which no two runs on a wall clock share. */
  const timeless = (results: unknown[]): unknown =>
    JSON.parse(
      JSON.stringify(results, (key, value) =>
        /_s$|^message$/.test(key) || typeof value === "function" ? undefined : value,
      ),
    );

  it("gives the same results for the same calls, however often states were asked for", async () => {
    const script = async (session: Session): Promise<unknown[]> => {
      const results: unknown[] = [];
      const view = await session.call("get_topdown_stereo_view");
      const state = (await session.call("get_robot_state", {})) as { value: { tcp_pose: Record<string, number> } };
      const pose = { ...state.value.tcp_pose, z: state.value.tcp_pose.z! - 0.04 };
      results.push(view, state, await session.call("goto_pose", { pose, motion: "linear" }));
      results.push(await session.call("gripper_goto", { opening_m: 0.03 }), await session.call("goto_home", {}));
      results.push(await session.call("get_wrist_stereo_view", {}), await session.call("get_gripper_state", {}));
      return results;
    };
    const folder = join(dir, "wall");
    const robot = await openSimulatedSession({ seed: 11, folder, refKey: "k", realtime: 1 });
    const recorded = await script(robot.session);
    await robot.close();
    for (const outcome of recorded) expect(outcome).toMatchObject({ value: { status: "ok" } });
    const backend = await ReplayBackend.spawn({ recording: join(folder, TRACE_FILE) });
    const device = await DeviceClient.connect({ ...backend.addresses, role: "CONTROLLER", client: "test" });
    expect(device.capabilities.clock).toBe("WALL");
    const session = Session.open({ device, operations: await loadOperations(), refKey: "k" });
    expect(timeless(await script(session))).toEqual(timeless(recorded));
    await session.close();
    await backend.close();
  }, 120_000);
});

const PROGRAM = `
const look = await robot.get_topdown_stereo_view();
if (look.status !== "ok") throw new Error(look.message);
const depth = await robot.get_foundation_stereo_depth({ observation_ref: look.observation_ref });
console.log(depth.status, Math.random(), Date.now());
const state = await robot.get_robot_state({});
if (state.status !== "ok") throw new Error(state.message);
const moved = await robot.goto_pose({ pose: { ...state.tcp_pose, z: state.tcp_pose.z - 0.03 }, motion: "linear" });
robot.goto_home({});
await sleep(0.3);
return { finish: "partial", evidence: moved.status };
`;

describe.skipIf(lacking !== "")(`skill2real replay${lacking ? ` (missing: ${lacking})` : ""}`, () => {
  let recording: string;
  let runs: string;
  let run: string;
  beforeAll(async () => {
    runs = join(dir, "runs");
    const worker = new EpisodeWorker({ runsFolder: runs });
    const proposer = { kind: "script" as const, source: PROGRAM, fileName: "p.ts" };
    const skills = { paths: [], enable: ["pointing"], disable: [] };
    const settings = { motion: { speed_m_s: 0.2 }, perception: {}, quotas: {}, budgets: {}, skills };
    const result = await worker.play({ task: "r1", seed: 12, proposer, settings });
    await worker.close();
    expect(result).toMatchObject({ infrastructure: null, outcome: "finished", claim: "execution_failure" });
    run = result.run;
    recording = join(runs, run, TRACE_FILE);
  }, 120_000);

  /** The recording with one program changed, all else as it was. */
  async function withProgram(source: string): Promise<string> {
    const path = join(dir, `changed-${Math.random().toString(36).slice(2)}.mcap`);
    const trace = await McapTrace.create({ path, now: () => 0 });
    for await (const { topic, data } of readTrace(recording)) {
      if (topic === "/device/exchange")
        trace.exchange({ ...traceExchangeCodec.decode(data), sent_ms: 0, received_ms: 0 });
      else if (topic === "/programs") trace.program(traceProgramCodec.decode(data).stage, source);
      else if (topic === "/events") {
        const { kind, details_json } = traceEventCodec.decode(data);
        trace.event(kind, JSON.parse(details_json));
      } else if (topic.startsWith("/views/") || topic === "/perception/depth") {
        const { data: png } = foxgloveSchema("CompressedImage").decode(data) as { data: Uint8Array };
        trace.image({ path: "", topic, time_s: 0, png, frame_id: "" });
      } else if (topic === "/calls") {
        const { request_json, result_json, ...call } = traceCallCodec.decode(data);
        trace.call({ ...call, request: JSON.parse(request_json), result: JSON.parse(result_json) });
      }
    }
    await trace.close();
    return path;
  }

  it("plays the recorded programs to the same calls, results and pictures", async () => {
    const result = await replayEpisode({ recording });
    expect(result).toMatchObject({ stages: 1, divergence: null, ends_early: false });
    expect(result.calls).toBe(7);
    expect(result.images).toBeGreaterThanOrEqual(7);
  }, 60_000);

  it("ends with exit code 0 where all is identical, and 1 where anything is not", async () => {
    expect(await main(["replay", run, "--runs", runs])).toBe(0);
    const changed = await withProgram(PROGRAM.replace("sleep(0.3)", "sleep(0.4)"));
    expect(await main(["replay", changed, "--json"])).toBe(1);
    expect(await main(["replay", "none", "--runs", runs])).toBe(3);
  }, 120_000);

  it("names the first call that differs", async () => {
    const { divergence } = await replayEpisode({ recording: await withProgram(PROGRAM.replace("- 0.03", "- 0.02")) });
    expect(divergence).toMatch(
      /the replay differs from its recording first here: execute, recorded as request \d+, differs: /,
    );
    const other = await replayEpisode({
      recording: await withProgram(PROGRAM.replace("const state", "await robot.get_gripper_state({});\nconst state")),
    });
    expect(other.divergence).toMatch(
      /^call \d \(get_gripper_state, stage 1\): operation is "get_gripper_state", recorded is "get_robot_state"/,
    );
  }, 120_000);
});
