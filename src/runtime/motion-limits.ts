import type { Workspace } from "../contract/generated/device.js";
import type { MotionSettings } from "../contract/settings.js";
import { OperationFailure } from "./operation.js";
import { fromYaw, position, type Transform, type Vec3 } from "./transforms.js";

export type Zone = { name: string; min_xyz: Vec3; max_xyz: Vec3 };

/** Speed, acceleration, workspace and zones that every motion keeps, from the configuration and the backend. */
export class MotionLimits {
  readonly settings: MotionSettings;
  readonly table_z_m: number;
  readonly min_xyz: Vec3;
  readonly max_xyz: Vec3;
  readonly zones: readonly Zone[];

  constructor(settings: MotionSettings, workspace: Workspace | null) {
    const corner = (
      own: readonly number[] | undefined,
      backend: readonly number[] | undefined,
      fallback: Vec3,
      narrow: (a: number, b: number) => number,
    ): Vec3 =>
      [0, 1, 2].map((i) =>
        own && backend?.length === 3
          ? narrow(own[i]!, backend[i]!)
          : (own?.[i] ?? (backend?.length === 3 ? backend[i] : undefined) ?? fallback[i]!),
      ) as Vec3;
    this.settings = settings;
    this.table_z_m = workspace?.table_z_m ?? 0;
    this.min_xyz = corner(settings.workspace_min_xyz, workspace?.min_xyz_m, [-10, -10, -10], Math.max);
    this.max_xyz = corner(settings.workspace_max_xyz, workspace?.max_xyz_m, [10, 10, 10], Math.min);
    this.zones = settings.zones.map((zone) => ({
      name: zone.name,
      min_xyz: zone.min_xyz as Vec3,
      max_xyz: zone.max_xyz as Vec3,
    }));
  }

  /** Zones as boxes for collision checks. */
  zoneBoxes(): { name: string; X_world_box: number[]; size_m: Vec3 }[] {
    return this.zones.map(({ name, min_xyz, max_xyz }) => ({
      name,
      X_world_box: fromYaw(
        [0, 1, 2].map((i) => (min_xyz[i]! + max_xyz[i]!) / 2),
        0,
      ),
      size_m: [0, 1, 2].map((i) => max_xyz[i]! - min_xyz[i]!) as Vec3,
    }));
  }

  /** Throws `outside_workspace` or `forbidden_zone` for a TCP pose that is not allowed. */
  checkPose(X_world_tcp: Transform, field: string): void {
    const p = position(X_world_tcp);
    for (const [i, name] of ["x", "y", "z"].entries()) {
      // Said this way round, so that NaN is outside too.
      if (!(p[i]! >= this.min_xyz[i]! - 1e-6 && p[i]! <= this.max_xyz[i]! + 1e-6)) {
        throw new OperationFailure(
          "outside_workspace",
          `${field}.${name} is ${p[i]!.toFixed(4)} m; the workspace allows ${this.min_xyz[i]!.toFixed(3)} to ${this.max_xyz[i]!.toFixed(3)} m`,
        );
      }
    }
    const zone = this.zones.find(({ min_xyz, max_xyz }) =>
      p.every((value, i) => value >= min_xyz[i]! && value <= max_xyz[i]!),
    );
    if (zone) throw new OperationFailure("forbidden_zone", `${field} lies in the forbidden zone "${zone.name}"`);
  }

  /** Limits of planned motions at a fraction `speed` of the configured ones. */
  cartesian(speed: number): {
    speed_m_s: number;
    acceleration_m_s2: number;
    jerk_m_s3: number;
    rotation_speed_rad_s: number;
    rotation_acceleration_rad_s2: number;
  } {
    const { speed_m_s, acceleration_m_s2, jerk_m_s3, rotation_speed_rad_s, rotation_acceleration_rad_s2 } =
      this.settings;
    return {
      speed_m_s: speed_m_s * speed,
      acceleration_m_s2,
      jerk_m_s3,
      rotation_speed_rad_s: rotation_speed_rad_s * speed,
      rotation_acceleration_rad_s2,
    };
  }

  joint(speed: number): { velocity_scale: number; acceleration_scale: number } {
    return {
      velocity_scale: Math.max(0.01, this.settings.joint_velocity_scale * speed),
      acceleration_scale: this.settings.joint_acceleration_scale,
    };
  }
}
