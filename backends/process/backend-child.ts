import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { z } from "zod";
import { Skill2RealError } from "../../src/contract/errors.js";
import { LastLines } from "./last-lines.js";

export type BackendExit = {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** Last lines that it wrote to stderr. */
  lastWords: string;
};

export type BackendChildOptions<Ready> = {
  /** What it is, for messages: "simulator". */
  what: string;
  command: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  /** What the process reads on descriptor 3: one line of JSON. Secrets travel there and nowhere else. */
  bootstrap: (socket_dir: string) => Record<string, unknown>;
  /** Its first line on stdout, as JSON. */
  ready: z.ZodType<Ready>;
  /** Host time until that line. */
  startTimeoutMs: number;
  onLog?: (line: string) => void;
  /** How long it may take to end by itself once this process let go of it. Default 3000. */
  graceMs?: number;
  /** True: it is not killed when this process exits, for it has an arm to bring to rest first; its leash tells it. Default false. */
  endsByItself?: boolean;
};

const KEPT_LINES = 40;
const GRACE_MS = 3000;

/**
 * A backend in a process of its own, with a private folder for its sockets. Descriptor 3 is its leash: when its other
 * end closes, because this process closed it or ended in whatever way, the backend stops and ends too.
 */
export class BackendChild<Ready> {
  /** Resolves when the process has ended, however it did. */
  readonly exited: Promise<BackendExit>;
  readonly #options: BackendChildOptions<Ready>;
  readonly #process: ChildProcess;
  readonly #stderr: LastLines;
  readonly #leash: Writable;
  readonly #dir: string;
  #closing: Promise<BackendExit> | undefined;

  constructor(options: BackendChildOptions<Ready>) {
    this.#options = options;
    sweepLeftFolders();
    // Short, because an ipc address holds at most 107 bytes; mkdtemp makes it 0700.
    this.#dir = mkdtempSync(join(tmpdir(), `s2r-${process.pid}-`));
    this.#process = spawn(options.command, options.args, {
      // A group of its own: Ctrl-C in a terminal reaches us alone, and we stop the arm before the backend ends.
      detached: true,
      stdio: ["ignore", "pipe", "pipe", "pipe"],
      env: options.env,
    });
    const { stderr, stdio } = this.#process;
    this.#stderr = new LastLines(stderr as Readable, KEPT_LINES, options.onLog);
    this.#leash = stdio[3] as Writable;
    this.#leash.on("error", () => {}); // a child that died before it read is reported by its exit
    this.#leash.write(`${JSON.stringify(options.bootstrap(this.#dir))}\n`);
    if (options.endsByItself !== true) process.once("exit", this.#killNow);
    this.exited = this.#watch();
  }

  /** The last lines that it wrote to stderr, up to now. */
  lastWords(): string {
    return this.#stderr.text();
  }

  /** Its ready line; rejects with `backend_unreachable` and its last words where none comes. */
  async ready(): Promise<Ready> {
    const { startTimeoutMs, what } = this.#options;
    let timer: NodeJS.Timeout | undefined;
    try {
      return await Promise.race([
        this.#readyLine(),
        this.exited.then(({ code, signal }) => {
          throw this.#failure(`the ${what} ended (${signal ?? `exit code ${code}`}) before it was ready`);
        }),
        new Promise<never>((_, reject) => {
          const late = () => reject(this.#failure(`the ${what} was not ready within ${startTimeoutMs} ms`));
          timer = setTimeout(late, startTimeoutMs);
        }),
      ]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Asks it to end, kills it if it does not, and removes its socket folder. Never rejects; safe to call twice. */
  close(): Promise<BackendExit> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  /** Ends it at once, for one that does not answer. Never rejects. */
  kill(): Promise<BackendExit> {
    this.#process.kill("SIGKILL");
    return this.close();
  }

  #readyLine(): Promise<Ready> {
    const { ready, what } = this.#options;
    return new Promise((resolve, reject) => {
      const lines = createInterface({ input: this.#process.stdout as Readable });
      lines.once("line", (line) => {
        const parsed = ready.safeParse(jsonOrNothing(line));
        if (parsed.success) resolve(parsed.data);
        else reject(this.#failure(`the ${what}'s first line is not its ready line: ${line.slice(0, 200)}`));
      });
    });
  }

  async #end(): Promise<BackendExit> {
    this.#leash.end();
    const kill = setTimeout(() => this.#process.kill("SIGKILL"), this.#options.graceMs ?? GRACE_MS);
    const exit = await this.exited;
    clearTimeout(kill);
    return exit;
  }

  async #watch(): Promise<BackendExit> {
    const { code, signal } = await new Promise<Omit<BackendExit, "lastWords">>((resolve) => {
      this.#process.once("exit", (exit_code, exit_signal) => resolve({ code: exit_code, signal: exit_signal }));
      this.#process.once("error", () => resolve({ code: null, signal: null }));
    });
    process.off("exit", this.#killNow);
    this.#leash.destroy();
    await this.#stderr.ended;
    rmSync(this.#dir, { recursive: true, force: true });
    return { code, signal, lastWords: this.lastWords() };
  }

  readonly #killNow = (): void => {
    this.#process.kill("SIGKILL");
    rmSync(this.#dir, { recursive: true, force: true });
  };

  #failure(what: string): Skill2RealError {
    const words = this.lastWords();
    return new Skill2RealError(
      "backend_unreachable",
      `${what}${words ? `; its last words:\n${words}` : " and wrote nothing"}`,
    );
  }
}

/** Removes the socket folders of processes that were killed before they could. */
function sweepLeftFolders(): void {
  for (const name of readdirSync(tmpdir())) {
    const owner = /^s2r-(\d+)-/.exec(name)?.[1];
    if (owner === undefined || existsSync(`/proc/${owner}`) || !existsSync("/proc/self")) continue;
    try {
      rmSync(join(tmpdir(), name), { recursive: true, force: true });
    } catch {
      // Another user's, or another process sweeps at this moment.
    }
  }
}

function jsonOrNothing(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
