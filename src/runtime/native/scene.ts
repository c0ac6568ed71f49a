/**
 * Box prompt -> mask -> visible geometry, on one calibrated view (native addon `scene`).
 *
 * Frames: `world` is gravity-aligned with z up; the camera frame is OpenCV optical (x right, y down, z forward).
 * An integer pixel coordinate is a pixel's centre; images are row-major with a top-left origin.
 * Every call copies its input before it returns and computes on a worker thread, so the caller may reuse its arrays.
 *
 * @module
 */
import { z } from "zod";
import { Skill2RealError } from "../../contract/errors.js";
import { suggest } from "../../contract/suggest.js";
import { loadAddon } from "./load-addon.js";

/** Pinhole intrinsics of a rectified image, in pixels. */
export type Intrinsics = { fx_px: number; fy_px: number; cx_px: number; cy_px: number };

/** 16 numbers, row-major 4x4. `X_world_camera` maps camera coordinates (OpenCV optical) to world coordinates. */
export type RigidTransform = readonly number[];

/** A three-vector in metres, or a direction of unit length. */
export type Vector3 = [number, number, number];

/** One registered depth image, with the colour image it is registered to where there is one. */
export type DepthView = {
  /** Height * width metres along the optical axis; NaN (or anything not above zero) is unknown. */
  depth_m: Float32Array;
  /** Height * width * 3 bytes, RGB. Without it no rule that uses colour can run. */
  rgb?: Uint8Array;
  width: number;
  height: number;
  intrinsics: Intrinsics;
  X_world_camera: RigidTransform;
};

/** Half-open box in pixels of the left image: x0 <= x < x1, y0 <= y < y1. */
export type PixelBox = { x0: number; y0: number; x1: number; y1: number };

/** Which evidence drew the mask. */
export type SegmentRule = "geometry" | "geometry+colour" | "colour" | "none";

/** A plane in world coordinates: normal . X = offset_m, normal of unit length and towards the camera's side. */
export type SupportPlane = { normal: Vector3; offset_m: number };

export type SegmentOptions = {
  /**
   * False where `X_world_camera` does not know gravity (a hand-held camera with an identity pose): the support
   * plane may then have any direction. Default true: its normal is within 15 degrees of world z.
   */
  gravity_known?: boolean;
  /** Least height above the support at which something counts as raised, metres, 0.001 to 0.1. Default 0.008; the range noise raises it. */
  min_height_m?: number;
  /** `auto` (default) lets colour refine and decide where depth cannot; `never` ignores the colour image. */
  colour?: "auto" | "never";
  /** Height * width, non-zero = known not to be the object (the robot, a held object). */
  exclude?: Uint8Array;
};

export type Segmentation = {
  /** Height * width, 1 inside the mask. */
  mask: Uint8Array;
  /** Pixels in the mask; 0 = nothing in the box could be told from its surroundings. */
  area_px: number;
  /** Tight box of the mask; all zeros for an empty mask. */
  bounds: PixelBox;
  /** The rule that won; `none` for an empty mask. */
  rule: SegmentRule;
  /** How well the mask fills the box and agrees with the evidence, 0 to 1. A ranking aid, not a probability. */
  score: number;
  /** The surface under the box, null where none was found. */
  support: SupportPlane | null;
};

export type MeasureOptions = {
  /** Also return the inlier points, at most `max_points` of them. Default false. */
  points?: boolean;
  /** Limit for `points`, 1 to 2,000,000. Default 20,000. */
  max_points?: number;
  /** Height of the surface below, metres in world, where the caller knows it better than the ring around the mask tells. */
  support_z_m?: number;
  /**
   * True where depth ends where things end (a time-of-flight or structured-light sensor, a renderer). Then the bottom edge
   * of a visible side tells what a stacked thing stands on. Default false: stereo smears edges, and only the ring
   * around the mask counts, which shows the table where the thing below is hardly wider.
   */
  sharp_edges?: boolean;
};

/** A gravity-aligned box: turned by `yaw_rad` about world z. */
export type UprightBox = {
  center_world: Vector3;
  /** [along the yaw direction, across it, vertical], first >= second. The vertical size spans support to top where the support is known. */
  size_m: Vector3;
  /** Direction of the first size in the world's xy plane, in (-pi/2, pi/2]. Where the two sizes are nearly equal it is only meaningful modulo pi/2. */
  yaw_rad: number;
  /** False where a circle explains the outline as well as a rectangle (ball, can, bowl): then yaw_rad is 0 and sizes are diameters. */
  yaw_defined: boolean;
};

/** What can be measured on the visible surface of one object. Sizes speak of what is seen, not of hidden sides. */
export type VisibleGeometry = {
  /** Mean of the visible points. Not the centre of the object: a camera sees one side. */
  centroid_world: Vector3;
  /** Height of the flat top (its median), or where the top is not flat the 99th percentile of the visible points' heights. */
  top_z_m: number;
  /** Height of the surface around the mask, null where it is not visible. */
  support_z_m: number | null;
  /** Extents of the visible points along `principal_axes` (1st to 99th percentile, widened to the full range of a uniform spread). */
  extents_m: Vector3;
  /** Unit vectors, right-handed, most spread first; the first two point to positive x (then y, then z) by their largest component. */
  principal_axes: [Vector3, Vector3, Vector3];
  upright_box: UprightBox;
  /** Points used after outliers were dropped. */
  point_count: number;
  /** 0 to 1: from point count, depth coverage of the mask, outliers dropped and fit residual. Confidence in the measurement, not in the mask. */
  confidence: number;
  /** N*3 world coordinates of the points used, when asked for. */
  points_world?: Float32Array;
};

export type SurfacePoint = { point_world: Vector3 /** Unit, towards the camera. */; normal_world: Vector3 };

export type PointCloudOptions = {
  /** Take every stride-th row and column, 1 to 64. Default 1. */
  stride?: number;
  /** Height * width: only pixels that are non-zero here. */
  mask?: Uint8Array;
  /** Height * width: no pixel that is non-zero here. */
  exclude?: Uint8Array;
};

type NativeView = {
  depth_m: Float32Array;
  rgb: Uint8Array | null;
  width: number;
  height: number;
  K: Float64Array;
  X: Float64Array;
};
type NativeScene = {
  segmentBox(
    view: NativeView,
    box: Int32Array,
    options: { gravity_known: boolean; min_height_m: number; use_colour: boolean; exclude: Uint8Array | null },
  ): Promise<Segmentation>;
  measureGeometry(
    view: NativeView,
    mask: Uint8Array,
    options: { max_points: number; support_z_m: number; sharp_edges: boolean },
  ): Promise<VisibleGeometry | null>;
  pointFromPixel(view: NativeView, u: number, v: number): Promise<SurfacePoint | null>;
  pointCloud(
    view: NativeView,
    stride: number,
    mask: Uint8Array | null,
    exclude: Uint8Array | null,
  ): Promise<Float32Array>;
};

const finite = z.number();
const intrinsicsSchema = z.strictObject({
  fx_px: finite.positive(),
  fy_px: finite.positive(),
  cx_px: finite,
  cy_px: finite,
});
const side = z.number().int().min(1).max(8192);
const viewSchema = z.strictObject({
  depth_m: z.instanceof(Float32Array),
  rgb: z.instanceof(Uint8Array).optional(),
  width: side,
  height: side,
  intrinsics: intrinsicsSchema,
  X_world_camera: z.array(finite).length(16),
});
const boxSchema = z.strictObject({ x0: finite, y0: finite, x1: finite, y1: finite });
const segmentSchema = z.strictObject({
  gravity_known: z.boolean().default(true),
  min_height_m: finite.min(0.001).max(0.1).default(0.008),
  colour: z.enum(["auto", "never"]).default("auto"),
  exclude: z.instanceof(Uint8Array).optional(),
});
const measureSchema = z.strictObject({
  points: z.boolean().default(false),
  max_points: z.number().int().min(1).max(2_000_000).default(20_000),
  support_z_m: finite.optional(),
  sharp_edges: z.boolean().default(false),
});
const cloudSchema = z.strictObject({
  stride: z.number().int().min(1).max(64).default(1),
  mask: z.instanceof(Uint8Array).optional(),
  exclude: z.instanceof(Uint8Array).optional(),
});

/**
 * Mask of the object that a box surrounds, from one box alone: what stands on the support plane is cut at depth jumps
 * and concave edges, the pieces that best fill the box are joined, and colour draws the border where depth is missing
 * or unreliable (and the whole mask of things with no height, such as a mat).
 *
 * The box may have fractions (it is widened to whole pixels) and reach over the image's edge (it is clipped).
 * An empty mask (`area_px` 0) is a result, not an error.
 * @throws Skill2RealError `bad_argument` for a malformed view, box or option; `addon_missing`.
 */
export async function segmentBox(view: DepthView, box: PixelBox, options: SegmentOptions = {}): Promise<Segmentation> {
  const opts = parse(segmentSchema, options, "segment options");
  const checked = checkView(view);
  const corners = clipBox(parse(boxSchema, box, "box"), view);
  checkPlane("exclude", opts.exclude, view);
  return call("segmentBox", (scene) =>
    scene.segmentBox(checked, corners, {
      gravity_known: opts.gravity_known,
      min_height_m: opts.min_height_m,
      use_colour: opts.colour === "auto" && view.rgb !== undefined,
      exclude: opts.exclude ?? null,
    }),
  );
}

/**
 * Measures the visible surface under a mask. Resolves to null where fewer than 12 mask pixels have depth.
 *
 * The upright box is the least-area rectangle around the points seen from above, with outliers trimmed; see
 * `UprightBox` for round outlines. `support_z_m` comes from a ring around the mask.
 * @throws Skill2RealError `bad_argument` for a malformed view, mask or option; `addon_missing`.
 */
export async function measureGeometry(
  view: DepthView,
  mask: Uint8Array,
  options: MeasureOptions = {},
): Promise<VisibleGeometry | null> {
  const opts = parse(measureSchema, options, "measure options");
  const checked = checkView(view);
  checkPlane("mask", mask, view);
  return call("measureGeometry", (scene) =>
    scene.measureGeometry(checked, mask, {
      max_points: opts.points ? opts.max_points : 0,
      support_z_m: opts.support_z_m ?? Number.NaN,
      sharp_edges: opts.sharp_edges,
    }),
  );
}

/**
 * Surface point and normal at a pixel, from a plane fitted to the neighbours on the same surface; null where neither
 * the pixel nor its close neighbours have depth. `u` is right, `v` is down; fractions are allowed.
 * @throws Skill2RealError `bad_argument` for a pixel outside the image or a malformed view; `addon_missing`.
 */
export async function pointFromPixel(view: DepthView, u: number, v: number): Promise<SurfacePoint | null> {
  const checked = checkView(view);
  if (!(u >= -0.5 && u < view.width - 0.5 && v >= -0.5 && v < view.height - 0.5)) {
    throw new Skill2RealError(
      "bad_argument",
      `pixel (${u}, ${v}) is outside the ${view.width} x ${view.height} image: u is right in [-0.5, ${view.width - 0.5}), v is down in [-0.5, ${view.height - 0.5})`,
    );
  }
  return call("pointFromPixel", (scene) => scene.pointFromPixel(checked, u, v));
}

/**
 * World coordinates of every pixel with depth, N*3, row by row.
 * @throws Skill2RealError `bad_argument` for a malformed view, mask or option; `addon_missing`.
 */
export async function pointCloud(view: DepthView, options: PointCloudOptions = {}): Promise<Float32Array> {
  const opts = parse(cloudSchema, options, "point cloud options");
  const checked = checkView(view);
  checkPlane("mask", opts.mask, view);
  checkPlane("exclude", opts.exclude, view);
  return call("pointCloud", (scene) => scene.pointCloud(checked, opts.stride, opts.mask ?? null, opts.exclude ?? null));
}

async function call<T>(name: string, run: (scene: NativeScene) => Promise<T>): Promise<T> {
  const scene = loadAddon<NativeScene>("scene");
  try {
    return await run(scene);
  } catch (cause) {
    throw new Skill2RealError(
      "addon_failed",
      `scene.${name}: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
}

function parse<S extends z.ZodObject>(schema: S, value: unknown, what: string): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const words = result.error.issues.map((issue) => {
    const known = Object.keys(schema.shape);
    if (issue.code === "unrecognized_keys")
      return `unknown key "${issue.keys.join('", "')}".${suggest(issue.keys[0] ?? "", known)}`;
    return `${issue.path.join(".") || what}: ${issue.message}`;
  });
  throw new Skill2RealError("bad_argument", `${what}: ${words.join("; ")}`);
}

function checkView(view: DepthView): NativeView {
  const { depth_m, rgb, width, height, intrinsics, X_world_camera: X } = parse(viewSchema, view, "view");
  if (depth_m.length !== width * height) {
    throw new Skill2RealError(
      "bad_argument",
      `view.depth_m has ${depth_m.length} values; ${width} x ${height} needs ${width * height}`,
    );
  }
  if (rgb && rgb.length !== width * height * 3) {
    throw new Skill2RealError(
      "bad_argument",
      `view.rgb has ${rgb.length} bytes; ${width} x ${height} RGB needs ${width * height * 3} (drop the alpha channel)`,
    );
  }
  checkRigid(X);
  const K = Float64Array.of(intrinsics.fx_px, intrinsics.fy_px, intrinsics.cx_px, intrinsics.cy_px);
  return { depth_m, rgb: rgb ?? null, width, height, K, X: Float64Array.from(X) };
}

function checkRigid(X: readonly number[]): void {
  const at = (row: number, col: number): number => X[row * 4 + col] ?? Number.NaN;
  let worst = 0;
  for (let i = 0; i < 3; i++) {
    for (let j = 0; j < 3; j++) {
      const dot = at(0, i) * at(0, j) + at(1, i) * at(1, j) + at(2, i) * at(2, j);
      worst = Math.max(worst, Math.abs(dot - (i === j ? 1 : 0)));
    }
  }
  const det =
    at(0, 0) * (at(1, 1) * at(2, 2) - at(1, 2) * at(2, 1)) -
    at(0, 1) * (at(1, 0) * at(2, 2) - at(1, 2) * at(2, 0)) +
    at(0, 2) * (at(1, 0) * at(2, 1) - at(1, 1) * at(2, 0));
  const lastRow = at(3, 0) === 0 && at(3, 1) === 0 && at(3, 2) === 0 && at(3, 3) === 1;
  if (worst > 1e-4 || det < 0 || !lastRow) {
    throw new Skill2RealError(
      "bad_argument",
      `view.X_world_camera is not a rigid transform (rotation off by ${worst.toExponential(1)}, determinant ${det.toFixed(4)}): give 16 numbers row by row, last row 0 0 0 1`,
    );
  }
}

function checkPlane(name: string, plane: Uint8Array | undefined, view: DepthView): void {
  if (plane === undefined) return;
  if (!(plane instanceof Uint8Array) || plane.length !== view.width * view.height) {
    const found = plane instanceof Uint8Array ? `${plane.length} values` : typeof plane;
    throw new Skill2RealError(
      "bad_argument",
      `${name} is ${found}; a ${view.width} x ${view.height} view needs a Uint8Array of ${view.width * view.height}`,
    );
  }
}

function clipBox(box: PixelBox, view: DepthView): Int32Array {
  const x0 = Math.max(0, Math.floor(box.x0));
  const y0 = Math.max(0, Math.floor(box.y0));
  const x1 = Math.min(view.width, Math.ceil(box.x1));
  const y1 = Math.min(view.height, Math.ceil(box.y1));
  if (x1 - x0 < 2 || y1 - y0 < 2) {
    throw new Skill2RealError(
      "bad_argument",
      `box x0=${box.x0} y0=${box.y0} x1=${box.x1} y1=${box.y1} covers less than 2 x 2 pixels of the ${view.width} x ${view.height} image: give x0 < x1 and y0 < y1 in pixels of the left image`,
    );
  }
  return Int32Array.of(x0, y0, x1, y1);
}
