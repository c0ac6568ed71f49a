import { type Rig, rigTransform } from "../../../../src/config/index.js";
import { ArmDriver as Addon, ArmRefusal } from "../../../../src/runtime/native/arm.js";
import type { ReadGuard } from "../../../device-server/read-motions.js";
import { type ArmDriver, type ArmEvent, ArmRefused, type ArmSnapshot, type RecoverResult } from "../drivers.js";

/** The gate on setpoints lies this much above what plans keep: a plan at its limit, sampled and tracked, is no breach. */
const GATE = { velocity: 1.05, acceleration: 1.25, jerk: 2 };
const MOST = { velocity_rad_s: Math.PI, acceleration_rad_s2: 40, jerk_rad_s3: 1000 };

export type OpenArmOptions = { rig: Rig; stop_address: string; speed_cap: number; parent_pid: number };

/** The arm addon as this server's arm. Rejects with `arm_*` and the operator's next step. */
export class NativeArm implements ArmDriver {
  readonly addon: Addon;

  static async open({ rig: { arm }, stop_address, speed_cap, parent_pid }: OpenArmOptions): Promise<NativeArm> {
    const gate = (values: readonly number[], by: number, most: number): number[] =>
      values.map((value) => Math.min(most, value * by));
    const { limits } = arm;
    const addon = await Addon.open({
      host: arm.host,
      registers: arm.registers,
      kinematics: arm.kinematics,
      realtime: arm.realtime,
      realtime_priority: arm.realtime_priority,
      realtime_cpu: arm.realtime_cpu ?? -1,
      stale_cycles: arm.stale_cycles,
      servo_lookahead_s: arm.servo_lookahead_s,
      servo_gain: arm.servo_gain,
      watchdog_hz: arm.watchdog_hz,
      payload_kg: arm.payload_kg,
      payload_cog_m: [...arm.payload_cog_m],
      X_flange_tcp: rigTransform(arm.X_flange_tcp),
      X_world_base: rigTransform(arm.X_world_base),
      gravity_base_m_s2: [...arm.gravity_base_m_s2],
      limits: {
        position_min_rad: [...limits.position_min_rad],
        position_max_rad: [...limits.position_max_rad],
        velocity_rad_s: gate(limits.velocity_rad_s, speed_cap * GATE.velocity, MOST.velocity_rad_s),
        acceleration_rad_s2: gate(limits.acceleration_rad_s2, GATE.acceleration, MOST.acceleration_rad_s2),
        jerk_rad_s3: gate(limits.jerk_rad_s3, GATE.jerk, MOST.jerk_rad_s3),
      },
      distance_rad: limits.distance_rad,
      contact_force_n: arm.contact_force_n,
      contact_torque_nm: arm.contact_torque_nm,
      zones: arm.zones.map(({ name, min_xyz, max_xyz }) => ({
        name,
        kind: "box" as const,
        X_world_box: centred(min_xyz, max_xyz),
        size_m: max_xyz.map((most, axis) => most - min_xyz[axis]!),
      })),
      stop_address,
      parent_pid,
      exit_on_parent_gone: true,
      recorder_folder: arm.flight_records,
    });
    return new NativeArm(addon);
  }

  private constructor(addon: Addon) {
    this.addon = addon;
  }

  get facts(): Addon["info"] {
    return this.addon.info;
  }

  state(): ArmSnapshot {
    return this.addon.state();
  }

  stateAt(time_s: number): ArmSnapshot | null {
    return this.addon.stateAt(time_s);
  }

  execute(
    group: number,
    stopEpoch: number,
    { time_s, q_rad }: { time_s: Float64Array; q_rad: Float64Array },
    { force_n, torque_nm, direction_world, contact_expected }: ReadGuard,
  ): void {
    const guard = { force_n, torque_nm, direction_world: [...direction_world], contact_expected };
    refusing(() => this.addon.execute(group, stopEpoch, { time_s, q_rad }, guard));
  }

  stop(reason: string): number {
    return this.addon.stop(reason);
  }

  resume(stopEpoch: number, token: string): void {
    refusing(() => this.addon.resume(stopEpoch, token));
  }

  /** What the fingers closed on, as a capsule about the TCP, so that zones hold for it too; null: nothing. */
  carry(width_m: number | null): void {
    this.addon.setLoad(
      width_m === null
        ? { carried: false }
        : { carried: true, p0_tcp_m: [0, 0, -0.02], p1_tcp_m: [0, 0, 0.02], radius_m: width_m / 2 + 0.01 },
    );
  }

  renewLease(lease_ms: number): void {
    this.addon.renewLease(lease_ms);
  }
  holdLease(held: boolean): void {
    this.addon.holdLease(held);
  }
  endLease(): void {
    this.addon.endLease();
  }

  onEvent(listener: (event: ArmEvent) => void): () => void {
    return this.addon.onEvent((event) => {
      // Progress is told by this server, for arm and gripper together.
      if (event.kind !== "group_progress") listener(event);
    });
  }

  recover(onWait: (seconds: number) => void): Promise<RecoverResult> {
    return this.addon.recover(onWait);
  }

  close(): Promise<void> {
    return this.addon.close();
  }
}

function refusing(work: () => void): void {
  try {
    work();
  } catch (error) {
    throw error instanceof ArmRefusal ? new ArmRefused(error.code, error.message) : error;
  }
}

function centred(min_xyz: readonly number[], max_xyz: readonly number[]): number[] {
  const [x, y, z] = min_xyz.map((least, axis) => (least + max_xyz[axis]!) / 2);
  return [1, 0, 0, x!, 0, 1, 0, y!, 0, 0, 1, z!, 0, 0, 0, 1];
}
