import { Skill2RealError } from "../../contract/errors.js";
import { CaptureLink } from "./camera-link.js";
import { type CameraOptions, type CameraSettings, captureConfig, parseCameraOptions } from "./camera-options.js";
import { type CameraEvent, type CaptureInfo, type CapturePlane, CaptureProcess } from "./camera-process.js";
import { loadAddon } from "./load-addon.js";

export type { CameraOptions } from "./camera-options.js";
export type { CameraEvent, CaptureInfo } from "./camera-process.js";

/** Without a sign of life for so long the process is taken to hang. It beats every 50 ms. */
const HUNG_S = 1.5;
const WATCH_MS = 250;
/** How long before the earliest exposure that is asked for the process is asked. */
const ASK_AHEAD_MS = 100;
/** Sets of buffers that are kept for the next frames. */
const KEPT_BUFFERS = 4;

export type PinholeIntrinsics = {
  width: number;
  height: number;
  fx_px: number;
  fy_px: number;
  cx_px: number;
  cy_px: number;
};

/** What is fixed of an open camera. Transforms are row-major 16, metres. */
export type CameraFacts = {
  /** Of the left image as it is handed out: colour, else the left infrared image, else depth. */
  left: PinholeIntrinsics;
  /** Of the infrared pair, where it is streamed, as it is handed out. */
  infrared: (PinholeIntrinsics & { baseline_m: number }) | null;
  /** Takes points of the left infrared camera's frame to the left image's. */
  X_left_infrared: readonly number[] | null;
  /** Takes points of the depth camera's frame to the left image's. */
  X_left_depth: readonly number[] | null;
};

/** The clock that the device's stamps are read from; frames of two clocks are never mixed. */
export type TimestampDomain = CaptureInfo["domain"];

/** One frame. Times are CLOCK_MONOTONIC seconds. */
export type CameraFrame = {
  /** Middle of the left image's exposure. */
  exposure_time_s: number;
  /** No image of the frame began its exposure before this: what `not_before_s` is compared with. */
  earliest_time_s: number;
  /** How much earlier than said the exposure may have been. */
  uncertainty_s: number;
  arrival_time_s: number;
  domain: TimestampDomain;
  /** The device's stamp of the left image, seconds of its own clock. */
  stamp_s: number;
  /** The device's number of the left image. */
  frame_number: number;
  /** Frames of the left image that never came since the camera was opened. */
  gaps: number;
  /** Frames that were not taken: stamps that stood still, streams that did not belong together. */
  refused: number;
  /** How often the device's clock began anew (restarts, rounds of a recording). */
  clock_restarts: number;
  /** True where the device's stamp lay in the future and the arrival was taken instead. */
  clamped: boolean;
  /** RGB rows of the left image, width * height * 3; grey in three equal channels where there is no colour. */
  rgb8: Uint8Array;
  /** height * width metres along the optical axis, NaN unknown; null where depth is not streamed. */
  depth_m: Float32Array | null;
  /** Whether depth_m lies over the left image pixel by pixel. */
  depth_registered: boolean;
  /** Metres of one count of the sensor; 0 without depth. */
  units_m: number;
  /** Rows of grey of the infrared pair, where it is streamed. */
  infrared: { left: Uint8Array; right: Uint8Array } | null;
  /** Time spent on copying the frame out of shared memory, and on rectification and registration. */
  copy_s: number;
  make_s: number;
};

type NativePlane = {
  frame_number: number;
  lost: number;
  stamp_s: number;
  domain: TimestampDomain;
  exposure_time_s: number;
  uncertainty_s: number;
  clamped: boolean;
  units_m: number;
};

type NativeFrame = {
  arrival_time_s: number;
  earliest_time_s: number;
  clock_restarts: number;
  refused: number;
  depth_registered: boolean;
  copy_s: number;
  make_s: number;
  planes: Partial<Record<"color" | "depth" | "infrared_left" | "infrared_right", NativePlane>>;
};

type Buffers = {
  rgb: Uint8Array;
  depth_m: Float32Array | null;
  infrared_left: Uint8Array | null;
  infrared_right: Uint8Array | null;
};

type NativeReader = {
  status(): { count: number; heartbeat_age_s: number; torn: number; earliest_time_s: number };
  read(
    options: { rectify: boolean; register_depth: boolean; not_before_s: number },
    to: Buffers,
  ): Promise<NativeFrame | null>;
  close(): void;
};

type CameraAddon = {
  createMemory(): number;
  closeMemory(fd: number): void;
  FrameReader: new (fd: number) => NativeReader;
};

const monotonic_s = (): number => Number(process.hrtime.bigint()) / 1e9;

function pinholeOf(plane: CapturePlane): PinholeIntrinsics {
  const { width, height, fx, fy, cx, cy } = plane;
  return { width, height, fx_px: fx, fy_px: fy, cx_px: cx, cy_px: cy };
}

/** Distance between the origins of two frames, both given in the left image's frame. */
function distance(a: readonly number[], b: readonly number[]): number {
  return Math.hypot(...[3, 7, 11].map((i) => (a[i] ?? 0) - (b[i] ?? 0)));
}

function factsOf(info: CaptureInfo): CameraFacts {
  const { color, depth, infrared_left, infrared_right } = info.planes;
  const left = info.planes[info.left];
  if (!left) throw new Skill2RealError("camera_failed", `the camera says nothing of its ${info.left} image`);
  return {
    left: pinholeOf(color ?? infrared_left ?? left),
    infrared:
      infrared_left && infrared_right
        ? {
            ...pinholeOf(infrared_left),
            baseline_m: distance(infrared_left.X_left_plane, infrared_right.X_left_plane),
          }
        : null,
    X_left_infrared: infrared_left?.X_left_plane ?? null,
    X_left_depth: depth?.X_left_plane ?? null,
  };
}

/**
 * One camera: a process of its own that captures (live RealSense, recording, emulated bench), its newest frames in
 * shared memory, and this reader, which makes pinhole images and registered depth on worker threads. A hang or
 * the death of the process is this camera's fault and nothing else's.
 */
export class CameraDriver {
  readonly info: CaptureInfo;
  readonly facts: CameraFacts;
  readonly #settings: CameraSettings;
  readonly #process: CaptureProcess;
  readonly #reader: NativeReader;
  readonly #link: CaptureLink;
  readonly #free: Buffers[] = [];
  readonly #lent = new WeakMap<CameraFrame, Buffers>();
  readonly #watch: NodeJS.Timeout;
  #closed: Promise<void> | undefined;

  private constructor(
    settings: CameraSettings,
    info: CaptureInfo,
    process: CaptureProcess,
    reader: NativeReader,
    link: CaptureLink,
  ) {
    this.info = info;
    this.facts = factsOf(info);
    this.#settings = settings;
    this.#process = process;
    this.#reader = reader;
    this.#link = link;
    this.#watch = setInterval(() => this.#look(), WATCH_MS);
    this.#watch.unref();
  }

  /**
   * Starts the capture process and waits for its first frame. Throws `bad_argument`, `addon_missing`,
   * `setup_incomplete`, the camera's own fault (`camera_*`), or `deadline_exceeded` after open_timeout_s.
   */
  static async open(options: CameraOptions): Promise<CameraDriver> {
    const settings = parseCameraOptions(options);
    const addon = loadAddon<CameraAddon>("camera");
    const memory = addon.createMemory();
    const link = new CaptureLink(settings.name);
    try {
      const process = new CaptureProcess(settings.name, captureConfig(settings), memory, link);
      try {
        const info = await link.opened(settings.open_timeout_s * 1e3);
        return new CameraDriver(settings, info, process, new addon.FrameReader(memory), link);
      } catch (error) {
        process.abandon("camera_failed", "not opened");
        throw error;
      }
    } finally {
      addon.closeMemory(memory);
    }
  }

  /** The capture process. */
  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Why no frame will come any more, or null. */
  get fault(): Skill2RealError | null {
    return this.#link.fault;
  }

  /** Frames published so far, and copies that had to be made again because the writer came around. */
  counters(): { frames: number; torn: number } {
    const { count, torn } = this.#reader.status();
    return { frames: count, torn };
  }

  /** Called once with the camera's fault; at once where it has one. Returns the way to stop listening. */
  onFault(listener: (fault: Skill2RealError) => void): () => void {
    return this.#link.onFault(listener);
  }

  /** Called with each step of recovery. */
  onEvent(listener: (event: CameraEvent) => void): () => void {
    return this.#link.onEvent(listener);
  }

  /**
   * The newest frame whose exposure began at or after `not_before_s` (CLOCK_MONOTONIC), waited for at most
   * `deadline_ms`. An older exposure is never returned. Rejects with the camera's fault, `deadline_exceeded` or
   * `session_closed`. The arrays are the caller's; `release` gives them back for reuse.
   */
  async newest({ not_before_s, deadline_ms }: { not_before_s: number; deadline_ms: number }): Promise<CameraFrame> {
    if (Number.isNaN(not_before_s) || !(deadline_ms >= 0))
      throw new Skill2RealError("bad_argument", `newest: not_before_s ${not_before_s}, deadline_ms ${deadline_ms}`);
    const until = performance.now() + deadline_ms;
    let asked = !this.info.on_demand;
    for (;;) {
      this.#check();
      if (this.#reader.status().earliest_time_s >= not_before_s) {
        const frame = await this.#link.within(this.#read(not_before_s), until - performance.now());
        if (frame) return frame;
        if (performance.now() < until) continue; // overtaken by the writer
      }
      const ahead_ms = 1e3 * (not_before_s - monotonic_s()) - ASK_AHEAD_MS;
      if (!asked && ahead_ms > 0 && Number.isFinite(ahead_ms)) {
        // The process waits for one moment at a time: asked for a distant one it would serve nobody until then.
        await this.#link.frameWithin(Math.min(ahead_ms, until - performance.now()));
        if (performance.now() < until) continue;
      } else if (!asked) {
        this.#process.want(Number.isFinite(not_before_s) ? not_before_s : 0);
        asked = true;
      }
      const left_ms = until - performance.now();
      if (left_ms <= 0) throw this.#late(not_before_s, deadline_ms);
      await this.#link.frameWithin(left_ms);
    }
  }

  /** Gives a frame's arrays back; they must not be used any more. */
  release(frame: CameraFrame): void {
    const buffers = this.#lent.get(frame);
    if (!buffers) return;
    this.#lent.delete(frame);
    if (this.#free.length < KEPT_BUFFERS) this.#free.push(buffers);
  }

  /** Ends the capture process; calls that wait are rejected with `session_closed`. */
  close(): Promise<void> {
    this.#closed ??= (async () => {
      clearInterval(this.#watch);
      this.#link.end();
      await this.#process.close();
      this.#reader.close();
    })();
    return this.#closed;
  }

  #check(): void {
    if (this.#closed) throw new Skill2RealError("session_closed", `camera "${this.#settings.name}" is closed`);
    if (this.#link.fault) throw this.#link.fault;
  }

  #late(not_before_s: number, deadline_ms: number): Skill2RealError {
    const { count, earliest_time_s } = this.#reader.status();
    return new Skill2RealError(
      "deadline_exceeded",
      `camera "${this.#settings.name}": no exposure at or after ${not_before_s.toFixed(3)} s came within ${deadline_ms.toFixed(0)} ms; the newest of ${count} began at ${earliest_time_s.toFixed(3)} s`,
    );
  }

  #look(): void {
    const age_s = this.#reader.status().heartbeat_age_s;
    if (age_s > HUNG_S && !this.#closed)
      this.#process.abandon(
        "camera_hung",
        `camera "${this.#settings.name}": its process gave no sign of life for ${age_s.toFixed(1)} s and was killed`,
      );
  }

  async #read(not_before_s: number): Promise<CameraFrame | null> {
    const buffers = this.#free.pop() ?? this.#newBuffers();
    const { rectify, register_depth } = this.#settings;
    let native: NativeFrame | null = null;
    try {
      native = await this.#reader.read({ rectify, register_depth, not_before_s }, buffers);
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause);
      throw new Skill2RealError("camera_failed", `camera "${this.#settings.name}": ${message}`, { cause });
    }
    const left = native?.planes[this.info.left];
    if (!native || !left) {
      this.#free.push(buffers);
      return null;
    }
    const { infrared_left, infrared_right } = buffers;
    const frame: CameraFrame = {
      exposure_time_s: left.exposure_time_s,
      earliest_time_s: native.earliest_time_s,
      uncertainty_s: left.uncertainty_s,
      arrival_time_s: native.arrival_time_s,
      domain: left.domain,
      stamp_s: left.stamp_s,
      frame_number: left.frame_number,
      gaps: left.lost,
      refused: native.refused,
      clock_restarts: native.clock_restarts,
      clamped: left.clamped,
      rgb8: buffers.rgb,
      depth_m: buffers.depth_m,
      depth_registered: native.depth_registered,
      units_m: native.planes.depth?.units_m ?? 0,
      infrared: infrared_left && infrared_right ? { left: infrared_left, right: infrared_right } : null,
      copy_s: native.copy_s,
      make_s: native.make_s,
    };
    this.#lent.set(frame, buffers);
    return frame;
  }

  #newBuffers(): Buffers {
    const { color, depth, infrared_left, infrared_right } = this.info.planes;
    const pixels = (plane: CapturePlane | undefined) => (plane ? plane.width * plane.height : 0);
    const left = color ?? infrared_left;
    const depthLike = depth && (this.#settings.register_depth ? (left ?? depth) : depth);
    return {
      rgb: new Uint8Array(3 * pixels(left)),
      depth_m: depthLike ? new Float32Array(pixels(depthLike)) : null,
      infrared_left: infrared_left ? new Uint8Array(pixels(infrared_left)) : null,
      infrared_right: infrared_right ? new Uint8Array(pixels(infrared_right)) : null,
    };
  }
}
