/** `open` on the simulator, by what its world itself knows. */
import { expect, it } from "vitest";
import { SimBackend } from "../backends/sim/launch.js";
import { loadSkills } from "../src/agents/load-skills.js";
import { PrivilegedClient } from "../src/evaluation/privileged-client.js";
import { DeviceClient } from "../src/runtime/device/device-client.js";
import { Session } from "../src/runtime/session.js";
import { missing } from "./support/missing.js";

it.skipIf(missing() !== "")(
  `open pulls what it grips, seen before, along the table and lets it stand${missing()}`,
  async () => {
    const sim = await SimBackend.spawn({ privileged: true });
    const privileged = await PrivilegedClient.connect(sim.privileged!);
    let session: Session | null = null;
    try {
      const { instruction } = await privileged.reset({ task: "r1", seed: 8 });
      const { operations } = await loadSkills({ paths: [], enable: ["pointing", "manipulation"], disable: [] });
      const device = await DeviceClient.connect({ ...sim.addresses, role: "CONTROLLER", client: "test" });
      session = Session.open({ device, operations });
      const value = async (name: string, request: unknown): Promise<Record<string, unknown>> => {
        const outcome = await session!.call(name, request);
        return ("value" in outcome ? outcome.value : outcome.error) as Record<string, unknown>;
      };
      const target = async () =>
        (await privileged.trueState()).bodies.find(({ role }) => role === "target")!.X_world_body;
      const [, query] = /the ([a-z ]+?) (?:into|onto|in|on) the/.exec(instruction) ?? [];
      const { observation_ref } = await value("get_topdown_stereo_view", {});
      const found = await value("localize_3d", { observation_ref, query });
      expect(found).toMatchObject({ status: "ok" });
      const box = found.upright_box as { center: number[]; size: number[]; yaw_rad: number };
      const across = box.yaw_rad + (box.size[0]! >= box.size[1]! ? Math.PI / 2 : 0);
      const before = await target();
      const opened = await value("open", {
        handle_xyz: [box.center[0], box.center[1], box.size[2]! / 2],
        closing_axis_world: [Math.cos(across), Math.sin(across), 0],
        pull_direction_world: [-1, 0, 0],
        distance_m: 0.05,
      });
      expect(opened).toMatchObject({ status: "ok", stop_reason: "completed" });
      await session.hold(1);
      const after = await target();
      expect(before[3]! - after[3]!).toBeCloseTo(opened.displacement_m as number, 2);
      expect(Math.abs(after[7]! - before[7]!)).toBeLessThan(0.01);
      expect(Math.abs(after[11]! - before[11]!)).toBeLessThan(0.005);
      expect(after[10]! * before[10]!).toBeGreaterThan(0.99);
    } finally {
      await session?.close();
      privileged.close();
      await sim.close();
    }
  },
  120_000,
);
