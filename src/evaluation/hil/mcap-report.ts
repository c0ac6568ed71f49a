import { Skill2RealError } from "../../contract/errors.js";
import type { DeviceEvent, StateReply } from "../../contract/generated/device.js";
import { McapFile } from "../../runtime/trace/mcap-file.js";
import { foxgloveSchema, traceSchema } from "../../runtime/trace/schemas.js";
import { checkId, type HilReport, type HilResult } from "./report.js";

const LEVELS = { passed: 2, skipped: 2, slow: 3, failed: 4 } as const;

const split = (time_ns: bigint): { seconds: number; nanos: number } => ({
  seconds: Number(time_ns / 1_000_000_000n),
  nanos: Number(time_ns % 1_000_000_000n),
});

/** The record of a run as MCAP, written while it happens: joint states, device events, and one entry a check. */
export class HilMcap {
  readonly #file: McapFile;
  readonly #schemas = {
    log: foxgloveSchema("Log"),
    joints: foxgloveSchema("JointStates"),
    event: traceSchema("Event"),
  };
  readonly #base_ns = BigInt(Date.now()) * 1_000_000n - process.hrtime.bigint();

  private constructor(file: McapFile) {
    this.#file = file;
  }

  /** Throws `storage_failed` where the file cannot be made; an existing one is left alone. */
  static async create(path: string): Promise<HilMcap> {
    return new HilMcap(await McapFile.create(path));
  }

  /** Joints and opening; `time_s` of a state is CLOCK_MONOTONIC. */
  state({ arms, grippers }: StateReply): void {
    for (const arm of arms) {
      const time_ns = this.#base_ns + BigInt(Math.round(arm.time_s * 1e9));
      const jaw = grippers.find((gripper) => gripper.arm === arm.name);
      const joints = arm.q_rad.map((position, i) => ({
        name: `${arm.name}/joint_${i + 1}`,
        position,
        velocity: arm.qd_rad_s[i] ?? 0,
      }));
      if (jaw) joints.push({ name: `${arm.name}/gripper_opening`, position: jaw.opening_m, velocity: 0 });
      this.#file.add("/joint_states", this.#schemas.joints, { timestamp: split(time_ns), joints }, time_ns);
    }
  }

  event(event: DeviceEvent): void {
    if (!event.kind || event.kind === "group_progress") return;
    const message = { kind: event.kind, details_json: JSON.stringify(event[event.kind]) };
    this.#file.add("/events", this.#schemas.event, message, this.#now());
  }

  begins(id: string): void {
    this.#log(1, id, "begins");
  }

  result(result: HilResult): void {
    const words = [result.outcome, result.message].filter((part) => part !== "").join(": ");
    this.#log(LEVELS[result.outcome], checkId(result), words);
    const message = { kind: "hil_result", details_json: JSON.stringify(result) };
    this.#file.add("/hil/results", this.#schemas.event, message, this.#now());
  }

  /** Writes the report and closes the file; throws `storage_failed` where anything of it could not be written. */
  async close(report: HilReport): Promise<void> {
    const { results, ...head } = report;
    this.#file.metadata("skill2real.hil", { ...textOf(head), checks: String(results.length) });
    await this.#file.close();
    if (this.#file.failed)
      throw new Skill2RealError("storage_failed", `the MCAP record is incomplete: ${this.#file.failed.message}`);
  }

  #log(level: number, name: string, message: string): void {
    const time_ns = this.#now();
    this.#file.add("/hil/log", this.#schemas.log, { timestamp: split(time_ns), level, name, message }, time_ns);
  }

  #now(): bigint {
    return this.#base_ns + process.hrtime.bigint();
  }
}

const textOf = (values: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, typeof value === "string" ? value : JSON.stringify(value)]),
  );
