import type { RigGripper } from "../../../../src/config/index.js";
import { Skill2RealError } from "../../../../src/contract/errors.js";
import { GripperDriver as Addon, type GripperState } from "../../../../src/runtime/native/gripper.js";
import type { GripperDriver, GripperEvent, GripperFacts, GripperSnapshot } from "../drivers.js";

/** Two slides of 50 mm. */
const STROKE_M = 0.1;
/** Greatest current that the firmware takes: the rig's `max_force_n` is told for it. */
const MOST_CURRENT_A = 2;
/** Faults of the line, not of the gripper. */
const LINE_FAULTS: readonly string[] = [
  "gripper_unplugged",
  "gripper_stale",
  "gripper_silent",
  "gripper_not_found",
  "gripper_write_blocked",
];

/** The gripper addon as this server's gripper. Rejects with `gripper_*` and the operator's next step. */
export class NativeGripper implements GripperDriver {
  readonly facts: GripperFacts;
  readonly addon: Addon;

  static async open(rig: RigGripper): Promise<NativeGripper> {
    const addon = await Addon.open({
      path: rig.path,
      ...(rig.serial ? { serial: rig.serial } : {}),
      dialect: rig.dialect,
      current_limit_a: rig.current_limit_a,
      newton_per_amp: rig.max_force_n / MOST_CURRENT_A,
      speed_m_s: Math.min(0.15, rig.max_speed_m_s),
      max_speed_m_s: rig.max_speed_m_s,
      on_disconnect: rig.on_disconnect,
    });
    return new NativeGripper(addon, rig);
  }

  private constructor(addon: Addon, { max_opening_m, max_force_n, max_speed_m_s }: RigGripper) {
    this.addon = addon;
    this.facts = { max_opening_m, stroke_m: STROKE_M, max_force_n, max_speed_m_s };
  }

  get lineFault(): boolean {
    return LINE_FAULTS.includes(this.addon.state().fault?.code ?? "");
  }

  state(): GripperSnapshot {
    return snapshotOf(this.addon.state());
  }

  get stops(): number {
    return this.addon.stops;
  }

  move(move: { opening_m: number; force_n?: number; speed_m_s?: number; stops: number }): boolean {
    try {
      this.addon.move(move);
      return true;
    } catch (error) {
      if (error instanceof Skill2RealError && error.code === "gripper_stopped") return false;
      throw error;
    }
  }

  hold(): void {
    this.addon.hold();
  }

  recover(): Promise<void> {
    return this.addon.recover();
  }

  onEvent(listener: (event: GripperEvent) => void): () => void {
    return this.addon.onEvent((event) => {
      if (event.type === "fault")
        listener({ kind: "fault", time_s: event.time_s, code: event.failure.code, message: event.failure.message });
      // A motion that this server ended itself, by `hold`, is told by it.
      else if (event.type === "motion_ended" && event.reason !== "stopped")
        listener({ kind: "motion_ended", time_s: event.time_s, reason: event.reason });
    });
  }

  async close(): Promise<void> {
    await this.addon.close();
  }
}

function snapshotOf(state: GripperState): GripperSnapshot {
  const opening_m = state.opening_m ?? 0;
  return {
    time_s: state.time_s ?? 0,
    opening_m,
    target_opening_m: state.target_opening_m ?? opening_m,
    force_estimate_n: state.force_estimate_n,
    moving: state.moving,
    stalled: state.stalled,
    fault_code: state.fault?.code ?? "",
    fault_message: state.fault?.message ?? "",
  };
}
