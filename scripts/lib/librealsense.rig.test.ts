import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";

type Finding = { name: string; ok: boolean; found: string };
type Modules = { cameraFindings: (cameras: Record<string, unknown>) => Iterable<Finding> };
const { cameraFindings } = (await import(new URL("./doctor-rig.mjs", import.meta.url).href)) as Modules;

const FETCHED = existsSync(new URL("../../.deps/librealsense-2.55.1/librealsense2.so", import.meta.url));
if (!FETCHED) console.warn("skipped: librealsense could not be fetched by set-up");

describe.skipIf(!FETCHED)("the librealsense that set-up fetched", () => {
  it("opens as one file and lists cameras by its C API", () => {
    const found = [...cameraFindings({ wrist: { source: "realsense", serial: "000000000" } })];
    expect(found.find(({ name }) => name === "librealsense")).toMatchObject({
      ok: true,
      found: expect.stringContaining("2.55.1 opens"),
    });
    expect(found.find(({ name }) => name === "camera wrist")?.found).toContain("is not connected");
  });
});
