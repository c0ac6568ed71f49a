import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { findRig, loadConfig } from "../../config/index.js";
import { main } from "../main.js";

let folder = "";
let err = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "s2r-init-"));
  err = "";
  vi.spyOn(process.stdout, "write").mockReturnValue(true);
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    err += String(text);
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

describe("init", () => {
  it("writes a configuration that loads as the defaults, and does not overwrite it unasked", async () => {
    const file = join(folder, "skill2real.toml");
    expect(await main(["init", file])).toBe(0);
    expect(loadConfig({ file, cwd: folder }).config.backend.kind).toBe("sim");
    writeFileSync(file, "");
    expect(await main(["init", file])).toBe(2);
    expect(err).toContain("is there already");
    expect(readFileSync(file, "utf8")).toBe("");
  });

  it("writes a rig's file, complete but for the calibrations that it names", async () => {
    const file = join(folder, "left.toml");
    expect(await main(["init", file, "--rig", "left"])).toBe(0);
    const { rigs } = loadConfig({ file, cwd: folder });
    expect(rigs.get("left")?.arm).toMatchObject({ realtime: "enforce", registers: "upper" });
    expect(() => findRig({ rig: file })).toThrow(/calibration of camera wrist, .*calibration\/wrist\.json/);
  });

  it.each(["emulated", "a b", "../x"])("refuses the rig name %j", async (name) => {
    expect(await main(["init", join(folder, "x.toml"), "--rig", name])).toBe(2);
    expect(err).toContain("--rig");
  });
});
