import type {
  ArmMode,
  ArmState,
  Capabilities,
  DeviceErrorCode,
  DeviceRequest,
  EndReason,
  Execute,
  GripperState,
  StateReply,
} from "../../../src/contract/generated/device.js";
import type { DeviceDesk, Outcome, ServeContext } from "../../device-server/desk.js";
import type { EventBus } from "../../device-server/event-bus.js";
import { type ReadGripperMove, type ReadTrajectory, readMotions } from "../../device-server/read-motions.js";
import { Refusal } from "../../device-server/refusal.js";
import { ARM, type NativeDescription } from "./capabilities.js";
import {
  type ArmDriver,
  type ArmEvent,
  type ArmRefusalCode,
  ArmRefused,
  type ArmSnapshot,
  type CameraDriver,
  type GripperDriver,
  type GripperEvent,
} from "./drivers.js";
import { MotionGroups } from "./motion-groups.js";
import { FrameReader } from "./read-frames.js";

const PROGRESS_MS = 100;
/** How long a stopped arm may take to stand, and how often that is looked at. */
const STANDSTILL_MS = 2000;
const LOOK_MS = 5;
/** Beyond its way at its speed: starting, slowing and the confirmation of telemetry. */
const GRIPPER_EXTRA_S = 0.4;

const REFUSALS: Record<ArmRefusalCode, DeviceErrorCode> = {
  not_start: "ERROR_NOT_START",
  stop_epoch: "ERROR_STOP_EPOCH",
  busy: "ERROR_BUSY",
  fault: "ERROR_FAULT",
  bad_argument: "ERROR_BAD_ARGUMENT",
  resume_token: "ERROR_RESUME_TOKEN",
};

const GRIPPER_ENDS: Record<Extract<GripperEvent, { kind: "motion_ended" }>["reason"], EndReason> = {
  completed: "END_COMPLETED",
  stalled: "END_STALLED",
  timeout: "END_TIMEOUT",
  fault: "END_FAULT",
};

/** How the gripper's motion of a group ends with the arm's; null: it goes on. */
const END_OF_GROUP: Partial<Record<EndReason, EndReason>> = {
  END_CONTACT: "END_GROUP",
  END_UNEXPECTED_CONTACT: "END_GROUP",
  END_TIMEOUT: "END_GROUP",
  END_STOPPED: "END_STOPPED",
  END_PROTECTIVE_STOP: "END_PROTECTIVE_STOP",
  END_FAULT: "END_FAULT",
};

export type NativeDeskOptions = {
  description: NativeDescription;
  arm: ArmDriver;
  gripper: GripperDriver | null;
  cameras: ReadonlyMap<string, CameraDriver>;
  events: EventBus;
  /** Seconds of CLOCK_MONOTONIC. */
  now_s: () => number;
  /** The lease lapsed: the arm is stopping. */
  onLapse: () => void;
  onDefect?: (error: unknown) => void;
};

/** Serves the device protocol from the drivers of a rig: one arm, its gripper, its cameras. */
export class NativeDesk implements DeviceDesk {
  readonly #options: NativeDeskOptions;
  readonly #groups = new MotionGroups();
  readonly #frames: FrameReader;
  readonly #unsubscribe: (() => void)[] = [];
  #groups_given = 0;
  #progress: NodeJS.Timeout | undefined;

  constructor(options: NativeDeskOptions) {
    this.#options = options;
    const { arm, gripper, description, cameras, now_s } = options;
    this.#frames = new FrameReader({
      description,
      cameras,
      now_s,
      armAt: (time_s) => {
        const snapshot = arm.stateAt(time_s);
        return snapshot && armState(snapshot);
      },
    });
    this.#unsubscribe.push(arm.onEvent((event) => this.#onArm(event)));
    if (gripper) this.#unsubscribe.push(gripper.onEvent((event) => this.#onGripper(event)));
  }

  close(): void {
    clearInterval(this.#progress);
    for (const end of this.#unsubscribe.splice(0)) end();
  }

  stamp(): { time_s: number; stop_epoch: number } {
    return { time_s: this.#options.now_s(), stop_epoch: this.#options.arm.state().stop_epoch };
  }

  capabilities(): Capabilities {
    return this.#options.description.capabilities;
  }

  get moving(): boolean {
    return this.#groups.anyActive;
  }

  controllerLeft(): void {
    if (this.#groups.anyActive) this.#options.arm.stop("the controller left");
  }

  onDefect(error: unknown): void {
    this.#options.onDefect?.(error);
  }

  serve(request: DeviceRequest, { deadline_ms }: ServeContext): Outcome | Promise<Outcome> {
    if (request.get_state) return { body: { state: this.#state() } };
    if (request.get_frames) return this.#frames.read(request.get_frames, deadline_ms);
    if (request.execute) return { body: { execute: this.#execute(request.execute) } };
    if (request.resume) return this.#resume(request.resume.stop_epoch, request.resume.token, deadline_ms);
    throw new Refusal("ERROR_CLOCK", "time moves by itself on this backend; wait for events instead of Advance");
  }

  // ------------------------------------------------------------ state

  #state(): StateReply {
    const { arm } = this.#options;
    const snapshot = arm.state();
    const gripper = this.#gripperState();
    this.#groups.refresh(snapshot, gripper?.opening_m ?? 0);
    return {
      arms: [armState(snapshot)],
      grippers: gripper ? [gripper] : [],
      stop_latched: snapshot.stop_latched,
      stop_reason: snapshot.stop_reason,
      steps_left: 0,
      groups: this.#groups.statuses(),
    };
  }

  #gripperState(): GripperState | null {
    const state = this.#options.gripper?.state();
    if (!state) return null;
    return {
      arm: ARM,
      opening_m: state.opening_m,
      target_opening_m: state.target_opening_m,
      force_n: state.force_estimate_n,
      moving: state.moving,
      stalled: state.stalled,
      time_s: state.time_s,
    };
  }

  // ------------------------------------------------------------ motion

  #execute(execute: Execute): { group: number; start_time_s: number; expected_end_time_s: number } {
    const { arm, gripper, description, now_s, events } = this.#options;
    const motions = readMotions(execute, description.capabilities);
    const trajectory = motions.find((motion) => motion.kind === "joint_trajectory");
    const move = motions.find((motion) => motion.kind === "gripper_move");
    // Before the epoch is looked at: a stop that comes after that look has made it another number, and no move begins.
    const stops = gripper?.stops ?? 0;
    this.#requireFree(execute.stop_epoch, trajectory, move);
    const group = this.#groups_given + 1;
    const opening_m = gripper?.state().opening_m ?? 0;
    const begun = this.#groups.begin(group, motions, opening_m);
    const start_time_s = now_s();
    try {
      if (trajectory) arm.execute(group, execute.stop_epoch, trajectory, trajectory.guard);
    } catch (error) {
      this.#groups.forget(group);
      throw refusalOf(error);
    }
    this.#groups_given = group;
    events.publish(start_time_s, { group_started: begun });
    if (move && gripper) this.#startGripper(group, move, stops);
    // What the gripper would not begin has ended already.
    if (this.#groups.anyActive) this.#progress ??= setInterval(() => this.#tellProgress(), PROGRESS_MS);
    return {
      group,
      start_time_s,
      expected_end_time_s:
        start_time_s + Math.max(trajectory?.time_s.at(-1) ?? 0, move ? this.#gripperDuration(move, opening_m) : 0),
    };
  }

  /** What the arm itself would refuse, and what only this desk knows of: the gripper. */
  #requireFree(stop_epoch: number, trajectory: ReadTrajectory | undefined, move: ReadGripperMove | undefined): void {
    const { arm, gripper } = this.#options;
    const now = arm.state();
    if (now.fault_code !== "")
      throw new Refusal("ERROR_FAULT", `${now.fault_code}: ${now.fault_message || "the arm has a fault"}`);
    if (now.stop_latched)
      throw new Refusal(
        "ERROR_STOP_EPOCH",
        `a stop is latched (${now.stop_reason}); Resume epoch ${now.stop_epoch} first`,
      );
    if (stop_epoch !== now.stop_epoch)
      throw new Refusal(
        "ERROR_STOP_EPOCH",
        `planned in stop epoch ${stop_epoch}, it is ${now.stop_epoch} now; plan again`,
      );
    const fault = move && gripper?.state();
    if (fault && fault.fault_code !== "")
      throw new Refusal("ERROR_FAULT", `the gripper has a fault: ${fault.fault_code}: ${fault.fault_message}`);
    for (const [mover, asked] of [
      ["arm", trajectory],
      ["gripper", move],
    ] as const)
      if (asked && this.#groups.running(mover) !== null)
        throw new Refusal("ERROR_BUSY", `the ${mover} is moving already; wait for its end or stop it`);
  }

  #startGripper(group: number, { opening_m, force_n, speed_m_s }: ReadGripperMove, stops: number): void {
    const { arm, gripper, now_s } = this.#options;
    const opens = opening_m > gripper!.state().opening_m;
    const chosen = { ...(force_n > 0 ? { force_n } : {}), ...(speed_m_s > 0 ? { speed_m_s } : {}) };
    try {
      if (!gripper!.move({ opening_m, ...chosen, stops }))
        this.#end(group, "gripper", { end_reason: "END_STOPPED", time_s: now_s() });
      else if (opens) arm.carry(null);
    } catch (error) {
      // The arm may be on its way already: its group was accepted, and tells how this part of it ended.
      this.#options.onDefect?.(error);
      this.#end(group, "gripper", { end_reason: "END_FAULT", time_s: now_s() });
    }
  }

  #gripperDuration({ opening_m, speed_m_s }: ReadGripperMove, from_m: number): number {
    const { max_speed_m_s } = this.#options.gripper!.facts;
    return Math.abs(opening_m - from_m) / (speed_m_s || max_speed_m_s) + GRIPPER_EXTRA_S;
  }

  #end(group: number, mover: "arm" | "gripper", facts: Parameters<MotionGroups["end"]>[2]): void {
    this.#refresh();
    const status = this.#groups.end(group, mover, facts);
    if (status) this.#options.events.publish(facts.time_s, { motion_ended: status });
    if (this.#groups.anyActive) return;
    clearInterval(this.#progress);
    this.#progress = undefined;
  }

  /** Ends the gripper's motion where it is; it keeps its grip. */
  #endGripper(group: number, end_reason: EndReason, time_s: number): void {
    this.#options.gripper?.hold();
    this.#end(group, "gripper", { end_reason, time_s });
  }

  #refresh(): void {
    this.#groups.refresh(this.#options.arm.state(), this.#options.gripper?.state().opening_m ?? 0);
  }

  #tellProgress(): void {
    this.#refresh();
    for (const status of this.#groups.active())
      this.#options.events.publish(this.#options.now_s(), { group_progress: status });
  }

  // ------------------------------------------------------------ stop and resume

  async #resume(stop_epoch: number, token: string, deadline_ms: number): Promise<Outcome> {
    const { arm, gripper } = this.#options;
    this.#requireEpoch(stop_epoch);
    if (arm.state().stop_latched) {
      if (gripper) await this.#wakeGripper(gripper);
      await this.#resumeAtRest(stop_epoch, token, Math.min(deadline_ms, performance.now() + STANDSTILL_MS));
    }
    return { body: { resume: {} } };
  }

  /** An arm that is still slowing down is resumed once it stands. */
  async #resumeAtRest(stop_epoch: number, token: string, deadline_ms: number): Promise<void> {
    for (;;) {
      try {
        return this.#options.arm.resume(stop_epoch, token);
      } catch (error) {
        const slowing = error instanceof ArmRefused && error.code === "busy" && performance.now() < deadline_ms;
        if (!slowing) throw refusalOf(error);
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  #requireEpoch(stop_epoch: number): void {
    const now = this.#options.arm.state().stop_epoch;
    if (stop_epoch !== now)
      throw new Refusal(
        "ERROR_STOP_EPOCH",
        `Resume names stop epoch ${stop_epoch}, it is ${now} now; read the state again`,
      );
  }

  /** A gripper that was unplugged may be back; one that reports a fault of its own is for a person. */
  async #wakeGripper(gripper: GripperDriver): Promise<void> {
    const { fault_code, fault_message } = gripper.state();
    if (fault_code === "") return;
    const refusal = (why: string): Refusal => new Refusal("ERROR_FAULT", `the gripper has a fault: ${why}`);
    if (!gripper.lineFault)
      throw refusal(`${fault_code}: ${fault_message}; once you have looked: "skill2real arm recover"`);
    try {
      await gripper.recover();
    } catch (error) {
      throw refusal(error instanceof Error ? error.message : String(error));
    }
  }

  #onArm(event: ArmEvent): void {
    const { events } = this.#options;
    switch (event.kind) {
      case "motion_ended": {
        const { group, end_reason } = event;
        const others = END_OF_GROUP[end_reason];
        this.#end(group, "arm", event);
        if (others && this.#groups.running("gripper") === group) this.#endGripper(group, others, event.time_s);
        return;
      }
      case "stopped": {
        events.publish(event.time_s, { stopped: { stop_epoch: event.stop_epoch, reason: event.reason } });
        const running = this.#groups.running("gripper");
        if (running !== null) this.#endGripper(running, "END_STOPPED", event.time_s);
        return;
      }
      case "fault":
        events.publish(event.time_s, { fault: { code: event.code, message: event.message, arm: ARM } });
        if (event.code === "lease_lapsed") this.#options.onLapse();
        return;
      case "resumed":
        events.publish(event.time_s, { resumed: { stop_epoch: event.stop_epoch } });
    }
  }

  #onGripper(event: GripperEvent): void {
    const running = this.#groups.running("gripper");
    if (event.kind === "motion_ended") {
      const { arm, gripper } = this.#options;
      const { opening_m, target_opening_m } = gripper!.state();
      if (event.reason === "stalled" && target_opening_m < opening_m) arm.carry(opening_m);
      else if (event.reason === "completed") arm.carry(null);
      if (running !== null)
        this.#end(running, "gripper", { end_reason: GRIPPER_ENDS[event.reason], time_s: event.time_s });
      return;
    }
    // A gripper that is not known to hold or to be open is no tool to move on with.
    const { code, message, time_s } = event;
    this.#options.events.publish(time_s, { fault: { code, message, arm: ARM } });
    if (running !== null) this.#end(running, "gripper", { end_reason: "END_FAULT", time_s });
    this.#options.arm.stop(`the gripper has a fault: ${code}`);
  }
}

function refusalOf(error: unknown): unknown {
  return error instanceof ArmRefused ? new Refusal(REFUSALS[error.code], error.message) : error;
}

function modeOf({ state, fault_code, stop_latched, group }: ArmSnapshot): ArmMode {
  if (state === "disconnected" || state === "connecting") return "DISCONNECTED";
  if (fault_code === "protective_stop") return "PROTECTIVE_STOP";
  if (fault_code !== "" || state === "fault" || state === "local_mode") return "FAULT";
  if (stop_latched) return "STOPPED";
  return group !== 0 || state === "moving" ? "MOVING" : "IDLE";
}

function armState(snapshot: ArmSnapshot): ArmState {
  return {
    name: ARM,
    q_rad: Array.from(snapshot.q_rad),
    qd_rad_s: Array.from(snapshot.qd_rad_s),
    X_world_tcp: Array.from(snapshot.X_world_tcp),
    tcp_wrench: Array.from(snapshot.tcp_wrench_world),
    mode: modeOf(snapshot),
    time_s: snapshot.time_s,
  };
}
