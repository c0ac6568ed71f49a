import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { packageFile } from "../../contract/package-root.js";
import type { GripperDriver, GripperEvent } from "./gripper.js";

const PYTHON = packageFile(".venvs", "twin", "bin", "python");

/** Why the tests with an emulated gripper cannot run here; undefined where they can. */
export const missingForGripperTests = (): string | undefined => {
  if (!existsSync(packageFile("build", "Release", "gripper.node"))) return "gripper.node is not built";
  return existsSync(PYTHON) ? undefined : ".venvs/twin is not installed";
};

type Reply = { ready?: true; done?: string; error?: string; stats?: GripperTruth };
export type GripperTruth = {
  opening_m: number;
  current_a: number;
  target_rad: number;
  limit_a: number;
  limits_a: number[];
  enabled: boolean;
  host: boolean;
  path: string;
  counts: Record<string, number>;
  unknown: Record<string, number>;
};

/** One emulated gripper, for tests. */
export class GripperTestDevice {
  readonly link: string;
  readonly #folder: string;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting: ((reply: Reply) => void)[] = [];

  private constructor(folder: string, args: readonly string[]) {
    this.#folder = folder;
    this.link = join(folder, "gripper");
    this.#child = spawn(PYTHON, ["-m", "skill2real_pika", "--link", this.link, ...args], {
      env: { ...process.env, PYTHONPATH: packageFile("backends", "emulators", "pika") },
    });
    this.#child.stderr.pipe(process.stderr);
    createInterface({ input: this.#child.stdout }).on("line", (line) =>
      this.#waiting.shift()?.(JSON.parse(line) as Reply),
    );
  }

  static async start(...args: string[]): Promise<GripperTestDevice> {
    const device = new GripperTestDevice(mkdtempSync(join(tmpdir(), "s2r-gripper-")), args);
    await device.#next();
    return device;
  }

  #next(): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const ended = (code: number | null): void => reject(new Error(`the emulated gripper ended (${code})`));
      this.#child.once("exit", ended);
      this.#waiting.push((reply) => {
        this.#child.off("exit", ended);
        resolve(reply);
      });
    });
  }

  async #ask(line: object): Promise<Reply> {
    const reply = this.#next();
    this.#child.stdin.write(`${JSON.stringify(line)}\n`);
    const got = await reply;
    if (got.error !== undefined) throw new Error(got.error);
    return got;
  }

  async fault(fault: string, parameters: Record<string, number> = {}): Promise<void> {
    await this.#ask({ fault, ...parameters });
  }

  async clear(): Promise<void> {
    await this.#ask({ clear: true });
  }

  async truth(): Promise<GripperTruth> {
    const { stats } = await this.#ask({ stats: true });
    if (!stats) throw new Error("the emulated gripper told no stats");
    return stats;
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const ended = new Promise((resolve) => this.#child.once("exit", resolve));
      this.#child.stdin.end();
      await ended;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** The driver's next event that `wanted` takes. */
export function nextEvent<T extends GripperEvent["type"]>(
  driver: GripperDriver,
  type: T,
  wanted: (event: Extract<GripperEvent, { type: T }>) => boolean = () => true,
): Promise<Extract<GripperEvent, { type: T }>> {
  return new Promise((resolve) => {
    const off = driver.onEvent((event) => {
      const typed = event as Extract<GripperEvent, { type: T }>;
      if (event.type !== type || !wanted(typed)) return;
      off();
      resolve(typed);
    });
  });
}
