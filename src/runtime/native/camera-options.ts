import { z } from "zod";
import { Skill2RealError } from "../../contract/errors.js";
import { packageFile } from "../../contract/package-root.js";
import { suggest } from "../../contract/suggest.js";

const text = z.string().min(1);
const stream = z.strictObject({
  /** Pixels. */
  width: z.int().min(16).max(4096).default(640),
  height: z.int().min(16).max(4096).default(480),
  /** Frames per second. */
  fps: z.int().min(1).max(300).default(30),
});

const library = {
  /** librealsense2.so (2.54 or later) to open; without it the one that set-up fetched. */
  library: text.optional(),
  /** A library to load before it, whose symbols it needs. */
  preload: text.optional(),
};
const live = {
  ...library,
  /** Take the library's mapping of stamps to the host's wall clock instead of the one made here. */
  global_time: z.boolean().default(false),
  /** Infrared projector; left as it is without this. */
  emitter: z.boolean().optional(),
  /** Fixed exposure in microseconds; automatic without it. */
  exposure_us: z.int().min(1).max(200_000).optional(),
  /** Refuse a camera that came up as USB 2. */
  require_usb3: z.boolean().default(false),
  /** Whether recovery may reset the camera's hardware. */
  hardware_reset: z.boolean().default(true),
  /** How long a camera may be away after a reset or an unplugging, seconds. */
  reset_wait_s: z.number().min(0.1).max(300).default(15),
};

const realsense = z.strictObject({ kind: z.literal("realsense"), serial: text, ...live });
const recording = z.strictObject({
  kind: z.literal("recording"),
  file: text,
  ...library,
  /** Begin again at the end; without it the last frame stays the last. */
  loop: z.boolean().default(true),
  /** Largest difference of stamps within one frame, seconds; without it one period of the slowest stream. */
  max_skew_s: z.number().min(0).max(10).optional(),
});
const plant = z.strictObject({
  kind: z.literal("plant"),
  /** ZeroMQ address at which the bench serves frames. */
  address: text,
  /** The bench's name of the camera. */
  camera: text,
  timeout_s: z.number().min(0.05).max(60).default(2),
});
const software = z.strictObject({
  kind: z.literal("software"),
  serial: text.default("SOFTWARE"),
  ...live,
  /** What the library's software device plays and how it misbehaves; see native/camera/config.h. */
  software: z.record(z.string(), z.unknown()).default({}),
});
const source = z.discriminatedUnion("kind", [realsense, recording, plant, software]);

const options = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9_-]{1,32}$/),
  source,
  streams: z.strictObject({ color: stream.optional(), depth: stream.optional(), infrared: stream.optional() }),
  /** Images as a pinhole camera sees them; without it as they come. */
  rectify: z.boolean().default(true),
  /** Depth registered to the left image; without it as the depth camera sees it. */
  register_depth: z.boolean().default(true),
  /** Newest-frame slots in shared memory. */
  slots: z.int().min(4).max(8).default(6),
  /** Silence after which recovery begins, seconds; without it fifteen periods, at least half a second. */
  stall_s: z.number().positive().max(60).optional(),
  /** Time for the first frame, seconds. */
  open_timeout_s: z.number().min(0.1).max(300).default(20),
});

/** How a camera is opened; see the fields' own comments. Sizes in pixels, times in seconds. */
export type CameraOptions = z.input<typeof options>;
export type CameraSettings = z.output<typeof options>;

const KEYS: readonly string[] = [
  ...Object.keys(options.shape),
  ...[realsense, recording, plant, software].flatMap((one) => Object.keys(one.shape)),
  ...Object.keys(stream.shape),
  "color",
  "depth",
  "infrared",
];

/** Checks the options; throws `bad_argument` with the key, the value's fault and a suggestion. */
export function parseCameraOptions(value: CameraOptions): CameraSettings {
  const parsed = options.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const hint = issue?.code === "unrecognized_keys" ? suggest(issue.keys[0] ?? "", KEYS) : "";
    const path = ["camera", ...(issue?.path ?? [])].join(".");
    throw new Skill2RealError("bad_argument", `${path}: ${issue?.message ?? "invalid"}.${hint}`);
  }
  const { streams } = parsed.data;
  if (!streams.color && !streams.depth && !streams.infrared)
    throw new Skill2RealError("bad_argument", "camera.streams names none of color, depth and infrared");
  return parsed.data;
}

/** What the capture process is told: the settings without what concerns the reader, with the library's path. */
export function captureConfig({ rectify, register_depth, source: from, ...rest }: CameraSettings): object {
  if (from.kind === "plant") return { ...rest, source: from };
  const fetched = packageFile(".deps", "librealsense-2.55.1", "librealsense2.so");
  return { ...rest, source: { ...from, library: from.library ?? fetched } };
}
