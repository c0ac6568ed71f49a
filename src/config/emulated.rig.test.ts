import { execFileSync } from "node:child_process";
import { delimiter } from "node:path";
import { expect, it } from "vitest";
import { packageFile } from "../contract/package-root.js";
import { emulatedRig, rigTransform } from "./index.js";

type Described = {
  look_q_rad: number[];
  cameras: Record<string, { serial: string; mount: string; X_parent_camera: number[]; width: number; height: number }>;
};

it("the built-in rig is the bench's own description of its nominal cameras and look pose", () => {
  const folders = [packageFile("backends", "emulators", "bench"), packageFile("backends", "sim", "server")];
  const text = execFileSync(packageFile(".venvs", "twin", "bin", "python"), ["-m", "skill2real_bench", "--describe"], {
    env: { ...process.env, PYTHONPATH: folders.join(delimiter) },
    encoding: "utf8",
    timeout: 60_000,
  });
  const bench = JSON.parse(text) as Described;
  const { rig } = emulatedRig();
  expect(rig.arm.look_q_rad).toEqual(bench.look_q_rad);
  expect(Object.keys(rig.cameras).sort()).toEqual(Object.keys(bench.cameras).sort());
  for (const [name, described] of Object.entries(bench.cameras)) {
    const camera = rig.cameras[name];
    expect(camera).toMatchObject({ serial: described.serial, mount: described.mount, width: described.width });
    const X = rigTransform(camera?.X_parent_camera as NonNullable<NonNullable<typeof camera>["X_parent_camera"]>);
    for (const [i, value] of described.X_parent_camera.entries()) expect(X[i]).toBeCloseTo(value, 9);
  }
});
