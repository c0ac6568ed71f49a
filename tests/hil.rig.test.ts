import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NativeBackend } from "../backends/native/launch.js";
import { emulatedRig } from "../src/config/index.js";
import { HilMcap } from "../src/evaluation/hil/mcap-report.js";
import { runHil } from "../src/evaluation/hil/run-hil.js";
import { mirrorArm } from "../src/evaluation/mirror/mirror.js";
import type { MirrorGap } from "../src/evaluation/mirror/mirror-twin.js";
import { startEmulatedRig } from "../src/evaluation/rig-world.js";
import { readTrace } from "../src/runtime/trace/read-trace.js";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "s2r-hil-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the checks of a rig, on the emulated one", () => {
  it("find it well, find what was broken, and record what happened", async () => {
    const path = join(folder, "hil.mcap");
    const record = await HilMcap.create(path);
    const only = [
      "link: driver_opens_and_nothing_moves",
      "link: kinematics_agree_with_the_controller",
      "motion: wrist_3_moves_and_returns",
      "stop: stop_ends_a_motion",
      "limits: not_a_number_is_refused",
      "gripper: reaches_30_mm",
      "camera: not_before_is_kept",
      "timing: loop_runs_while_javascript_spins",
      "faults: protective_stop_needs_a_person",
      "faults: gripper_is_unplugged",
    ];
    const report = await runHil({ named: emulatedRig(), speed: 1, seed: 3, only, record });
    await record.close(report);
    const bad = report.results.filter(({ outcome }) => outcome === "failed" || outcome === "skipped");
    expect(bad.map(({ name, message }) => `${name}: ${message}`)).toEqual([]);
    expect(report.results).toHaveLength(only.length);
    expect(report.notes.join()).toContain("controller");
    expect(report.results.find(({ name }) => name === "gripper_is_unplugged")?.fault).toMatchObject({
      code: expect.stringMatching(/^gripper_/),
      false_report: "",
    });
    const topics = new Set<string>();
    for await (const { topic } of readTrace(path)) topics.add(topic);
    expect([...topics].sort()).toEqual(["/events", "/hil/log", "/hil/results", "/joint_states"]);
  }, 180_000);
});

describe("the mirror", () => {
  it("follows an arm that stands, and tells that the twin's kinematics are not this arm's", async () => {
    const rig = await startEmulatedRig({ seed: 3 });
    const native = await NativeBackend.spawn({ rig: rig.rig });
    const gaps: MirrorGap[] = [];
    const picture = join(folder, "twin.png");
    try {
      const ended = new AbortController();
      const sent = await mirrorArm({
        addresses: native.addresses,
        picture,
        signal: ended.signal,
        onGap: (gap) => {
          gaps.push(gap);
          if (gaps.length >= 30) ended.abort();
        },
      });
      expect(sent).toBeGreaterThan(30);
      const last = gaps.at(-1)!;
      expect(Math.max(...last.joint_error_mrad.map(Math.abs))).toBeLessThan(10);
      expect(last.of_that_kinematics_mm).toBeGreaterThan(0.05);
      expect(last.tcp_distance_mm).toBeLessThan(20);
      expect(last.refused).toBe(0);
      expect(readFileSync(picture).subarray(1, 4).toString()).toBe("PNG");
    } finally {
      await native.close();
      await rig.close();
    }
  }, 120_000);
});
