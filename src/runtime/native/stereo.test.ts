import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  hasStereoData,
  MOTORCYCLE_CALIBRATION,
  type Rgb,
  readAloe,
  readMotorcycle,
  type StereoTruth,
  scoreDisparity,
  visibleInBoth,
} from "../../../scripts/lib/stereo-truth.js";
import { computeStereoDepth, disparityRange, type StereoInput, type StereoOptions } from "./stereo.js";

const CALIBRATION = { fx_px: 600, baseline_m: 0.1 };

/** Value noise at column u of row v: smooth, without a period, between 0 and 255. */
function textureAt(u: number, v: number): number {
  const hash = (x: number, y: number) => {
    let h = Math.imul(x, 374761393) + Math.imul(y, 668265263);
    h = Math.imul(h ^ (h >>> 13), 1274126177);
    return ((h ^ (h >>> 16)) >>> 0) / 2 ** 32;
  };
  let sum = 0;
  for (const cell of [3, 7, 16]) {
    const [x, y] = [u / cell, v / cell];
    const [x0, y0] = [Math.floor(x), Math.floor(y)];
    const [s, t] = [x - x0, y - y0].map((f) => f * f * (3 - 2 * f)) as [number, number];
    const top = hash(x0, y0) * (1 - s) + hash(x0 + 1, y0) * s;
    const bottom = hash(x0, y0 + 1) * (1 - s) + hash(x0 + 1, y0 + 1) * s;
    sum += top * (1 - t) + bottom * t;
  }
  return (sum / 3) * 255;
}

/** A grey pair of a table plane, Z = z_m at the middle row and nearer below, under noise of about 1.5 grey levels. */
function tablePair(width: number, height: number, z_m: number, slope: number) {
  const left = new Uint8Array(width * height);
  const right = new Uint8Array(width * height);
  let state = 1;
  const noise = () => {
    let sum = -3;
    for (let i = 0; i < 6; i++) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      sum += state / 2 ** 32;
    }
    return 2.1 * sum;
  };
  const disparityAt = (y: number) => (CALIBRATION.fx_px * CALIBRATION.baseline_m) / z_m + slope * (y - height / 2);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      left[y * width + x] = Math.round(Math.min(255, Math.max(0, textureAt(x, y) + noise())));
      right[y * width + x] = Math.round(Math.min(255, Math.max(0, textureAt(x + disparityAt(y), y) + noise())));
    }
  }
  const depthAt = (y: number) => (CALIBRATION.fx_px * CALIBRATION.baseline_m) / disparityAt(y);
  return { input: { left, right, width, height, channels: 1, calibration: CALIBRATION } as StereoInput, depthAt };
}

describe("computeStereoDepth", () => {
  it("measures a table plane to a fraction of a millimetre on average", async () => {
    const { input, depthAt } = tablePair(320, 160, 0.9, 0.1);
    const result = await computeStereoDepth(input, { near_m: 0.5, far_m: 2 });
    let known = 0;
    let sum = 0;
    let squares = 0;
    for (let y = 8; y < 152; y++) {
      for (let x = 90; x < 312; x++) {
        const error = result.depth_m[y * 320 + x]! - depthAt(y);
        if (Number.isNaN(error)) continue;
        known++;
        sum += error;
        squares += error * error;
      }
    }
    expect(known / (144 * 222)).toBeGreaterThan(0.99);
    expect(Math.abs(sum / known)).toBeLessThan(0.0003);
    expect(Math.sqrt(squares / known)).toBeLessThan(0.001);
    expect(result.model).toMatch(/^census-sgm-8path\/(avx2|portable)$/);
    expect(result.valid_fraction).toBeGreaterThan(0.7);
    expect(result.near_m).toBeLessThanOrEqual(0.5);
    expect(result.far_m).toBeGreaterThanOrEqual(2);
  });

  it("gives the same bits whatever the threads and the instruction set", async () => {
    const { input } = tablePair(161, 70, 0.8, 0.08);
    const base: StereoOptions = { near_m: 0.5, far_m: 2 };
    const expected = await computeStereoDepth(input, { ...base, threads: 1, simd: "portable" });
    expect(expected.model).toBe("census-sgm-8path/portable");
    for (const options of [{ threads: 1 }, { threads: 2 }, { threads: 5, simd: "portable" as const }]) {
      const result = await computeStereoDepth(input, { ...base, ...options });
      expect(Buffer.from(result.depth_m.buffer).equals(Buffer.from(expected.depth_m.buffer))).toBe(true);
      expect(Buffer.from(result.disparity_px.buffer).equals(Buffer.from(expected.disparity_px.buffer))).toBe(true);
    }
  });

  it("runs off the event loop and lets several calls overlap on arrays that change meanwhile", async () => {
    const { input } = tablePair(320, 160, 0.8, 0.08);
    const alone = await computeStereoDepth(input);
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    const left = Uint8Array.from(input.left);
    const calls = [computeStereoDepth({ ...input, left }), computeStereoDepth({ ...input, left })];
    left.fill(0);
    const results = await Promise.all(calls);
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(0);
    for (const result of results) expect(result.depth_m).toEqual(alone.depth_m);
  });

  it.each([
    ["left of the wrong size", { left: new Uint8Array(5) }, {}, /left has 5 bytes, but 64 x 32 x 1 needs 2048/],
    ["a side beyond the limit", { width: 8193 }, {}, /input\.width/],
    ["no pixels", { height: 0 }, {}, /input\.height/],
    ["four channels", { channels: 4 }, {}, /input\.channels/],
    ["a float image", { left: new Float32Array(2048) }, {}, /input\.left/],
    ["a focal length that is not a number", { calibration: { fx_px: Number.NaN, baseline_m: 0.1 } }, {}, /fx_px/],
    ["a negative baseline", { calibration: { fx_px: 600, baseline_m: -0.1 } }, {}, /baseline_m/],
    ["an endless offset", { calibration: { fx_px: 600, baseline_m: 0.1, doffs_px: Infinity } }, {}, /doffs_px/],
    [
      "a misspelled calibration",
      { calibration: { fx_pxl: 600, fx_px: 600, baseline_m: 0.1 } },
      {},
      /Did you mean "fx_px"/,
    ],
    ["a misspelled option", {}, { nearm: 1 }, /Did you mean "near_m"/],
    ["a range inside out", {}, { near_m: 2, far_m: 1 }, /the nearest depth, 2 m, is not nearer than far_m, 1 m/],
    ["a range too wide", {}, { near_m: 0.01 }, /disparities, more than 512/],
    ["a range outside the image", {}, { near_m: 0.3, far_m: 0.5 }, /images are 64 px wide/],
    ["too many threads", {}, { threads: 17 }, /options\.threads/],
    ["an unknown instruction set", {}, { simd: "sse9" }, /options\.simd/],
  ])("refuses %s", async (_, input, options, message) => {
    const good = tablePair(64, 32, 2, 0).input;
    const call = computeStereoDepth({ ...good, ...input } as StereoInput, options as StereoOptions);
    await expect(call).rejects.toMatchObject({ code: "bad_argument", message: expect.stringMatching(message) });
  });

  it("refuses a volume beyond its memory before it loads anything", async () => {
    const image = new Uint8Array(8192 * 4096);
    await expect(
      computeStereoDepth({ ...tablePair(64, 32, 2, 0).input, left: image, right: image, width: 8192, height: 4096 }),
    ).rejects.toMatchObject({ code: "bad_argument", message: expect.stringMatching(/halve the images/) });
  });
});

describe("disparityRange", () => {
  it("covers the depths asked for, with a disparity to spare at each end", () => {
    fc.assert(
      fc.property(
        fc.record({
          fx: fc.double({ min: 200, max: 1000, noNaN: true }),
          baseline: fc.double({ min: 0.03, max: 0.15, noNaN: true }),
          doffs: fc.double({ min: -10, max: 40, noNaN: true }),
          near: fc.double({ min: 0.4, max: 0.9, noNaN: true }),
          far: fc.double({ min: 1, max: 20, noNaN: true }),
        }),
        ({ fx, baseline, doffs, near, far }) => {
          const calibration = { fx_px: fx, baseline_m: baseline, doffs_px: doffs };
          const range = disparityRange(calibration, 1280, { near_m: near, far_m: far });
          expect(range.near_m).toBeLessThanOrEqual(near + 1e-9);
          expect(range.far_m).toBeGreaterThanOrEqual(far - 1e-9);
          const exact = (z: number) => (fx * baseline) / z - doffs;
          expect(range.min_disparity).toBeLessThanOrEqual(exact(far) - 1 + 1e-9);
          expect(range.min_disparity + range.disparities - 1).toBeGreaterThanOrEqual(exact(near) + 1 - 1e-9);
          expect(range.disparities % 32).toBe(0);
        },
      ),
    );
  });

  it("chooses a nearest depth that the image's width and 256 disparities reach", () => {
    const range = disparityRange({ fx_px: 1200, baseline_m: 0.12 }, 1280);
    expect(range.disparities).toBeLessThanOrEqual(256);
    expect(range.near_m).toBeGreaterThan(0.3);
  });
});

/** Half of the size, each pixel the mean of four; disparities of the even pixels, halved. */
function halved({ left, right, disparity_px }: StereoTruth): StereoTruth {
  const width = left.width >> 1;
  const height = left.height >> 1;
  const shrink = ({ data, width: stride }: Rgb): Rgb => {
    const out = new Uint8Array(width * height * 3);
    for (let i = 0; i < out.length; i++) {
      const [channel, x, y] = [i % 3, Math.floor(i / 3) % width, Math.floor(i / 3 / width)];
      const at = 3 * (2 * y * stride + 2 * x) + channel;
      out[i] = Math.round((data[at]! + data[at + 3]! + data[at + 3 * stride]! + data[at + 3 * stride + 3]!) / 4);
    }
    return { width, height, data: out };
  };
  const truth = Float32Array.from(
    { length: width * height },
    (_, i) => disparity_px[2 * Math.floor(i / width) * left.width + 2 * (i % width)]! / 2,
  );
  return { left: shrink(left), right: shrink(right), disparity_px: truth };
}

describe.skipIf(!hasStereoData())("on recorded pairs (skipped where ../shared/data/stereo is absent)", () => {
  const inputOf = ({ left, right }: StereoTruth, calibration: StereoInput["calibration"]): StereoInput => ({
    left: left.data,
    right: right.data,
    width: left.width,
    height: left.height,
    channels: 3,
    calibration,
  });
  const badShare = (truth: StereoTruth, found: Float32Array) =>
    scoreDisparity(found, truth.disparity_px, visibleInBoth(truth.disparity_px, truth.left.width), 2).bad;

  it("is off by two pixels or unknown on at most 5 % of motorcycle's pixels that both cameras see", async () => {
    const truth = await readMotorcycle();
    const result = await computeStereoDepth(inputOf(truth, MOTORCYCLE_CALIBRATION), { near_m: 1.6, far_m: 6 });
    expect(badShare(truth, result.disparity_px)).toBeLessThan(0.05);
    const errors = result.depth_m
      .map((z, i) => Math.abs(z - (994.978 * 0.193001) / (truth.disparity_px[i]! + 31.086)))
      .filter((error) => !Number.isNaN(error))
      .sort();
    expect(errors[errors.length >> 1]).toBeLessThan(0.0055);
  });

  it("stays below 8 % on aloe and 6 % on aloe at half the size", async () => {
    const full = await readAloe();
    // Without a calibration: depths are those of a focal length and baseline that make them 1 / disparity.
    const unit = { fx_px: 1, baseline_m: 1 };
    const large = await computeStereoDepth(inputOf(full, unit), { near_m: 1 / 220, far_m: 1 / 40 });
    expect(badShare(full, large.disparity_px)).toBeLessThan(0.08);
    const half = halved(full);
    const small = await computeStereoDepth(inputOf(half, unit), { near_m: 1 / 110, far_m: 1 / 20 });
    expect(badShare(half, small.disparity_px)).toBeLessThan(0.06);
  });
});
