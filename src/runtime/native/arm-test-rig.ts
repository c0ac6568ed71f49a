import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { packageFile } from "../../contract/package-root.js";
import type { ArmDriverOptions } from "./arm.js";

const HALF_PI = Math.PI / 2;
/** Joints that the emulated controller starts with. */
export const START_Q_RAD = [0, -HALF_PI, HALF_PI, -HALF_PI, -HALF_PI, 0] as const;

/** One servo setpoint or stop as it reached the controller. */
export type ArrivedSetpoint = { arrival_s: number; command: number; q_rad: number[]; q_actual_rad: number[] };

/** An emulated controller on a loopback address of its own, for tests of the arm's driver. */
export class TestController {
  readonly host: string;
  readonly #process: ChildProcess;
  readonly #answers: ((answer: Record<string, unknown>) => void)[] = [];

  private constructor(host: string, process: ChildProcess) {
    this.host = host;
    this.#process = process;
  }

  static async start(args: readonly string[] = []): Promise<TestController> {
    // Standard ports: ur_rtde knows no others. Each controller has its own address of the loopback net.
    const part = () => 1 + Math.floor(Math.random() * 253);
    const host = `127.${part()}.${part()}.${part()}`;
    const child = spawn(packageFile("build", "Release", "ur-controller"), ["--host", host, ...args], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const controller = new TestController(host, child);
    const ready = new Promise<void>((resolve, reject) => {
      child.once("error", reject);
      child.once("exit", (code) => reject(new Error(`ur-controller ended with ${code}`)));
      createInterface({ input: child.stdout }).on("line", (line) => {
        const message = JSON.parse(line) as Record<string, unknown>;
        if (message.ready === true) resolve();
        else controller.#answers.shift()?.(message);
      });
    });
    await ready;
    return controller;
  }

  ask(request: Record<string, unknown>): Promise<Record<string, unknown>> {
    return new Promise((resolve, reject) => {
      this.#answers.push((answer) => {
        if ("error" in answer) reject(new Error(String(answer.error)));
        else resolve(answer);
      });
      this.#process.stdin?.write(`${JSON.stringify(request)}\n`);
    });
  }

  async setpoints(file: string): Promise<ArrivedSetpoint[]> {
    await this.ask({ dump: "setpoints", path: file });
    const [head = "", ...rows] = readFileSync(file, "utf8").trim().split("\n");
    const columns = head.split(",");
    const at = (name: string) => columns.findIndex((column) => column.startsWith(name));
    const setpoint = at("setpoint_0") >= 0 ? at("setpoint_0") : at("q_setpoint_0");
    const actual = at("actual_0") >= 0 ? at("actual_0") : at("q_actual_0");
    return rows.map((row) => {
      const numbers = row.split(",").map(Number);
      return {
        arrival_s: numbers[0] ?? Number.NaN,
        command: numbers[2] ?? -1,
        q_rad: numbers.slice(setpoint, setpoint + 6),
        q_actual_rad: numbers.slice(actual, actual + 6),
      };
    });
  }

  signal(name: NodeJS.Signals): void {
    this.#process.kill(name);
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const gone = new Promise((resolve) => this.#process.once("exit", resolve));
    this.#process.stdin?.end();
    await gone;
  }
}

/** What the tests open an emulated arm with. */
export function testArmOptions(host: string, more: Partial<ArmDriverOptions> = {}): ArmDriverOptions {
  return {
    host,
    realtime: "ignore",
    // The controller shares these processors, which lose a moment now and then; what 3 do, the C++ suites show.
    stale_cycles: 12,
    payload_kg: 0.65,
    payload_cog_m: [0.0034, 0, 0.072],
    X_flange_tcp: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0.17, 0, 0, 0, 1],
    ...more,
  };
}

/** Joint 1 from `from` by `travel_rad`, smooth (quintic), in `duration_s`; the other joints stand. */
export function swing(
  from: ArrayLike<number>,
  travel_rad: number,
  duration_s: number,
): { time_s: Float64Array; q_rad: Float64Array } {
  const count = Math.ceil(duration_s / 0.01) + 1;
  const time_s = new Float64Array(count);
  const q_rad = new Float64Array(6 * count);
  for (let i = 0; i < count; i++) {
    const u = i / (count - 1);
    time_s[i] = u * duration_s;
    for (let joint = 0; joint < 6; joint++) q_rad[6 * i + joint] = from[joint] ?? 0;
    q_rad[6 * i] = (from[0] ?? 0) + travel_rad * u ** 3 * (10 - 15 * u + 6 * u * u);
  }
  return { time_s, q_rad };
}
