import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ImageStore } from "./image-store.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "s2r-images-"));
});
afterEach(() => {
  chmodSync(folder, 0o700);
  rmSync(folder, { recursive: true, force: true });
});

const PIXELS = Uint8Array.from({ length: 4 * 3 * 3 }, (_, i) => (i * 37) % 256);

describe("ImageStore", () => {
  it("writes the pixels without loss, numbered in order, and gives the path relative to the run", async () => {
    const store = new ImageStore({ folder });
    const first = await store.save("topdown_left", PIXELS, 4, 3);
    const second = await store.save("depth", PIXELS, 4, 3);
    expect([first.path, second.path]).toEqual(["images/0001_topdown_left.png", "images/0002_depth.png"]);
    const file = readFileSync(join(folder, first.path));
    expect(file.equals(Buffer.from(first.png))).toBe(true);
    const { data, info } = await sharp(file).raw().toBuffer({ resolveWithObject: true });
    expect([info.width, info.height, info.channels]).toEqual([4, 3, 3]);
    expect([...data]).toEqual([...PIXELS]);
  });

  it("encodes without a file where there is no folder", async () => {
    const { path, png } = await new ImageStore({ folder: null }).save("scene_left", PIXELS, 4, 3);
    expect(path).toBe("images/0001_scene_left.png");
    expect((await sharp(png).metadata()).width).toBe(4);
  });

  it("fails as storage where a file stands in the way, naming the image", async () => {
    writeFileSync(join(folder, "images"), "a file, not a folder");
    await expect(new ImageStore({ folder }).save("x", PIXELS, 4, 3)).rejects.toMatchObject({
      code: "storage_failed",
      message: expect.stringContaining("images/0001_x.png"),
    });
  });

  it("remembers the newest image of each view, and of the stages before one", () => {
    const store = new ImageStore({ folder: null });
    expect(store.newest("topdown")).toBeNull();
    for (const [path, stage] of [
      ["a", 0],
      ["b", 1],
      ["c", 1],
      ["d", 2],
    ] as const)
      store.note("topdown", path, stage);
    store.note("scene", "z", 2);
    expect(store.newest("topdown")).toBe("d");
    expect(store.newest("topdown", 2)).toBe("c");
    expect(store.newest("topdown", 1)).toBe("a");
    expect(store.newest("topdown", 0)).toBeNull();
  });
});
