import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SimBackend } from "../backends/sim/launch.js";
import { main } from "../src/cli/main.js";
import { EpisodeWorker } from "../src/evaluation/episode-worker.js";
import { PrivilegedClient } from "../src/evaluation/privileged-client.js";
import { openSimulatedSession } from "../src/evaluation/simulated-session.js";
import { DeviceClient } from "../src/runtime/device/device-client.js";
import { loadOperations } from "../src/runtime/required-skills.js";
import { Session } from "../src/runtime/session.js";
import { NO_TRACE, type TraceSink } from "../src/runtime/trace-sink.js";
import { missing } from "./support/missing.js";

const lacking = missing();
let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "s2r-storage-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const skills = { paths: [], enable: [], disable: [] };
const settings = { motion: {}, perception: {}, quotas: {}, budgets: {}, skills };

describe.skipIf(lacking !== "")(`a trace that cannot be written${lacking ? ` (missing: ${lacking})` : ""}`, () => {
  it("stops the arm in the middle of a motion, and nothing moves after it", async () => {
    const sim = await SimBackend.spawn({ privileged: true });
    const privileged = await PrivilegedClient.connect(sim.privileged!);
    await privileged.reset({ task: "r1", seed: 3 });
    let failed: Error | null = null;
    const verbs: string[] = [];
    const trace: TraceSink = {
      ...NO_TRACE,
      get failed() {
        return failed;
      },
    };
    const device = await DeviceClient.connect({
      ...sim.addresses,
      role: "CONTROLLER",
      client: "test",
      onExchange: ({ verb }) => {
        verbs.push(verb);
        // The disk fills while the arm is on its way.
        if (verb === "execute") failed = new Error("no space left on device");
      },
    });
    const session = Session.open({ device, operations: await loadOperations(), trace });
    const { value } = (await session.call("get_robot_state", {})) as { value: { tcp_pose: Record<string, number> } };
    const pose = { ...value.tcp_pose, z: value.tcp_pose.z! - 0.1 };
    const moved = await session.call("goto_pose", { pose, motion: "linear", speed: 0.2 });
    expect(moved).toMatchObject({ value: { status: "stopped", stop_reason: "stopped" } });
    const state = await device.getState();
    expect(state).toMatchObject({
      stop_latched: true,
      stop_reason: expect.stringContaining("no space left on device"),
    });
    expect(state.arms[0]!.X_world_tcp[11]).toBeGreaterThan(pose.z! + 0.02);

    const executed = verbs.filter((verb) => verb === "execute").length;
    for (const [name, request] of [
      ["goto_home", {}],
      ["gripper_goto", { opening_m: 0.05 }],
    ] as const)
      expect(await session.call(name, request)).toMatchObject({ value: { status: "stopped" } });
    expect(verbs.filter((verb) => verb === "execute").length).toBe(executed);
    privileged.close();
    await session.close();
    await sim.close();
  }, 60_000);

  it("lets nothing begin where it failed before", async () => {
    const robot = await openSimulatedSession({ seed: 3 });
    const trace: TraceSink = { ...NO_TRACE, failed: new Error("read-only file system") };
    const session = Session.open({ device: robot.session.device, operations: robot.skills.operations, trace });
    const outcome = await session.call("goto_home", {});
    expect(outcome).toMatchObject({
      value: { status: "internal_error", message: expect.stringContaining("nothing moves without a record") },
    });
    await robot.close();
  }, 60_000);
});

describe.skipIf(lacking !== "")(
  `a folder of runs that cannot be written${lacking ? ` (missing: ${lacking})` : ""}`,
  () => {
    it("ends the command with the exit code of storage before anything moves", async () => {
      const file = join(dir, "a-file");
      writeFileSync(file, "");
      expect(await main(["run", "--task", "r1", "--seed", "3", "--runs", join(file, "runs")])).toBe(5);
    }, 60_000);

    it("is the episode's infrastructure failure", async () => {
      const file = join(dir, "another-file");
      writeFileSync(file, "");
      const worker = new EpisodeWorker({ runsFolder: join(file, "runs") });
      const proposer = { kind: "script" as const, source: "return null;", fileName: "p.ts" };
      const result = await worker.play({ task: "r1", seed: 3, proposer, settings });
      await worker.close();
      expect(result).toMatchObject({ success: null, infrastructure: expect.stringMatching(/^storage_failed: /) });
    }, 60_000);
  },
);

const small = mkdtempSync(join(tmpdir(), "s2r-small-"));
const mounted =
  lacking === "" && spawnSync("mount", ["-t", "tmpfs", "-o", "size=5m,mode=700", "tmpfs", small]).status === 0;
afterAll(() => {
  if (mounted) spawnSync("umount", [small]);
  rmSync(small, { recursive: true, force: true });
});

describe.skipIf(!mounted)(
  `a disk that fills in an episode (needs to mount a small tmpfs${lacking ? `; missing: ${lacking}` : ""})`,
  () => {
    it("is told as storage_failed, and the arm is not moved on", async () => {
      const worker = new EpisodeWorker({ runsFolder: small });
      const source = `
      for (let i = 0; i < 12; i++) await robot.get_topdown_stereo_view();
      const home = await robot.goto_home({});
      return { finish: "supported", evidence: home.status };`;
      const proposer = { kind: "script" as const, source, fileName: "p.ts" };
      const result = await worker.play({ task: "r1", seed: 3, proposer, settings });
      await worker.close();
      expect(result.infrastructure).toMatch(/^storage_failed: the trace is not complete: .*ENOSPC/);
      expect(result.success).toBeNull();
    }, 120_000);
  },
);
