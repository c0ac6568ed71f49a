import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { compiledModule, packageFile } from "../../src/contract/package-root.js";
import type { DeviceAddresses } from "../../src/runtime/device/device.js";
import { descendants, until } from "./processes.js";

export type CommandEnd = { code: number | null; signal: NodeJS.Signals | null; ended_ms: number };

export type CommandOptions = {
  /** Starts it below a shell that stays, as npm does: that shell's arguments hold the whole command. */
  shell?: boolean;
  /** Arguments of node itself. */
  node?: readonly string[];
  env?: NodeJS.ProcessEnv;
  cwd?: string;
};

/** The command line in a process of its own, as a user starts it. */
export class CommandLine {
  readonly ended: Promise<CommandEnd>;
  stdout = "";
  stderr = "";
  readonly #child: ChildProcess;

  constructor(args: readonly string[], options: CommandOptions = {}) {
    const needed = compiledModule("src/cli/main.ts");
    if (!existsSync(needed)) throw new Error(`${needed} is missing: run "npm run build" first`);
    const command = [process.execPath, ...(options.node ?? []), packageFile("bin", "skill2real.js"), ...args];
    const [file, ...rest] = options.shell ? ["sh", "-c", '"$0" "$@"; exit $?', ...command] : command;
    this.#child = spawn(file as string, rest, {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...options.env },
      ...(options.cwd ? { cwd: options.cwd } : {}),
    });
    this.#child.stdout!.on("data", (chunk) => {
      this.stdout += chunk;
    });
    this.#child.stderr!.on("data", (chunk) => {
      this.stderr += chunk;
    });
    this.ended = new Promise((resolve, reject) => {
      this.#child.once("error", reject);
      this.#child.once("close", (code, signal) => resolve({ code, signal, ended_ms: performance.now() }));
    });
  }

  get pid(): number {
    return this.#child.pid!;
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** The public addresses of its backend, by the note that it leaves for `skill2real stop`. */
  addresses(): Promise<DeviceAddresses> {
    const notes = join(tmpdir(), `skill2real-${userInfo().uid}`, "live");
    return until(`the backend of process ${this.pid}`, () => {
      if (!this.running) throw new Error(`the command has ended: ${this.stderr}`);
      const note = [this.pid, ...descendants(this.pid)]
        .map((pid) => join(notes, `${pid}.json`))
        .find((path) => existsSync(path));
      if (note === undefined) return null;
      try {
        return (JSON.parse(readFileSync(note, "utf8")) as { addresses: DeviceAddresses }).addresses;
      } catch {
        return null; // half written
      }
    });
  }
}
