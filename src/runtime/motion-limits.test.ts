import { describe, expect, it } from "vitest";
import { DEFAULT_MOTION_SETTINGS, type MotionSettings } from "../contract/settings.js";
import { MotionLimits } from "./motion-limits.js";
import { OperationFailure } from "./operation.js";
import { fromYaw } from "./transforms.js";

const workspace = { table_z_m: 0.02, min_xyz_m: [-0.5, 0.2, 0], max_xyz_m: [0.5, 0.8, 0.6] };
const limits = (settings: Partial<MotionSettings> = {}, box: typeof workspace | null = workspace) =>
  new MotionLimits({ ...DEFAULT_MOTION_SETTINGS, ...settings }, box);

function statusOf(of: MotionLimits, x: number, y: number, z: number): string {
  try {
    of.checkPose(fromYaw([x, y, z], 0), "pose");
    return "ok";
  } catch (error) {
    if (error instanceof OperationFailure) return `${error.status}: ${error.message}`;
    throw error;
  }
}

describe("MotionLimits", () => {
  it("keeps the TCP in the backend's box, and names value and limit", () => {
    expect(statusOf(limits(), 0, 0.5, 0.3)).toBe("ok");
    expect(statusOf(limits(), 0.5, 0.8, 0)).toBe("ok");
    expect(statusOf(limits(), 0.51, 0.5, 0.3)).toBe(
      "outside_workspace: pose.x is 0.5100 m; the workspace allows -0.500 to 0.500 m",
    );
    expect(statusOf(limits(), 0, 0.5, 0.7)).toMatch(/^outside_workspace: pose\.z is 0\.7000 m/);
    expect(statusOf(limits(), Number.NaN, 0.5, 0.3)).toMatch(/^outside_workspace: pose\.x/);
  });

  it("narrows that box by the configuration's, and never widens it", () => {
    const own = limits({ workspace_min_xyz: [-9, 0.3, -9], workspace_max_xyz: [9, 9, 0.4] });
    expect(own.min_xyz).toEqual([-0.5, 0.3, 0]);
    expect(own.max_xyz).toEqual([0.5, 0.8, 0.4]);
  });

  it("takes the configuration's box alone where the backend has none", () => {
    const own = limits({ workspace_min_xyz: [0, 0, 0], workspace_max_xyz: [1, 1, 1] }, null);
    expect([own.min_xyz, own.max_xyz, own.table_z_m]).toEqual([[0, 0, 0], [1, 1, 1], 0]);
    expect(statusOf(limits({}, null), 3, 3, 3)).toBe("ok");
  });

  it("keeps out of forbidden zones, by name, borders included", () => {
    const zoned = limits({ zones: [{ name: "camera post", min_xyz: [0.1, 0.3, 0], max_xyz: [0.2, 0.4, 0.6] }] });
    expect(statusOf(zoned, 0.15, 0.35, 0.3)).toBe('forbidden_zone: pose lies in the forbidden zone "camera post"');
    expect(statusOf(zoned, 0.2, 0.4, 0.6)).toMatch(/^forbidden_zone/);
    expect(statusOf(zoned, 0.21, 0.35, 0.3)).toBe("ok");
    expect(zoned.zoneBoxes()).toEqual([
      {
        name: "camera post",
        X_world_box: fromYaw([expect.closeTo(0.15), 0.35, 0.3], 0),
        size_m: [expect.closeTo(0.1), expect.closeTo(0.1), 0.6],
      },
    ]);
  });

  it("scales speeds by what a program asks for, and leaves acceleration as it is", () => {
    const { speed_m_s, acceleration_m_s2, rotation_speed_rad_s } = limits().cartesian(0.5);
    expect(speed_m_s).toBe(DEFAULT_MOTION_SETTINGS.speed_m_s / 2);
    expect(rotation_speed_rad_s).toBe(DEFAULT_MOTION_SETTINGS.rotation_speed_rad_s / 2);
    expect(acceleration_m_s2).toBe(DEFAULT_MOTION_SETTINGS.acceleration_m_s2);
    expect(limits().joint(0.5).velocity_scale).toBe(DEFAULT_MOTION_SETTINGS.joint_velocity_scale / 2);
    expect(limits().joint(0).velocity_scale).toBe(0.01);
  });
});
