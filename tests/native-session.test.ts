import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { NativeServer } from "../backends/native/server/native-server.js";
import { emulatedRig, type Rig } from "../src/config/index.js";
import { checkRig } from "../src/config/rig.js";
import { DeviceClient } from "../src/runtime/device/device-client.js";
import { loadOperations } from "../src/runtime/required-skills.js";
import { Session } from "../src/runtime/session.js";
import { missing } from "./support/missing.js";
import { ArmDouble, CameraDouble, GripperDouble } from "./support/rig-doubles.js";

const lacking = missing();

type View = {
  status: string;
  message: string;
  observation_ref: string;
  left_image_path: string;
  right_image_path: string | null;
};
type Depth = { status: string; model: string; valid_fraction: number; near_m: number; far_m: number };

describe.skipIf(lacking !== "")(
  `a session on RGB-D cameras and a wall clock${lacking ? ` (missing: ${lacking})` : ""}`,
  () => {
    let folder: string;
    const open: (() => unknown)[] = [];
    afterEach(async () => {
      for (const close of open.splice(0).reverse()) await close();
    });

    async function start(
      rig: Rig = emulatedRig().rig,
    ): Promise<{ session: Session; camera: CameraDouble; gripper: GripperDouble }> {
      folder = mkdtempSync(join(tmpdir(), "s2r-session-"));
      open.push(() => rmSync(folder, { recursive: true, force: true }));
      const camera = new CameraDouble({ width: 160, height: 120, infrared: true });
      // The look pose is 0.6 m above the table.
      camera.distance_m = 0.6;
      const gripper = new GripperDouble();
      const server = await NativeServer.start({
        rig,
        socket_dir: folder,
        speed_cap: 1,
        open: async (stop_address) => ({
          arm: await ArmDouble.open(rig, stop_address),
          gripper,
          cameras: new Map([
            ["wrist", camera],
            ["scene", new CameraDouble({ infrared: true })],
          ]),
        }),
      });
      open.push(() => server.close("the test ended"));
      const device = await DeviceClient.connect({ ...server.addresses, role: "CONTROLLER", client: "test" });
      const session = Session.open({ device, operations: await loadOperations(), folder });
      open.push(() => session.close());
      return { session, camera, gripper };
    }

    const call = async <T>(session: Session, name: string, request: unknown = {}): Promise<T> => {
      const outcome = await session.call(name, request);
      if (!("value" in outcome)) throw new Error(`${name} threw ${outcome.error.message}`);
      return outcome.value as T;
    };

    it("takes the sensor's depth, and says so", async () => {
      const { session } = await start();
      const view = await call<View>(session, "get_topdown_stereo_view");
      expect(view).toMatchObject({ status: "ok", right_image_path: null });
      expect(existsSync(join(folder, view.left_image_path))).toBe(true);
      const depth = await call<Depth>(session, "get_foundation_stereo_depth", {
        observation_ref: view.observation_ref,
      });
      expect(depth).toMatchObject({ status: "ok", model: "sensor" });
      expect(depth.near_m).toBeCloseTo(0.6, 3);
      // One pixel of the picture is unknown, and stays so.
      expect(depth.valid_fraction).toBe(0.9999);
      expect(
        await call(session, "get_point_from_pixel", {
          depth_ref: (depth as unknown as { depth_ref: string }).depth_ref,
          u: 80,
          v: 60,
        }),
      ).toMatchObject({ status: "ok" });
    });

    it("has no top-down view where the arm is not at its look pose, until goto_home brings it back", async () => {
      const { session } = await start();
      const { tcp_pose } = await call<{ tcp_pose: Record<string, number> }>(session, "get_robot_state");
      const away = { ...tcp_pose, z: tcp_pose.z! - 0.1 };
      expect(await call(session, "goto_pose", { pose: away, motion: "joint" })).toMatchObject({ status: "ok" });
      const view = await call<View>(session, "get_topdown_stereo_view");
      expect(view.status).toBe("view_unavailable");
      expect(view.message).toContain("goto_home");
      expect(await call(session, "get_wrist_stereo_view")).toMatchObject({ status: "ok" });
      expect(await call(session, "goto_home")).toMatchObject({ status: "ok" });
      expect(await call(session, "get_topdown_stereo_view")).toMatchObject({ status: "ok" });
    });

    it("computes depth from the infrared pair where the rig says so", async () => {
      const { rig } = emulatedRig();
      const scene = { ...rig.cameras.scene!, depth: "stereo" as const };
      const { session } = await start(checkRig({ ...rig, cameras: { ...rig.cameras, scene } }, "the rig"));
      const view = await call<View>(session, "get_scene_stereo_view");
      expect(view.status).toBe("ok");
      expect(view.right_image_path).not.toBeNull();
      const depth = await call<Depth>(session, "get_foundation_stereo_depth", {
        observation_ref: view.observation_ref,
      });
      expect(depth.status === "ok" ? depth.model : depth.status).not.toBe("sensor");
    });

    it("moves arm and gripper together and sleeps, in real time", async () => {
      const { session, gripper } = await start();
      gripper.between_m = 0.05;
      const { tcp_pose } = await call<{ tcp_pose: Record<string, number> }>(session, "get_robot_state");
      const calls = [
        { id: 1, name: "goto_pose", args: [{ pose: { ...tcp_pose, z: tcp_pose.z! - 0.05 } }] },
        { id: 2, name: "gripper_goto", args: [{ opening_m: 0.02 }] },
      ];
      const began_s = session.time_s;
      const settled = await session.process({ calls, sleeps: [{ id: 3, seconds: 0.3 }] });
      while (session.pending.length > 0) settled.push(...(await session.process({ calls: [], sleeps: [] })));
      const byId = Object.fromEntries(settled.map((one) => [one.id, "value" in one ? one.value : one.error]));
      expect(byId[1]).toMatchObject({ status: "ok", stop_reason: "completed" });
      expect(byId[2]).toMatchObject({ status: "ok", stop_reason: "stalled" });
      expect(byId[3]).toBeNull();
      expect(session.time_s - began_s).toBeGreaterThanOrEqual(0.3);
    });
  },
);
