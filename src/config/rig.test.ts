import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Skill2RealError } from "../contract/errors.js";
import { EMULATED_RIG } from "./emulated-rig.js";
import { emulatedRig, findRig, loadConfig, rigTransform } from "./index.js";
import { checkRig } from "./rig.js";
import type { RigInput } from "./rig-schema.js";

function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(Skill2RealError);
    const { code, message } = error as Skill2RealError;
    return `${code}: ${message}`;
  }
  throw new Error("accepted what should be refused");
}

const BENCH = `
[rig.bench.arm]
host = "192.168.1.10"
payload_kg = 1.1
payload_cog_m = [0, 0, 0.05]
X_flange_tcp = { z = 0.17 }
home_q_rad = [0, -1.5, 1.5, -1.5, -1.5, 0]
[rig.bench.gripper]
path = "/dev/serial/by-id/usb-pika"
[rig.bench.workspace]
table_z_m = 0
min_xyz = [-0.5, 0.1, 0]
max_xyz = [0.5, 0.8, 0.6]
[rig.bench.views]
scene = "side"
[rig.bench.cameras.side]
source = "realsense"
serial = "819312070435"
library = "lib/librealsense2.so"
mount = "world"
calibration = "side.json"
`;
const CALIBRATION = {
  format: "skill2real-camera",
  version: 1,
  mount: "world",
  serial: "819312070435",
  X_parent_camera: { x: 1, y: 2, z: 3 },
};

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "s2r-rig-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
const write = (text: string, name = "skill2real.toml"): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

/** The emulated rig with one value replaced; undefined removes it. */
function altered(where: readonly string[], value: unknown): unknown {
  const rig = structuredClone(EMULATED_RIG) as Record<string, unknown>;
  const parent = where.slice(0, -1).reduce((at, key) => at[key] as Record<string, unknown>, rig);
  const last = where.at(-1) ?? "";
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return rig;
}

describe("the built-in rig", () => {
  it("is complete, and its top-down view is a look pose of the wrist camera", () => {
    const { rig, emulated, name } = findRig({ rig: "emulated" });
    expect({ name, emulated }).toEqual({ name: "emulated", emulated: true });
    expect(rig.views).toEqual({ topdown: "wrist", scene: "scene", wrist: "wrist" });
    expect(rig.cameras.wrist?.mount).toBe("tcp");
    expect(rig.arm.look_q_rad).toHaveLength(6);
    expect(rig.arm.limits.position_max_rad[2]).toBe(Math.PI);
  });

  it("cannot be replaced by a file", () => {
    write(BENCH.replaceAll("rig.bench", "rig.emulated"));
    expect(refusal(() => loadConfig({ cwd: folder }))).toContain('the rig "emulated" is built in');
  });
});

describe("a rig of the configuration file", () => {
  it("is found by name, with absolute paths and the pose of its calibration", () => {
    const file = write(BENCH);
    write(JSON.stringify(CALIBRATION), "side.json");
    const loaded = loadConfig({ cwd: folder });
    expect(loaded.config.backend.rig).toBe("emulated");
    const { rig, ...rest } = findRig({ rig: "bench", rigs: loaded.rigs, file });
    expect(rest).toEqual({ name: "bench", emulated: false, file });
    expect(rig.cameras.side).toMatchObject({
      library: join(folder, "lib/librealsense2.so"),
      calibration: join(folder, "side.json"),
      X_parent_camera: { x: 1, y: 2, z: 3, qw: 1 },
    });
    expect(rig.arm.flight_records).toBe(join(folder, "runs/flight"));
    expect(rig.arm).toMatchObject({ realtime: "enforce", registers: "upper", speed_cap: 0.25 });
  });

  it("is found by file, and by file and name where there are several", () => {
    const file = write(BENCH, "bench.toml");
    write(JSON.stringify(CALIBRATION), "side.json");
    expect(findRig({ rig: "bench.toml", cwd: folder })).toMatchObject({ name: "bench", file });
    write(`${BENCH}${BENCH.replaceAll("rig.bench", "rig.other")}`, "two.toml");
    expect(refusal(() => findRig({ rig: "two.toml", cwd: folder }))).toContain("holds the rigs bench, other");
    expect(findRig({ rig: "./two.toml#other", cwd: folder }).name).toBe("other");
    expect(refusal(() => findRig({ rig: "two.toml#othr", cwd: folder }))).toContain('Did you mean "other"?');
    write("", "none.toml");
    expect(refusal(() => findRig({ rig: "none.toml", cwd: folder }))).toContain("holds no rig");
    expect(refusal(() => findRig({ rig: "gone.toml", cwd: folder }))).toContain("not_found: there is no rig file");
    expect(refusal(() => findRig({ rig: "emulate" }))).toContain('Did you mean "emulated"?');
  });

  it("is refused with the nearest key where one is unknown, at every depth", () => {
    const typo = (from: string, to: string): string => {
      write(BENCH.replace(from, to));
      return refusal(() => loadConfig({ cwd: folder }));
    };
    expect(typo("payload_kg", "paylod_kg")).toMatch(
      /rig\.bench\.arm has an unknown key "paylod_kg"\. Did you mean "payload_kg"\?/,
    );
    expect(typo("[rig.bench.workspace]", "[rig.bench.workspce]")).toContain('Did you mean "workspace"?');
    expect(typo("library =", "libary =")).toContain('Did you mean "library"?');
    expect(typo("realsense", "realsens")).toContain('Did you mean "realsense"?');
    expect(typo("host =", "# host =")).toContain("rig.bench.arm.host is missing");
    expect(typo("payload_kg = 1.1", "payload_kg = 6")).toContain(
      "payload_kg is 6; it must be a finite number from 0 to 5",
    );
    expect(typo('scene = "side"', 'scene = "sied"')).toContain(
      'views.scene is "sied"; it names no camera; cameras: side',
    );
  });

  it("is refused where a calibration is missing, of another camera or of another mount", () => {
    write(BENCH);
    const find = () => findRig({ rig: "bench", rigs: loadConfig({ cwd: folder }).rigs });
    expect(refusal(find)).toContain("calibration of camera side");
    write(JSON.stringify({ ...CALIBRATION, serial: "111111111" }), "side.json");
    expect(refusal(find)).toContain("serial 111111111, but the rig has 819312070435");
    write(JSON.stringify({ ...CALIBRATION, mount: "tcp" }), "side.json");
    expect(refusal(find)).toContain('of a camera on "tcp", but the rig mounts it on "world"');
    write(JSON.stringify({ ...CALIBRATION, X_parent_camra: 1 }), "side.json");
    expect(refusal(find)).toContain('Did you mean "X_parent_camera"?');
  });
});

describe("what does not fit together is refused", () => {
  it.each<[string[], unknown, string]>([
    [["arm", "look_q_rad"], undefined, 'arm.look_q_rad is missing; it is needed, because the top-down camera "wrist"'],
    [["views", "wrist"], "scene", "must be a camera on the tool"],
    [["cameras", "wrist", "X_parent_camera"], undefined, "X_parent_camera is missing; it or calibration is needed"],
    [["arm", "X_flange_tcp"], { qw: 0.5 }, "quaternion of length 0.5000; it must be 1"],
    [["arm", "limits"], { position_min_rad: [0, 0, 3.2, 0, 0, 0] }, "must be above position_min_rad; joint 2 is not"],
    [["workspace", "max_xyz"], [0, 0, 0], "must be above"],
    [["arm", "payload_kg"], undefined, "arm.payload_kg is missing"],
    [["arm", "host"], "a host", "arm.host is"],
    [["gripper", "current_limit_a"], 3, "gripper.current_limit_a is 3; it must be a finite number from 0.05 to 2"],
  ])("%j = %j", (where, value, words) => {
    expect(refusal(() => checkRig(altered(where, value), "a rig"))).toContain(words);
  });
});

describe("rigTransform", () => {
  it("gives a rigid, right-handed matrix for every quaternion near length 1", () => {
    const one = fc.double({ min: -1, max: 1, noNaN: true });
    fc.assert(
      fc.property(fc.tuple(one, one, one, one), fc.tuple(one, one, one), (q, p) => {
        const norm = Math.hypot(...q);
        fc.pre(norm > 0.1);
        const [qx, qy, qz, qw] = q.map((value) => (value / norm) * 1.0005) as [number, number, number, number];
        const X = rigTransform({ x: p[0], y: p[1], z: p[2], qx, qy, qz, qw });
        const row = (i: number): number[] => X.slice(4 * i, 4 * i + 3);
        const dot = (a: number[], b: number[]): number => a.reduce((sum, value, k) => sum + value * (b[k] ?? 0), 0);
        for (let i = 0; i < 3; i++)
          for (let j = 0; j < 3; j++) expect(dot(row(i), row(j))).toBeCloseTo(i === j ? 1 : 0, 9);
        const [a, b, c] = [row(0), row(1), row(2)] as [number[], number[], number[]];
        const cross = [0, 1, 2].map((k) => a[(k + 1) % 3]! * b[(k + 2) % 3]! - a[(k + 2) % 3]! * b[(k + 1) % 3]!);
        expect(dot(cross, c)).toBeCloseTo(1, 9);
        expect([X[3], X[7], X[11]]).toEqual([...p]);
      }),
    );
  });

  it("turns the wrist camera's z axis towards the fingertips", () => {
    const wrist = emulatedRig().rig.cameras.wrist?.X_parent_camera;
    const X = rigTransform(wrist as NonNullable<typeof wrist>);
    expect([X[2], X[6], X[10]].map((value) => Number(value?.toFixed(3)))).toEqual([0.139, 0, 0.99]);
  });

  it("is the identity for an empty pose", () => {
    const { X_world_base } = checkRig(EMULATED_RIG satisfies RigInput, "rig").arm;
    expect(rigTransform(X_world_base)).toEqual([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
  });
});
