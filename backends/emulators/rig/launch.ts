import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { emulatedRig, type Rig } from "../../../src/config/index.js";
import { Skill2RealError } from "../../../src/contract/errors.js";
import type { BackendExit } from "../../process/backend-child.js";
import { atExit } from "./at-exit.js";
import type { EmulatorOrder, EmulatorProcess } from "./emulator-process.js";
import { freeLoopbackHost } from "./loopback-host.js";
import {
  type BenchReady,
  requirePrograms,
  type SceneOptions,
  startBench,
  startController,
  startGripper,
} from "./parts.js";

export const RIG_PARTS = ["bench", "controller", "gripper"] as const;
export type RigPart = (typeof RIG_PARTS)[number];

export type EmulatedRigOptions = {
  /** Which hidden errors the rig has: kinematics, mounts of its cameras, latencies, force sensor. Default 0. */
  seed?: number;
  /** What lies on the table before the first reset; default nothing. */
  scene?: SceneOptions;
  /** Gets each line that a part writes to stderr. */
  onLog?: (part: RigPart, line: string) => void;
  /** Host time until each part is ready. Default 30000. */
  startTimeoutMs?: number;
};

const optionsSchema = z.strictObject({
  seed: z.int().min(0).max(Number.MAX_SAFE_INTEGER).default(0),
  scene: z
    .strictObject({ seed: z.int().min(0).max(Number.MAX_SAFE_INTEGER), variant: z.string().max(64).optional() })
    .optional(),
  onLog: z.custom<(part: RigPart, line: string) => void>((value) => typeof value === "function").optional(),
  startTimeoutMs: z.number().min(1).max(600_000).default(30_000),
});
type Options = z.output<typeof optionsSchema>;

const TOKEN_BYTES = 32;
/** Another process may bind a host's ports between the look and the controller's start. */
const HOST_TRIES = 3;

type Parts = {
  bench: EmulatorProcess<BenchReady>;
  controller: EmulatorProcess<unknown>;
  gripper: EmulatorProcess<unknown>;
};
type Found = { dir: string; host: string; gripperPath: string; bench: BenchReady; token: Buffer };

/**
 * A whole emulated rig: bench (plant and cameras), controller and gripper, each in a process of its own that ends with
 * this one. The robot side reaches it by real protocols alone; resets and verdicts go through the privileged plane.
 */
export class EmulatedRig {
  /** The built-in rig with the addresses of these emulators. */
  readonly rig: Rig;
  readonly controllerHost: string;
  /** A link that follows the gripper's pseudo-terminal. */
  readonly gripperPath: string;
  /** Where the bench serves frames. */
  readonly framesAddress: string;
  /** Plant memory, for whoever measures the plant itself. */
  readonly plantPath: string;
  /** Hand this to the evaluator alone. */
  readonly privileged: { address: string; token: Buffer };
  /** Resolves when the first part has ended, however it did. */
  readonly exited: Promise<BackendExit & { part: RigPart }>;
  readonly #parts: Parts;
  readonly #dir: string;
  readonly #leave: () => void;

  /**
   * Rejects with `setup_incomplete` where an emulator is not built, and with `backend_unreachable` and a part's last
   * words where it does not start.
   */
  static async start(options: EmulatedRigOptions = {}): Promise<EmulatedRig> {
    const parsed = optionsSchema.safeParse(options);
    if (!parsed.success)
      throw new Skill2RealError("bad_argument", `cannot start an emulated rig: ${z.prettifyError(parsed.error)}`);
    requirePrograms();
    // Short, because an ipc address holds at most 107 bytes; mkdtemp makes it 0700.
    const dir = mkdtempSync(join(tmpdir(), `s2r-${process.pid}-`));
    const started: EmulatorProcess<unknown>[] = [];
    try {
      return await startParts(parsed.data, dir, started);
    } catch (error) {
      await Promise.all(started.map((part) => part.close()));
      rmSync(dir, { recursive: true, force: true });
      throw error;
    }
  }

  /** @internal Use `start`. */
  constructor(parts: Parts, { dir, host, gripperPath, bench, token }: Found) {
    this.#parts = parts;
    this.#dir = dir;
    this.controllerHost = host;
    this.gripperPath = gripperPath;
    this.framesAddress = bench.frames;
    this.plantPath = bench.plant;
    this.privileged = { address: bench.privileged, token };
    this.rig = withAddresses(emulatedRig().rig, { host, gripperPath, frames: bench.frames });
    const ends = RIG_PARTS.map(async (part) => ({ part, ...(await parts[part].exited) }));
    this.exited = Promise.race(ends);
    this.#leave = atExit(() => this.#removeDir());
  }

  /** Breaks something: `{fault: NAME, …}`, as the part's own page lists it. Rejects with `bad_argument` where it cannot. */
  async fault(part: RigPart, order: EmulatorOrder): Promise<void> {
    await this.#parts[part].tell(order);
  }

  /** Mends what `fault` broke, in one part or in all that still run. */
  async clear(part?: RigPart): Promise<void> {
    const parts = part === undefined ? RIG_PARTS : [part];
    for (const one of parts) await this.#parts[one].tell({ clear: true });
  }

  /** An order of the part's own (`{set: {speed_slider: 0.5}}` of the controller) with its answer. */
  tell(part: RigPart, order: EmulatorOrder): Promise<EmulatorOrder> {
    return this.#parts[part].tell(order);
  }

  /** What the parts measured of themselves: timing of the plant and of the controller's cycle, exposures, bytes. */
  async stats(): Promise<Record<RigPart, unknown>> {
    const [bench, controller, gripper] = await Promise.all(
      RIG_PARTS.map(async (part) => {
        const answer = await this.#parts[part].tell({ stats: true });
        return answer.stats ?? answer;
      }),
    );
    return { bench, controller, gripper };
  }

  pid(part: RigPart): number | undefined {
    return this.#parts[part].pid;
  }

  lastWords(part: RigPart): string {
    return this.#parts[part].lastWords();
  }

  /** Ends all parts, the plant last, and removes the private folder. Never rejects; safe to call twice. */
  async close(): Promise<void> {
    await Promise.all([this.#parts.controller.close(), this.#parts.gripper.close()]);
    await this.#parts.bench.close();
    this.#leave();
    this.#removeDir();
  }

  /** Ends all parts at once. Never rejects. */
  async kill(): Promise<void> {
    await Promise.all(RIG_PARTS.map((part) => this.#parts[part].kill()));
    this.#leave();
    this.#removeDir();
  }

  #removeDir(): void {
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

async function startParts(options: Options, dir: string, started: EmulatorProcess<unknown>[]): Promise<EmulatedRig> {
  const { seed, scene, onLog, startTimeoutMs } = options;
  const common = (part: RigPart) => ({
    startTimeoutMs,
    ...(onLog ? { onLog: (line: string) => onLog(part, line) } : {}),
  });
  const token = randomBytes(TOKEN_BYTES);
  const bench_process = startBench({
    ...common("bench"),
    dir,
    seed,
    token,
    ...(scene ? { scene: sceneOf(scene) } : {}),
  });
  started.push(bench_process);
  const bench = await bench_process.ready();
  const gripper = startGripper({ ...common("gripper"), dir, bench });
  started.push(gripper);
  const gripper_ready = gripper.ready();
  gripper_ready.catch(() => {}); // awaited below, after what may fail before it
  const { host, controller } = await startControllerSomewhere(async (at) => {
    const one = startController({ ...common("controller"), host: at, seed, bench });
    started.push(one);
    await one.ready();
    return one;
  });
  await gripper_ready;
  const parts = { bench: bench_process, controller, gripper };
  return new EmulatedRig(parts, { dir, host, gripperPath: join(dir, "pika"), bench, token });
}

const sceneOf = ({ seed, variant }: NonNullable<Options["scene"]>): SceneOptions =>
  variant === undefined ? { seed } : { seed, variant };

async function startControllerSomewhere<T>(
  start: (host: string) => Promise<T>,
): Promise<{ host: string; controller: T }> {
  for (let tried = 1; ; tried += 1) {
    const host = await freeLoopbackHost();
    try {
      return { host, controller: await start(host) };
    } catch (error) {
      if (tried >= HOST_TRIES) throw error;
    }
  }
}

function withAddresses(rig: Rig, at: { host: string; gripperPath: string; frames: string }): Rig {
  const cameras = Object.entries(rig.cameras).map(([name, camera]) => [
    name,
    camera.source === "plant" ? { ...camera, address: at.frames } : camera,
  ]);
  return {
    ...rig,
    arm: { ...rig.arm, host: at.host },
    ...(rig.gripper ? { gripper: { ...rig.gripper, path: at.gripperPath } } : {}),
    cameras: Object.fromEntries(cameras),
  };
}
