import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { z } from "zod";
import { emulatedRig } from "../../../src/config/index.js";
import { Skill2RealError } from "../../../src/contract/errors.js";
import { packageFile } from "../../../src/contract/package-root.js";
import { EmulatorProcess } from "./emulator-process.js";

const numbers = (count: number) => z.array(z.number()).length(count);

const benchReadySchema = z.looseObject({
  ready: z.literal(true),
  plant: z.string(),
  frames: z.string(),
  privileged: z.string(),
  wrench: z.object({ bias: numbers(6), noise_n: z.number(), noise_nm: z.number() }),
});
const controllerReadySchema = z.looseObject({ ready: z.literal(true) });
const gripperReadySchema = z.looseObject({ ready: z.literal(true), path: z.string() });

export type BenchReady = z.infer<typeof benchReadySchema>;
export type GripperReady = z.infer<typeof gripperReadySchema>;

type Common = {
  startTimeoutMs: number;
  onLog?: (line: string) => void;
};

const python = (): string => needed(packageFile(".venvs", "twin", "bin", "python"));
const controller = (): string => needed(packageFile("build", "Release", "ur-controller"));

function needed(program: string): string {
  if (!existsSync(program))
    throw new Skill2RealError("setup_incomplete", `${program} is missing: run "npm run setup -- --native"`);
  return program;
}

/** Throws `setup_incomplete` where a program of the emulators is missing. */
export function requirePrograms(): void {
  python();
  controller();
}

const pythonEnvironment = (...folders: string[]): NodeJS.ProcessEnv => ({
  OPENBLAS_NUM_THREADS: "1",
  OMP_NUM_THREADS: "1",
  ...process.env,
  PYTHONPATH: folders.join(delimiter),
  PYTHONUNBUFFERED: "1",
});

/** The plant, the cameras and the privileged plane. */
export function startBench(options: Common & { dir: string; seed: number; token: Buffer; scene?: SceneOptions }) {
  const { dir, seed, token, scene, ...common } = options;
  const of_scene = scene ? ["--seed", String(scene.seed), "--variant", scene.variant ?? ""] : [];
  return new EmulatorProcess<BenchReady>({
    ...common,
    what: "emulated bench",
    command: python(),
    args: ["-m", "skill2real_bench", "--socket-dir", dir, "--rig-seed", String(seed), "--token-fd", "3", ...of_scene],
    env: pythonEnvironment(packageFile("backends", "sim", "server"), packageFile("backends", "emulators", "bench")),
    secret: token.toString("hex"),
    ready: benchReadySchema,
  });
}

/** What lies on the table before the first reset; without it nothing does. */
export type SceneOptions = { seed: number; variant?: string };

/** The arm's controller at `host`, on the ports that its clients know by heart. */
export function startController(options: Common & { host: string; seed: number; bench: BenchReady }) {
  const { host, seed, bench, ...common } = options;
  const { bias, noise_n, noise_nm } = bench.wrench;
  return new EmulatorProcess({
    ...common,
    what: "emulated controller",
    command: controller(),
    args: [
      ...["--host", host, "--plant", bench.plant, "--realtime", "ignore", "--seed", String(seed % 2 ** 31)],
      ...["--wrench-bias", ...bias.map(String)],
      ...["--wrench-noise-n", String(noise_n), "--wrench-noise-nm", String(noise_nm)],
    ],
    ready: controllerReadySchema,
  });
}

/** The gripper behind a pseudo-terminal, which `link` in `dir` points to. */
export function startGripper(options: Common & { dir: string; bench: BenchReady }) {
  const { dir, bench, ...common } = options;
  return new EmulatorProcess<GripperReady>({
    ...common,
    what: "emulated gripper",
    command: python(),
    args: ["-m", "skill2real_pika", "--plant", bench.plant, "--link", join(dir, "pika"), ...forcePerAmp()],
    env: pythonEnvironment(packageFile("backends", "emulators", "pika")),
    ready: gripperReadySchema,
  });
}

/** The plant's force at a current is what the built-in rig's configuration takes it for. */
function forcePerAmp(): string[] {
  const { gripper } = emulatedRig().rig;
  return gripper ? ["--newton-per-amp", String(gripper.max_force_n / gripper.current_limit_a)] : [];
}
