import type { ArmState, GripperState } from "../../contract/generated/device.js";
import type { DeviceExchange } from "../device/device.js";
import type { TracedCall, TracedImage, TracedObject, TraceSink } from "../trace-sink.js";
import { fromYaw, type Transform, toPose } from "../transforms.js";
import { McapFile } from "./mcap-file.js";
import { foxgloveSchema, traceSchema } from "./schemas.js";

export const TRACE_FILE = "episode.mcap";

export type McapTraceOptions = {
  path: string;
  /** Device time now; entries are stamped with the host's time at the start plus device time since. */
  now(): number;
  /** Written as the file's metadata record. */
  metadata?: Record<string, string>;
};

const LEVELS = { debug: 1, info: 2, warn: 3, error: 4 } as const;
const FLOAT32 = 7;

const loadSchemas = () => ({
  image: foxgloveSchema("CompressedImage"),
  transform: foxgloveSchema("FrameTransform"),
  joints: foxgloveSchema("JointStates"),
  cloud: foxgloveSchema("PointCloud"),
  scene: foxgloveSchema("SceneUpdate"),
  log: foxgloveSchema("Log"),
  exchange: traceSchema("Exchange"),
  call: traceSchema("Call"),
  program: traceSchema("Program"),
  event: traceSchema("Event"),
});
let schemas: ReturnType<typeof loadSchemas> | undefined;

/** The trace of one episode as an MCAP file with Foxglove's schemas, readable by its public tools. */
export class McapTrace implements TraceSink {
  readonly #file: McapFile;
  readonly #schemas: ReturnType<typeof loadSchemas>;
  readonly #now: () => number;
  readonly #base_ns: bigint;

  private constructor(file: McapFile, now: () => number) {
    schemas ??= loadSchemas();
    this.#schemas = schemas;
    this.#file = file;
    this.#now = now;
    this.#base_ns = BigInt(Date.now()) * 1_000_000n - BigInt(Math.round(now() * 1e9));
  }

  /** Throws `storage_failed` where the file cannot be made. */
  static async create(options: McapTraceOptions): Promise<McapTrace> {
    const file = await McapFile.create(options.path);
    file.metadata("skill2real", options.metadata ?? {});
    return new McapTrace(file, options.now);
  }

  get failed(): Error | null {
    return this.#file.failed;
  }

  exchange({ sequence, verb, request, reply, parts }: DeviceExchange): void {
    this.#add("/device/exchange", "exchange", { sequence, verb, request, reply, parts });
  }

  call({ stage, index, operation, request, result, start_s, end_s }: TracedCall): void {
    this.#add(
      "/calls",
      "call",
      { stage, index, operation, request_json: toJson(request), result_json: toJson(result), start_s, end_s },
      end_s,
    );
  }

  image({ topic, time_s, png, frame_id }: TracedImage): void {
    this.#add(topic, "image", { timestamp: this.#timestamp(time_s), frame_id, format: "png", data: png }, time_s);
  }

  state(arms: readonly ArmState[], grippers: readonly GripperState[]): void {
    for (const arm of arms) {
      const gripper = grippers.find((entry) => entry.arm === arm.name);
      const joints = arm.q_rad.map((position, i) => ({
        name: `${arm.name}/joint_${i + 1}`,
        position,
        velocity: arm.qd_rad_s[i] ?? 0,
      }));
      const opening = gripper
        ? [{ name: `${arm.name}/gripper_opening`, position: gripper.opening_m, effort: gripper.force_n }]
        : [];
      this.#add(
        "/joint_states",
        "joints",
        { timestamp: this.#timestamp(arm.time_s), joints: [...joints, ...opening] },
        arm.time_s,
      );
      this.#transform("world", `tcp:${arm.name}`, arm.X_world_tcp, arm.time_s);
    }
  }

  camera(name: string, parent: string, X_parent_camera: Transform, time_s: number): void {
    this.#transform(parent, name, X_parent_camera, time_s);
  }

  object({ id, time_s, center_world, size_m, yaw_rad, points_world }: TracedObject): void {
    const fields = ["x", "y", "z"].map((name, i) => ({ name, offset: 4 * i, type: FLOAT32 }));
    const data = new Uint8Array(points_world.buffer, points_world.byteOffset, points_world.byteLength);
    this.#add(
      "/perception/points",
      "cloud",
      {
        timestamp: this.#timestamp(time_s),
        frame_id: "world",
        pose: { orientation: { w: 1 } },
        point_stride: 12,
        fields,
        data,
      },
      time_s,
    );
    const { x, y, z, qx, qy, qz, qw } = toPose(fromYaw(center_world, yaw_rad));
    const cube = {
      pose: { position: { x, y, z }, orientation: { x: qx, y: qy, z: qz, w: qw } },
      size: { x: size_m[0], y: size_m[1], z: size_m[2] },
      color: { r: 1, g: 0, b: 1, a: 0.4 },
    };
    this.#add(
      "/perception/objects",
      "scene",
      { entities: [{ timestamp: this.#timestamp(time_s), frame_id: "world", id, cubes: [cube] }] },
      time_s,
    );
  }

  program(stage: number, source: string): void {
    this.#add("/programs", "program", { stage, source });
  }

  event(kind: string, details: Record<string, unknown>): void {
    this.#add("/events", "event", { kind, details_json: toJson(details) });
  }

  /** An event at which the trace is on the disk when this resolves, whatever becomes of its writer. Never rejects: see `failed`. */
  async mark(kind: string, details: Record<string, unknown>): Promise<void> {
    const time_ns = this.#nanoseconds(this.#now());
    this.#file.add("/events", this.#schemas.event, { kind, details_json: toJson(details) }, time_ns, true);
    await this.#file.flush();
  }

  log(level: keyof typeof LEVELS, message: string): void {
    this.#add("/log", "log", {
      timestamp: this.#timestamp(this.#now()),
      level: LEVELS[level],
      message,
      name: "skill2real",
    });
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  #transform(parent_frame_id: string, child_frame_id: string, X: Transform, time_s: number): void {
    const { x, y, z, qx, qy, qz, qw } = toPose(X);
    this.#add(
      "/tf",
      "transform",
      {
        timestamp: this.#timestamp(time_s),
        parent_frame_id,
        child_frame_id,
        translation: { x, y, z },
        rotation: { x: qx, y: qy, z: qz, w: qw },
      },
      time_s,
    );
  }

  #add(
    topic: string,
    schema: keyof ReturnType<typeof loadSchemas>,
    message: Record<string, unknown>,
    time_s = this.#now(),
  ): void {
    this.#file.add(topic, this.#schemas[schema], message, this.#nanoseconds(time_s));
  }

  #nanoseconds(time_s: number): bigint {
    return this.#base_ns + BigInt(Math.round(time_s * 1e9));
  }

  #timestamp(time_s: number): { seconds: number; nanos: number } {
    const ns = this.#nanoseconds(time_s);
    return { seconds: Number(ns / 1_000_000_000n), nanos: Number(ns % 1_000_000_000n) };
  }
}

const toJson = (value: unknown): string => JSON.stringify(value) ?? "null";
