import { Router } from "zeromq";
import { serveStop } from "../../backends/device-server/serve-stop.js";
import type {
  ArmDriver,
  ArmEvent,
  ArmFacts,
  ArmSnapshot,
  CameraDriver,
  CameraFacts,
  CameraFrame,
  GripperDriver,
  GripperEvent,
  GripperFacts,
  GripperSnapshot,
  RecoverResult,
} from "../../backends/native/server/drivers.js";
import { ArmRefused } from "../../backends/native/server/drivers.js";
import { monotonic_s } from "../../backends/native/server/native-server.js";
import { type Rig, rigTransform } from "../../src/config/index.js";
import type { Arm } from "../../src/contract/generated/device.js";
import { forwardKinematics } from "../../src/evaluation/conformance/transforms.js";

const HALF_PI = Math.PI / 2;
const UR5E = {
  a: [0, -0.425, -0.3922, 0, 0, 0],
  d: [0.1625, 0, 0, 0.1333, 0.0997, 0.0996],
  alpha: [HALF_PI, 0, 0, HALF_PI, -HALF_PI, 0],
};
const PERIOD_MS = 4;
const KEPT_S = 2;
const START_TOLERANCE_RAD = 0.02;
const BRAKE_RAD_S2 = 8;

type Playing = {
  group: number;
  start_s: number;
  time_s: Float64Array;
  q_rad: Float64Array;
  /** How it will end once the arm stands. */
  ending: "END_STOPPED" | "END_CONTACT" | "END_UNEXPECTED_CONTACT" | null;
  expected: boolean;
};

/** An arm of numbers for tests of the native server: follows its trajectories exactly, brakes evenly, feels what a test says. */
export class ArmDouble implements ArmDriver {
  readonly facts: ArmFacts = {
    kinematics: "nominal",
    dh: UR5E.a.map((a_m, i) => ({ a_m, d_m: UR5E.d[i]!, alpha_rad: UR5E.alpha[i]!, theta_offset_rad: 0 })),
  };
  wrench = [0, 0, 0, 0, 0, 0];
  readonly #model: Arm;
  readonly #listeners = new Set<(event: ArmEvent) => void>();
  readonly #stop_socket = new Router({ linger: 0, maxMessageSize: 16 << 20 });
  readonly #history: ArmSnapshot[] = [];
  readonly #timer: NodeJS.Timeout;
  #q: number[];
  #qd = [0, 0, 0, 0, 0, 0];
  #playing: Playing | null = null;
  #epoch = 0;
  #reason: string | null = null;
  #fault: { code: string; message: string } | null = null;
  #token: string | null = null;
  #recoveries = 0;
  #lease_ms = 0;
  #held = false;
  #renewed_ms = 0;
  #last_s = monotonic_s();

  static async open(rig: Rig, stop_address: string): Promise<ArmDouble> {
    const arm = new ArmDouble(rig);
    await arm.#stop_socket.bind(stop_address);
    serveStop(arm.#stop_socket, (reason) => ({ stop_epoch: arm.stop(reason), time_s: monotonic_s() })).catch(() => {});
    return arm;
  }

  private constructor(rig: Rig) {
    this.#model = {
      X_world_base: rigTransform(rig.arm.X_world_base),
      X_flange_tcp: rigTransform(rig.arm.X_flange_tcp),
      dh: [...this.facts.dh],
    } as unknown as Arm;
    this.#q = [...(rig.arm.look_q_rad ?? rig.arm.home_q_rad)];
    this.#history.push(this.#snapshot(monotonic_s()));
    this.#timer = setInterval(() => this.#step(), PERIOD_MS);
  }

  state(): ArmSnapshot {
    return this.#snapshot(monotonic_s());
  }

  stateAt(time_s: number): ArmSnapshot | null {
    if (time_s < (this.#history[0]?.time_s ?? Number.POSITIVE_INFINITY)) return null;
    return this.#history.findLast((entry) => entry.time_s <= time_s) ?? null;
  }

  execute(
    group: number,
    stopEpoch: number,
    trajectory: { time_s: Float64Array; q_rad: Float64Array },
    guard: { contact_expected: boolean },
  ): void {
    if (this.#fault) throw new ArmRefused("fault", this.#fault.message);
    if (this.#reason !== null || stopEpoch !== this.#epoch) throw new ArmRefused("stop_epoch", "stopped meanwhile");
    if (this.#playing) throw new ArmRefused("busy", "it moves");
    const off = Math.max(...this.#q.map((q, i) => Math.abs(q - trajectory.q_rad[i]!)));
    if (!(off <= START_TOLERANCE_RAD)) throw new ArmRefused("not_start", `the first point is ${off} rad away`);
    this.#playing = { group, start_s: monotonic_s(), ...trajectory, ending: null, expected: guard.contact_expected };
  }

  stop(reason: string): number {
    this.#epoch += 1;
    this.#reason = this.#fault ? (this.#reason ?? reason) : reason;
    if (this.#playing) this.#playing.ending ??= "END_STOPPED";
    this.#tell({ kind: "stopped", time_s: monotonic_s(), stop_epoch: this.#epoch, reason: this.#reason });
    return this.#epoch;
  }

  resume(stopEpoch: number, token: string): void {
    if (stopEpoch !== this.#epoch) throw new ArmRefused("stop_epoch", `it is ${this.#epoch}`);
    if (this.#playing) throw new ArmRefused("busy", "it is slowing down");
    if (this.#fault && token !== this.#token) throw new ArmRefused("resume_token", "a person must look");
    this.#reason = this.#fault = this.#token = null;
    this.#tell({ kind: "resumed", time_s: monotonic_s(), stop_epoch: stopEpoch });
  }

  carried_m: number | null = null;
  carry(width_m: number | null): void {
    this.carried_m = width_m;
  }

  renewLease(lease_ms: number): void {
    this.#lease_ms = lease_ms;
    this.#renewed_ms = performance.now();
  }
  holdLease(held: boolean): void {
    this.#held = held;
  }
  endLease(): void {
    this.#lease_ms = 0;
  }

  onEvent(listener: (event: ArmEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async recover(onWait: (seconds: number) => void): Promise<RecoverResult> {
    onWait(0);
    this.#recoveries += 1;
    this.#token = `token-${this.#recoveries}`;
    return { token: this.#token, count: this.#recoveries };
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#stop_socket.close();
  }

  /** Something touches the arm: what runs ends as its guard says. */
  touch(): void {
    if (this.#playing) this.#playing.ending ??= this.#playing.expected ? "END_CONTACT" : "END_UNEXPECTED_CONTACT";
  }

  fault(code: string, message: string): void {
    this.#fault = { code, message };
    this.#epoch += 1;
    this.#reason = `${code}: ${message}`;
    this.#qd = [0, 0, 0, 0, 0, 0];
    if (this.#playing) this.#end("END_PROTECTIVE_STOP");
    const time_s = monotonic_s();
    this.#tell({ kind: "fault", time_s, code, message });
    this.#tell({ kind: "stopped", time_s, stop_epoch: this.#epoch, reason: this.#reason });
  }

  #step(): void {
    const now = monotonic_s();
    const dt = now - this.#last_s;
    this.#last_s = now;
    const playing = this.#playing;
    if (playing && !playing.ending) this.#follow(playing, now, dt);
    else if (playing) this.#brake(playing, dt);
    this.#history.push(this.#snapshot(now));
    while (this.#history[0]!.time_s < now - KEPT_S) this.#history.shift();
    if (this.#lease_ms > 0 && !this.#held && performance.now() - this.#renewed_ms > this.#lease_ms) {
      this.#lease_ms = 0;
      this.stop("lease lapsed");
      this.#tell({
        kind: "fault",
        time_s: now,
        code: "lease_lapsed",
        message: "the controller fell silent: see whether it runs, then Resume",
      });
    }
  }

  #follow({ time_s, q_rad, start_s }: Playing, now: number, dt: number): void {
    const elapsed = now - start_s;
    let point = 0;
    while (point < time_s.length - 2 && time_s[point + 1]! <= elapsed) point += 1;
    const part = Math.min(1, (elapsed - time_s[point]!) / (time_s[point + 1]! - time_s[point]!));
    const q = this.#q.map((_, i) => q_rad[6 * point + i]! + part * (q_rad[6 * point + 6 + i]! - q_rad[6 * point + i]!));
    this.#qd = q.map((value, i) => (value - this.#q[i]!) / Math.max(dt, 1e-3));
    this.#q = q;
    if (elapsed >= time_s.at(-1)!) this.#end("END_COMPLETED");
  }

  #brake(playing: Playing, dt: number): void {
    const speed = Math.max(...this.#qd.map(Math.abs));
    const scale = Math.max(0, 1 - (BRAKE_RAD_S2 * dt) / Math.max(speed, 1e-6));
    this.#qd = this.#qd.map((value) => value * scale);
    this.#q = this.#q.map((q, i) => q + this.#qd[i]! * dt);
    if (scale === 0) this.#end(playing.ending!);
  }

  #end(end_reason: "END_COMPLETED" | "END_PROTECTIVE_STOP" | NonNullable<Playing["ending"]>): void {
    const { group, fraction_done, reached_point } = this.#snapshot(monotonic_s());
    this.#playing = null;
    this.#qd = [0, 0, 0, 0, 0, 0];
    const contact_force_n = end_reason === "END_CONTACT" || end_reason === "END_UNEXPECTED_CONTACT" ? [0, 0, 30] : [];
    this.#tell({
      kind: "motion_ended",
      time_s: monotonic_s(),
      group,
      end_reason,
      fraction_done,
      reached_point,
      contact_force_n,
      mean_force_n: 0,
    });
  }

  #snapshot(time_s: number): ArmSnapshot {
    const playing = this.#playing;
    const elapsed = playing ? time_s - playing.start_s : 0;
    return {
      time_s,
      q_rad: [...this.#q],
      qd_rad_s: [...this.#qd],
      X_world_tcp: forwardKinematics(this.#model, this.#q),
      tcp_wrench_world: [...this.wrench],
      state: this.#fault
        ? "fault"
        : playing
          ? playing.ending
            ? "stopping"
            : "moving"
          : this.#reason !== null
            ? "held"
            : "idle",
      fault_code: this.#fault?.code ?? "",
      fault_message: this.#fault?.message ?? "",
      stop_latched: this.#reason !== null,
      stop_epoch: this.#epoch,
      stop_reason: this.#reason ?? "",
      group: playing?.group ?? 0,
      fraction_done: playing ? Math.min(1, elapsed / playing.time_s.at(-1)!) : 0,
      reached_point: playing
        ? Math.max(
            0,
            playing.time_s.findLastIndex((t) => t <= elapsed),
          )
        : 0,
    };
  }

  #tell(event: ArmEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}

/** A gripper of numbers: moves at its speed, stalls where a test put something between its fingers. */
export class GripperDouble implements GripperDriver {
  readonly facts: GripperFacts = { max_opening_m: 0.095, stroke_m: 0.1, max_force_n: 40, max_speed_m_s: 0.25 };
  /** Width of what is between the fingers; 0 for nothing. */
  between_m = 0;
  /** False: a recovery finds the line still gone. */
  plugged = true;
  stops = 0;
  readonly #listeners = new Set<(event: GripperEvent) => void>();
  readonly #timer: NodeJS.Timeout;
  #opening_m = 0.095;
  #target_m = 0.095;
  #speed_m_s = 0.15;
  #moving = false;
  #stalled = false;
  #fault: { code: string; message: string } | null = null;
  #last_s = monotonic_s();

  constructor() {
    this.#timer = setInterval(() => this.#step(), 10);
  }

  state(): GripperSnapshot {
    return {
      time_s: monotonic_s(),
      opening_m: this.#opening_m,
      target_opening_m: this.#target_m,
      force_estimate_n: this.#stalled ? 20 : 0,
      moving: this.#moving,
      stalled: this.#stalled,
      fault_code: this.#fault?.code ?? "",
      fault_message: this.#fault?.message ?? "",
    };
  }

  move({ opening_m, speed_m_s = 0.15, stops }: Parameters<GripperDriver["move"]>[0]): boolean {
    if (this.#fault) throw new Error(this.#fault.message);
    if (stops !== this.stops) return false;
    this.#target_m = opening_m;
    this.#speed_m_s = speed_m_s;
    this.#moving = true;
    this.#stalled = false;
    return true;
  }

  hold(): void {
    this.#moving = false;
  }

  /** As the arm's loop stops it, from thread to thread. */
  stop(): void {
    this.stops++;
    this.hold();
  }

  onEvent(listener: (event: GripperEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
  }

  fault(code: string, message: string): void {
    this.#fault = { code, message };
    this.#moving = false;
    this.#tell({ kind: "fault", time_s: monotonic_s(), code, message });
  }

  get lineFault(): boolean {
    return this.#fault?.code === "gripper_stale";
  }

  async recover(): Promise<void> {
    if (this.#fault && !this.plugged) throw new Error(this.#fault.message);
    this.#fault = null;
  }

  #step(): void {
    const now = monotonic_s();
    const way = this.#speed_m_s * (now - this.#last_s);
    this.#last_s = now;
    if (!this.#moving) return;
    const goal =
      this.#target_m < this.#opening_m
        ? Math.max(this.#target_m, Math.min(this.between_m, this.#opening_m))
        : this.#target_m;
    const left = goal - this.#opening_m;
    this.#opening_m += Math.sign(left) * Math.min(Math.abs(left), way);
    if (Math.abs(goal - this.#opening_m) > 1e-9) return;
    this.#moving = false;
    this.#stalled = goal !== this.#target_m;
    this.#tell({ kind: "motion_ended", time_s: now, reason: this.#stalled ? "stalled" : "completed" });
  }

  #tell(event: GripperEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}

/** A camera of numbers: stripes that change with time, and a plane of depth with a hole. */
export class CameraDouble implements CameraDriver {
  readonly facts: CameraFacts;
  /** Why it gives nothing, where a test says so. */
  broken: string | null = null;
  /** Distance of the plane that it sees. */
  distance_m = 0.5;

  constructor({
    width = 64,
    height = 48,
    infrared = false,
  }: { width?: number; height?: number; infrared?: boolean } = {}) {
    const left = { width, height, fx_px: width, fy_px: width, cx_px: width / 2 - 0.5, cy_px: height / 2 - 0.5 };
    this.facts = {
      left,
      infrared: infrared ? { ...left, baseline_m: 0.05 } : null,
      X_left_infrared: infrared ? [1, 0, 0, -0.015, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1] : null,
    };
  }

  async newest({ not_before_s, deadline_ms }: { not_before_s: number; deadline_ms: number }): Promise<CameraFrame> {
    if (this.broken !== null) throw new Error(this.broken);
    const wait_ms = (not_before_s - monotonic_s()) * 1e3;
    if (wait_ms > deadline_ms) throw new Error("too late");
    // A timer may come a little before its time.
    while (monotonic_s() < not_before_s) await new Promise((resolve) => setTimeout(resolve, 1 + Math.max(0, wait_ms)));
    const { width, height } = this.facts.left;
    const exposure_time_s = monotonic_s();
    const phase = Math.floor(exposure_time_s * 1e3);
    const grey = (shift: number): Uint8Array =>
      Uint8Array.from(
        { length: width * height },
        (_, i) => (((i % width) + shift) * 37 + Math.floor(i / width) * 11 + phase) % 251,
      );
    const left = grey(0);
    const rgb8 = Uint8Array.from({ length: 3 * width * height }, (_, i) => left[Math.floor(i / 3)]!);
    const depth_m = new Float32Array(width * height).fill(this.distance_m);
    depth_m[0] = Number.NaN;
    return { exposure_time_s, rgb8, depth_m, infrared: this.facts.infrared ? { left, right: grey(3) } : null };
  }

  async close(): Promise<void> {}
}
