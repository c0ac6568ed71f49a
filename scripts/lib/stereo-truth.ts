import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inflateRawSync } from "node:zlib";
import sharp from "sharp";
import { PACKAGE_ROOT } from "../../src/contract/package-root.js";

/** Folder of recorded test data, which is not part of the repository. */
export const STEREO_DATA = join(PACKAGE_ROOT, "..", "shared", "data", "stereo");
export const hasStereoData = (): boolean => existsSync(join(STEREO_DATA, "motorcycle_disp.npz"));

export type Rgb = { width: number; height: number; data: Uint8Array };
/** A rectified pair and the true disparity of its left image, height * width pixels, NaN unknown. */
export type StereoTruth = { left: Rgb; right: Rgb; disparity_px: Float32Array };

/** 8-bit RGB samples of an image file, row by row. */
export async function readRgb(path: string): Promise<Rgb> {
  const { data, info } = await sharp(path)
    .removeAlpha()
    .toColourspace("srgb")
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, data: new Uint8Array(data) };
}

/** One array of little-endian float32 or float64 from a NumPy archive (a ZIP of .npy files; deflated or stored). */
export function readNpz(path: string, name: string): { shape: number[]; values: Float64Array } {
  const zip = readFileSync(path);
  const end = zip.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  if (end < 0) throw new Error(`${path} is not a ZIP archive`);
  let at = zip.readUInt32LE(end + 16);
  for (let entries = zip.readUInt16LE(end + 10); entries > 0; entries--) {
    const nameLength = zip.readUInt16LE(at + 28);
    if (zip.toString("latin1", at + 46, at + 46 + nameLength) === `${name}.npy`) {
      const local = zip.readUInt32LE(at + 42);
      const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
      const packed = zip.subarray(start, start + zip.readUInt32LE(at + 20));
      return parseNpy(zip.readUInt16LE(at + 10) === 8 ? inflateRawSync(packed) : packed);
    }
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  throw new Error(`${path} holds no array "${name}"`);
}

function parseNpy(npy: Buffer): { shape: number[]; values: Float64Array } {
  const wide = npy[6] === 1 ? 2 : 4;
  const body = 8 + wide + (wide === 2 ? npy.readUInt16LE(8) : npy.readUInt32LE(8));
  const header = npy.toString("latin1", 8 + wide, body);
  const type = /'descr': '<f([48])'/.exec(header)?.[1];
  if (type === undefined || header.includes("'fortran_order': True")) throw new Error(`unsupported array: ${header}`);
  const shape = (/'shape': \(([^)]*)\)/.exec(header)?.[1] ?? "")
    .split(",")
    .filter((part) => part.trim())
    .map(Number);
  const values = new Float64Array(shape.reduce((a, b) => a * b, 1));
  for (let i = 0; i < values.length; i++) {
    values[i] = type === "4" ? npy.readFloatLE(body + 4 * i) : npy.readDoubleLE(body + 8 * i);
  }
  return { shape, values };
}

/** Middlebury 2014 "Motorcycle" at a quarter of its size: f 994.978 px, baseline 193.001 mm, doffs 31.086 px. */
export const MOTORCYCLE_CALIBRATION = { fx_px: 994.978, baseline_m: 0.193001, doffs_px: 31.086 };

export async function readMotorcycle(): Promise<StereoTruth> {
  const [left, right] = await Promise.all([
    readRgb(join(STEREO_DATA, "motorcycle_left.png")),
    readRgb(join(STEREO_DATA, "motorcycle_right.png")),
  ]);
  const { values } = readNpz(join(STEREO_DATA, "motorcycle_disp.npz"), "arr_0");
  return { left, right, disparity_px: Float32Array.from(values, (d) => (Number.isFinite(d) ? d : Number.NaN)) };
}

/** Middlebury 2006 "Aloe": 1282 x 1110, whole disparities, 0 unknown. Its calibration is not part of the data. */
export async function readAloe(): Promise<StereoTruth> {
  const [left, right, truth] = await Promise.all(
    ["aloeL.jpg", "aloeR.jpg", "aloeGT.png"].map((file) => readRgb(join(STEREO_DATA, file))),
  );
  if (!left || !right || !truth) throw new Error("aloe is incomplete");
  const disparity_px = Float32Array.from(
    { length: truth.width * truth.height },
    (_, i) => truth.data[3 * i] || Number.NaN,
  );
  return { left, right, disparity_px };
}

/**
 * The pixels of the left image that the right one sees too: the true disparity carries each to a column of the right
 * image, where nothing nearer (by more than a pixel of disparity) may land on it.
 */
export function visibleInBoth(disparity_px: Float32Array, width: number): Uint8Array {
  const visible = new Uint8Array(disparity_px.length);
  const nearest = new Float32Array(width);
  for (let row = 0; row < disparity_px.length; row += width) {
    nearest.fill(Number.NEGATIVE_INFINITY);
    const columnOf = (x: number) => Math.round(x - (disparity_px[row + x] ?? Number.NaN));
    for (let x = 0; x < width; x++) {
      const column = columnOf(x);
      if (column >= 0 && column < width) nearest[column] = Math.max(nearest[column]!, disparity_px[row + x]!);
    }
    for (let x = 0; x < width; x++) {
      const column = columnOf(x);
      visible[row + x] = column >= 0 && column < width && disparity_px[row + x]! >= nearest[column]! - 1 ? 1 : 0;
    }
  }
  return visible;
}

/**
 * Share of the pixels looked at that are off by more than `limit_px` or unknown (`bad`), that are known (`known`),
 * and the median error of the known ones in pixels.
 */
export function scoreDisparity(
  found_px: Float32Array,
  truth_px: Float32Array,
  mask: Uint8Array,
  limit_px: number,
): { bad: number; known: number; median_px: number } {
  let count = 0;
  let bad = 0;
  const errors: number[] = [];
  for (let i = 0; i < found_px.length; i++) {
    if (mask[i] !== 1) continue;
    count++;
    const error = Math.abs(found_px[i]! - truth_px[i]!);
    if (!(error <= limit_px)) bad++;
    if (!Number.isNaN(error)) errors.push(error);
  }
  errors.sort((a, b) => a - b);
  return { bad: bad / count, known: errors.length / count, median_px: errors[errors.length >> 1] ?? Number.NaN };
}
