import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSkill2RealError } from "../../contract/errors.js";
import { packageFile } from "../../contract/package-root.js";
import { type DepthView, measureGeometry, type PixelBox, pointCloud, pointFromPixel, segmentBox } from "./scene.js";

const WIDTH = 160;
const HEIGHT = 120;
const FOCAL = 200;
const CAMERA_Z = 0.8;

/** Straight down from 0.8 m: camera x is world x, camera y is world -y, camera z is world -z. */
const LOOKING_DOWN = [1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1, CAMERA_Z, 0, 0, 0, 1];

/** A grey table with one block: half sides in metres around (x, y), `top` high, its own colour. */
type Block = { x: number; y: number; half_x: number; half_y: number; top: number; rgb: [number, number, number] };

function topDown(block?: Block): DepthView {
  const depth_m = new Float32Array(WIDTH * HEIGHT);
  const rgb = new Uint8Array(WIDTH * HEIGHT * 3);
  for (let v = 0; v < HEIGHT; v++) {
    for (let u = 0; u < WIDTH; u++) {
      const i = v * WIDTH + u;
      const distance = CAMERA_Z - (block?.top ?? 0);
      const x = ((u - 79.5) / FOCAL) * distance;
      const y = -((v - 59.5) / FOCAL) * distance;
      const on = block !== undefined && Math.abs(x - block.x) <= block.half_x && Math.abs(y - block.y) <= block.half_y;
      depth_m[i] = on ? distance : CAMERA_Z;
      const grain = ((u * 7 + v * 13) % 5) * 4;
      const colour = on ? block.rgb : [120, 118, 115];
      for (let k = 0; k < 3; k++) rgb[i * 3 + k] = (colour[k] ?? 0) + grain;
    }
  }
  const intrinsics = { fx_px: FOCAL, fy_px: FOCAL, cx_px: 79.5, cy_px: 59.5 };
  return { depth_m, rgb, width: WIDTH, height: HEIGHT, intrinsics, X_world_camera: LOOKING_DOWN };
}

const RED: Block = { x: 0.03, y: -0.02, half_x: 0.04, half_y: 0.025, top: 0.05, rgb: [190, 30, 25] };

/** The block's box in the image, grown by `pad` pixels. */
function boxOf(block: Block, pad: number): PixelBox {
  const scale = FOCAL / (CAMERA_Z - block.top);
  return {
    x0: Math.ceil(79.5 + (block.x - block.half_x) * scale) - pad,
    x1: Math.floor(79.5 + (block.x + block.half_x) * scale) + 1 + pad,
    y0: Math.ceil(59.5 - (block.y + block.half_y) * scale) - pad,
    y1: Math.floor(59.5 - (block.y - block.half_y) * scale) + 1 + pad,
  };
}

async function refusal(run: Promise<unknown>): Promise<string> {
  try {
    await run;
  } catch (error) {
    if (isSkill2RealError(error, "bad_argument")) return error.message;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("scene: refusals that need no addon", () => {
  const view = topDown(RED);
  const box = boxOf(RED, 2);

  it("names the size that was given and the size that is needed", async () => {
    expect(await refusal(segmentBox({ ...view, depth_m: new Float32Array(7) }, box))).toMatch(/7 values.*19200/);
    expect(await refusal(segmentBox({ ...view, rgb: new Uint8Array(WIDTH * HEIGHT * 4) }, box))).toMatch(/alpha/);
    expect(await refusal(measureGeometry(view, new Uint8Array(3)))).toMatch(/mask is 3 values/);
    expect(await refusal(pointCloud(view, { exclude: new Uint8Array(1) }))).toMatch(/exclude is 1 values/);
  });

  it("refuses a transform that is not rigid", async () => {
    const scaled = LOOKING_DOWN.map((value, i) => (i < 11 && i % 4 < 3 ? value * 1.01 : value));
    expect(await refusal(segmentBox({ ...view, X_world_camera: scaled }, box))).toMatch(/not a rigid transform/);
    const mirrored = LOOKING_DOWN.map((value, i) => (i === 0 ? -1 : value));
    expect(await refusal(pointCloud({ ...view, X_world_camera: mirrored }))).toMatch(/determinant -1/);
    expect(await refusal(pointCloud({ ...view, X_world_camera: [1, 2] }))).toMatch(/X_world_camera/);
    const translationInLastRow = LOOKING_DOWN.map((value, i) => (i === 12 ? 0.5 : value));
    expect(await refusal(pointCloud({ ...view, X_world_camera: translationInLastRow }))).toMatch(/last row/);
  });

  it("refuses boxes that hold nothing and pixels outside the image", async () => {
    expect(await refusal(segmentBox(view, { x0: 50, y0: 40, x1: 50, y1: 60 }))).toMatch(/less than 2 x 2/);
    expect(await refusal(segmentBox(view, { x0: -90, y0: -90, x1: -10, y1: -10 }))).toMatch(/less than 2 x 2/);
    expect(await refusal(segmentBox(view, { x0: Number.NaN, y0: 0, x1: 9, y1: 9 }))).toMatch(/x0/);
    expect(await refusal(pointFromPixel(view, WIDTH, 0))).toMatch(/outside the 160 x 120 image/);
    expect(await refusal(pointFromPixel(view, Number.NaN, 0))).toMatch(/outside/);
  });

  it("suggests the option that was meant", async () => {
    const misspelled: object = { min_heigth_m: 0.01 };
    expect(await refusal(segmentBox(view, box, misspelled))).toMatch(/min_heigth_m.*Did you mean "min_height_m"/);
    expect(await refusal(segmentBox(view, box, { min_height_m: 1 }))).toMatch(/min_height_m/);
    expect(await refusal(pointCloud(view, { stride: 0 }))).toMatch(/stride/);
  });
});

const built = existsSync(packageFile("build", "Release", "scene.node"));

describe.skipIf(!built)(`scene addon${built ? "" : " (skipped: not built)"}`, () => {
  it("masks the block, says by which rule and finds the table", async () => {
    const view = topDown(RED);
    const found = await segmentBox(view, boxOf(RED, 2));
    const tight = boxOf(RED, 0);
    expect(found.bounds).toEqual(tight);
    expect(found.area_px).toBe((tight.x1 - tight.x0) * (tight.y1 - tight.y0));
    expect(found.mask.reduce((sum, m) => sum + m, 0)).toBe(found.area_px);
    expect(["geometry", "geometry+colour"]).toContain(found.rule);
    expect(found.support?.normal[2]).toBeCloseTo(1, 4);
    expect(found.support?.offset_m).toBeCloseTo(0, 4);
  });

  it("masks a mat that has colour but no height, and nothing without colour", async () => {
    const mat: Block = { ...RED, top: 0.002 };
    const view = topDown(mat);
    const found = await segmentBox(view, boxOf(mat, 2));
    expect(found.rule).toBe("colour");
    expect(found.bounds).toEqual(boxOf(mat, 0));
    const blind = await segmentBox(view, boxOf(mat, 2), { colour: "never" });
    expect(blind).toMatchObject({ area_px: 0, rule: "none", bounds: { x0: 0, y0: 0, x1: 0, y1: 0 } });
  });

  it("leaves excluded pixels out of the mask", async () => {
    const view = topDown(RED);
    const exclude = new Uint8Array(WIDTH * HEIGHT);
    const { x0, x1, y0, y1 } = boxOf(RED, 0);
    for (let v = y0; v < y1; v++) exclude.fill(1, v * WIDTH + x0, v * WIDTH + Math.floor((x0 + x1) / 2));
    const found = await segmentBox(view, boxOf(RED, 2), { exclude });
    expect(found.mask.some((m, i) => m === 1 && exclude[i] === 1)).toBe(false);
  });

  it("measures blocks of any place, turn of sides and height", async () => {
    const side = fc.double({ min: 0.02, max: 0.05, noNaN: true });
    const place = fc.double({ min: -0.08, max: 0.08, noNaN: true });
    const blocks = fc.record({
      x: place,
      y: place,
      half_x: side,
      half_y: side,
      top: fc.double({ min: 0.02, max: 0.08, noNaN: true }),
    });
    await fc.assert(
      fc.asyncProperty(blocks, async (shape) => {
        const block: Block = { ...shape, rgb: [20, 60, 200] };
        const view = topDown(block);
        const { mask } = await segmentBox(view, boxOf(block, 2));
        const measured = await measureGeometry(view, mask, { points: true, max_points: 50 });
        if (measured === null) throw new Error("nothing measured");
        const pixel = CAMERA_Z / FOCAL;
        const { upright_box: box } = measured;
        const longest = 2 * Math.max(block.half_x, block.half_y);
        const shortest = 2 * Math.min(block.half_x, block.half_y);
        expect(Math.abs(measured.top_z_m - block.top)).toBeLessThan(1e-3);
        expect(Math.abs((measured.support_z_m ?? 9) - 0)).toBeLessThan(1e-3);
        expect(Math.abs(box.size_m[2] - block.top)).toBeLessThan(2e-3);
        expect(Math.abs(box.size_m[0] - longest)).toBeLessThan(1.5 * pixel);
        expect(Math.abs(box.size_m[1] - shortest)).toBeLessThan(1.5 * pixel);
        expect(Math.abs(box.center_world[0] - block.x)).toBeLessThan(pixel);
        expect(Math.abs(box.center_world[1] - block.y)).toBeLessThan(pixel);
        expect(box.yaw_defined).toBe(true);
        expect(measured.points_world?.length).toBe(150);
        expect(measured.confidence).toBeGreaterThan(0.5);
      }),
      { numRuns: 25, seed: 11 },
    );
  });

  it("gives right-handed unit axes with fixed signs", async () => {
    const view = topDown(RED);
    const { mask } = await segmentBox(view, boxOf(RED, 2));
    const measured = await measureGeometry(view, mask);
    const [a, b, c] = measured?.principal_axes ?? [];
    if (!a || !b || !c) throw new Error("no axes");
    const cross = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    expect(Math.max(...cross.map((value, k) => Math.abs(value - (c[k] ?? 9))))).toBeLessThan(1e-6);
    expect(Math.hypot(...a)).toBeCloseTo(1, 6);
    expect(a[0]).toBeGreaterThan(0.99);
    expect(measured?.points_world).toBeUndefined();
  });

  it("answers null where nothing can be measured", async () => {
    const view = topDown(RED);
    expect(await measureGeometry(view, new Uint8Array(WIDTH * HEIGHT))).toBeNull();
    const dark = { ...view, depth_m: new Float32Array(WIDTH * HEIGHT).fill(Number.NaN) };
    expect(await measureGeometry(dark, new Uint8Array(WIDTH * HEIGHT).fill(1))).toBeNull();
    expect(await pointFromPixel(dark, 10, 10)).toBeNull();
    expect(await pointCloud(dark)).toHaveLength(0);
  });

  it("finds the point and normal under a pixel", async () => {
    const view = topDown(RED);
    const scale = FOCAL / (CAMERA_Z - RED.top);
    const found = await pointFromPixel(view, 79.5 + RED.x * scale, 59.5 - RED.y * scale);
    expect(found?.point_world[0]).toBeCloseTo(RED.x, 5);
    expect(found?.point_world[1]).toBeCloseTo(RED.y, 5);
    expect(found?.point_world[2]).toBeCloseTo(RED.top, 5);
    expect(found?.normal_world[2]).toBeCloseTo(1, 5);
  });

  it("lists every pixel with depth once, by stride, mask and exclude", async () => {
    const view = topDown(RED);
    view.depth_m[0] = Number.NaN;
    expect(await pointCloud(view)).toHaveLength((WIDTH * HEIGHT - 1) * 3);
    expect(await pointCloud(view, { stride: 4 })).toHaveLength(((WIDTH / 4) * (HEIGHT / 4) - 1) * 3);
    const left = new Uint8Array(WIDTH * HEIGHT).map((_, i) => (i % WIDTH < 10 ? 1 : 0));
    const inside = await pointCloud(view, { mask: left });
    const outside = await pointCloud(view, { exclude: left });
    expect(inside.length + outside.length).toBe((WIDTH * HEIGHT - 1) * 3);
  });

  it("copies its input and keeps the event loop free", async () => {
    const view = topDown(RED);
    const pending = segmentBox(view, boxOf(RED, 2));
    view.depth_m.fill(Number.NaN);
    view.rgb?.fill(0);
    let ticked = false;
    setImmediate(() => {
      ticked = true;
    });
    const found = await pending;
    expect(found.bounds).toEqual(boxOf(RED, 0));
    expect(ticked).toBe(true);
  });

  it("gives the same answer for the same view", async () => {
    const view = topDown(RED);
    const [one, two] = await Promise.all([segmentBox(view, boxOf(RED, 3)), segmentBox(view, boxOf(RED, 3))]);
    expect(one).toEqual(two);
  });

  it("leaves cleanly when the process or a worker ends amid a call", () => {
    const addon = JSON.stringify(packageFile("build", "Release", "scene.node"));
    const start = `
      const scene = require(${addon});
      const n = 640 * 480;
      const K = Float64Array.of(500, 500, 320, 240);
      const X = Float64Array.of(1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1, 0.8, 0, 0, 0, 1);
      const depth_m = new Float32Array(n).map((_, i) => (i % 640 > 200 && i % 640 < 400 ? 0.7 : 0.8));
      const view = { depth_m, rgb: new Uint8Array(3 * n), width: 640, height: 480, K, X };
      const options = { gravity_known: true, min_height_m: 0.008, use_colour: true, exclude: null };
      scene.segmentBox(view, Int32Array.of(190, 0, 410, 480), options);`;
    const inWorker = `
      const { Worker } = require("node:worker_threads");
      const worker = new Worker(${JSON.stringify(`${start}; setInterval(() => {}, 1000);`)}, { eval: true });
      worker.once("online", () => setTimeout(() => worker.terminate(), 150));`;
    for (const script of [`${start}; process.exit(0);`, inWorker]) {
      const { status, signal, stderr } = spawnSync(process.execPath, ["-e", script], {
        encoding: "utf8",
        timeout: 25_000,
      });
      expect({ status, signal, stderr }).toEqual({ status: 0, signal: null, stderr: "" });
    }
  });
});
