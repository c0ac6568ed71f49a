import { z } from "zod";
import { Skill2RealError } from "../../contract/errors.js";
import { suggest } from "../../contract/suggest.js";
import { loadAddon } from "./load-addon.js";

/** Largest image side that the matcher takes, in pixels. */
export const MAX_STEREO_SIDE_PX = 8192;
/** Largest number of disparities that one search covers. */
export const MAX_STEREO_DISPARITIES = 512;
/** Largest width * height * disparities: the matcher holds one byte for each. */
const MAX_VOLUME = 2 ** 30;
/** The matcher searches whole blocks of so many disparities. */
const DISPARITY_BLOCK = 32;

/**
 * Calibration of a rectified pair. A point at depth Z (metres, along the left camera's optical axis) that is
 * seen at column u in the left image is seen at column u - d in the right one, with
 * `Z = fx_px * baseline_m / (d + doffs_px)`.
 */
export type StereoCalibration = {
  /** Focal length of the rectified pair in pixels, > 0. */
  fx_px: number;
  /** Distance between the two optical centres in metres, > 0. */
  baseline_m: number;
  /** cx of the right image minus cx of the left one, in pixels; 0 where both share a principal point. */
  doffs_px?: number;
};

/** One rectified pair: 8-bit samples, row by row from the top left, channels interleaved (R G B where 3). */
export type StereoInput = {
  left: Uint8Array;
  right: Uint8Array;
  width: number;
  height: number;
  channels: 1 | 3;
  calibration: StereoCalibration;
};

export type StereoOptions = {
  /**
   * Nearest depth searched, in metres. Without it 0.3 m, or the nearest that 256 disparities (and the
   * image's width) reach, whichever is farther.
   */
  near_m?: number;
  /** Farthest depth searched, in metres; 5 without it. Infinity is allowed. */
  far_m?: number;
  /** Worker threads of one call, 1..16; 2 without it. The result does not depend on it. */
  threads?: number;
  /** Instruction set: the best one of this machine (auto), or a named one. All give the same bits. */
  simd?: "auto" | "avx2" | "portable";
  /** How far the second-best disparity must cost above the best, in percent, 0..50; 2 without it. */
  uniqueness_percent?: number;
  /** Largest step of disparity between a match and the match back from the right image, 0..16 whole pixels; 1 without it. */
  left_right_max_px?: number;
  /** Connected regions smaller than this are dropped; without it 1 pixel per 4000, at least 30. 0 keeps all. */
  speckle_px?: number;
  /**
   * Longest run of unknown pixels in a row that is filled from its neighbours, in pixels, 0..64; without it
   * the image's width / 40. Wider unknown areas stay NaN.
   */
  fill_px?: number;
};

export type StereoResult = {
  /** height * width, row by row: metres along the left optical axis, registered to the left image; NaN unknown. */
  depth_m: Float32Array;
  /** height * width: left column minus right column, in pixels; NaN unknown. */
  disparity_px: Float32Array;
  /** Share of pixels with a depth, 0..1. */
  valid_fraction: number;
  /** Share of pixels whose depth was not matched but filled from neighbours in the same row, 0..1 (part of valid_fraction). */
  filled_fraction: number;
  /** Nearest and farthest depth that the search really covered, in metres; at least what was asked for (far may be Infinity). */
  near_m: number;
  far_m: number;
  /** Which matcher made it, for instance "census-sgm-8path/avx2". */
  model: string;
};

type NativeOptions = {
  width: number;
  height: number;
  channels: number;
  fx_px: number;
  baseline_m: number;
  doffs_px: number;
  min_disparity: number;
  disparities: number;
  threads: number;
  simd: string;
  uniqueness_percent: number;
  left_right_max_px: number;
  speckle_px: number;
  fill_px: number;
};

type NativeResult = Omit<StereoResult, "near_m" | "far_m">;

type StereoAddon = {
  compute(left: Uint8Array, right: Uint8Array, options: NativeOptions): Promise<NativeResult>;
};

const positive = z.number().positive();
const side = z.int().min(1).max(MAX_STEREO_SIDE_PX);

const inputSchema = z.strictObject({
  left: z.instanceof(Uint8Array),
  right: z.instanceof(Uint8Array),
  width: side,
  height: side,
  channels: z.union([z.literal(1), z.literal(3)]),
  calibration: z.strictObject({ fx_px: positive, baseline_m: positive, doffs_px: z.number().default(0) }),
});

const optionsSchema = z.strictObject({
  near_m: positive.optional(),
  far_m: z.union([positive, z.literal(Number.POSITIVE_INFINITY)]).default(5),
  threads: z.int().min(1).max(16).default(2),
  simd: z.enum(["auto", "avx2", "portable"]).default("auto"),
  uniqueness_percent: z.number().min(0).max(50).default(2),
  left_right_max_px: z.int().min(0).max(16).default(1),
  speckle_px: z.int().min(0).max(1_000_000).optional(),
  fill_px: z.int().min(0).max(64).optional(),
});

function refuse(message: string, details: Record<string, unknown> = {}): never {
  throw new Skill2RealError("bad_argument", `stereo: ${message}`, { details });
}

function parse<T extends z.ZodType>(schema: T, value: unknown, what: string, known: readonly string[]): z.output<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const path = [what, ...(issue?.path ?? [])].join(".");
  const hint = issue?.code === "unrecognized_keys" ? suggest(issue.keys[0] ?? "", known) : "";
  return refuse(`${path}: ${issue?.message ?? "invalid"}.${hint}`, { issues: parsed.error.issues });
}

/**
 * The disparities (pixels) that a depth range (metres) means for a calibration and an image `width` pixels wide,
 * as the matcher searches them: one more than asked for at each end, because a best match at the very end
 * of a search proves nothing, and whole blocks. Throws `bad_argument` where they cannot be searched.
 */
export function disparityRange(
  calibration: StereoCalibration,
  width: number,
  options: Pick<StereoOptions, "near_m" | "far_m"> = {},
): { min_disparity: number; disparities: number; near_m: number; far_m: number } {
  const fb = calibration.fx_px * calibration.baseline_m;
  const doffs = calibration.doffs_px ?? 0;
  const depthAt = (disparity: number) => (disparity + doffs > 0 ? fb / (disparity + doffs) : Number.POSITIVE_INFINITY);
  const far = options.far_m ?? 5;
  const min = Math.max(Math.floor(fb / far - doffs) - 1, 1 - width);
  const near = options.near_m ?? Math.max(0.3, depthAt(min + Math.min(256, width) - 2));
  if (!(near < far)) {
    return refuse(
      `the nearest depth, ${near} m, is not nearer than far_m, ${far} m: move near_m and far_m, or check fx_px, baseline_m and doffs_px`,
      { near_m: near, far_m: far },
    );
  }
  const needed = Math.ceil(fb / near - doffs) - min + 2;
  if (min >= width) {
    return refuse(
      `far_m ${far} means a disparity of ${min} px, but the images are ${width} px wide: raise far_m, or check fx_px, baseline_m and doffs_px`,
    );
  }
  if (!(needed <= MAX_STEREO_DISPARITIES)) {
    return refuse(
      `near_m ${near} to far_m ${far} needs ${needed} disparities, more than ${MAX_STEREO_DISPARITIES}: raise near_m or halve the images`,
      { disparities: needed },
    );
  }
  const disparities = Math.ceil(needed / DISPARITY_BLOCK) * DISPARITY_BLOCK;
  return { min_disparity: min, disparities, near_m: depthAt(min + disparities - 2), far_m: depthAt(min + 1) };
}

/**
 * Metric depth from a rectified stereo pair, registered to the left image.
 *
 * Census matching cost and semi-global matching over eight paths (Hirschmueller, "Stereo Processing by
 * Semiglobal Matching and Mutual Information", 2008), left-right check, sub-pixel refinement on the images,
 * median and speckle filters, filling of narrow gaps. Deterministic: the same input gives the same bits on
 * every machine and with every thread count. Runs on worker threads, on copies of the images.
 *
 * Throws `bad_argument` for sizes, calibration or options out of range, `addon_missing` where the addon is
 * not built, `addon_failed` where the matcher itself refused or ran out of memory.
 */
export async function computeStereoDepth(input: StereoInput, options?: StereoOptions): Promise<StereoResult> {
  const { left, right, width, height, channels, calibration } = parse(inputSchema, input, "input", [
    ...Object.keys(inputSchema.shape),
    "fx_px",
    "baseline_m",
    "doffs_px",
  ]);
  const chosen = parse(optionsSchema, options ?? {}, "options", Object.keys(optionsSchema.shape));
  const expected = width * height * channels;
  for (const [name, image] of [
    ["left", left],
    ["right", right],
  ] as const) {
    if (image.length !== expected) {
      refuse(`${name} has ${image.length} bytes, but ${width} x ${height} x ${channels} needs ${expected}`);
    }
  }
  const range = disparityRange(calibration, width, chosen);
  const volume = width * height * range.disparities;
  if (volume > MAX_VOLUME) {
    refuse(
      `${width} x ${height} x ${range.disparities} disparities is ${volume}, more than ${MAX_VOLUME}: raise near_m, lower far_m, or halve the images`,
    );
  }
  const addon = loadAddon<StereoAddon>("stereo");
  try {
    const result = await addon.compute(left, right, {
      width,
      height,
      channels,
      fx_px: calibration.fx_px,
      baseline_m: calibration.baseline_m,
      doffs_px: calibration.doffs_px,
      min_disparity: range.min_disparity,
      disparities: range.disparities,
      threads: chosen.threads,
      simd: chosen.simd,
      uniqueness_percent: chosen.uniqueness_percent,
      left_right_max_px: chosen.left_right_max_px,
      speckle_px: chosen.speckle_px ?? Math.max(30, Math.round((width * height) / 4000)),
      fill_px: chosen.fill_px ?? Math.min(64, Math.round(width / 40)),
    });
    return { ...result, near_m: range.near_m, far_m: range.far_m };
  } catch (cause) {
    throw new Skill2RealError("addon_failed", `stereo: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}
