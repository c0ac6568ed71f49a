import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { z } from "zod";
import { Skill2RealError } from "../../../src/contract/errors.js";
import type { BackendExit } from "../../process/backend-child.js";
import { LastLines } from "../../process/last-lines.js";
import { atExit } from "./at-exit.js";

export type EmulatorProcessOptions<Ready> = {
  /** What it is, for messages: "emulated bench". */
  what: string;
  command: string;
  args: readonly string[];
  env?: NodeJS.ProcessEnv;
  /** One line for descriptor 3; secrets travel there and nowhere else. */
  secret?: string;
  /** Its first line on stdout, as JSON. */
  ready: z.ZodType<Ready>;
  startTimeoutMs: number;
  onLog?: (line: string) => void;
};

/** An order to an emulator: a fault, `{clear: true}`, `{stats: true}`, or what else its own page lists. */
export type EmulatorOrder = Record<string, unknown>;

const answerSchema = z.record(z.string(), z.unknown());

type Waiting = { resolve: (answer: EmulatorOrder) => void; reject: (error: Error) => void; timer: NodeJS.Timeout };

const KEPT_LINES = 40;
const GRACE_MS = 3000;
/** An emulator answers its orders in turn and at once; one that starts a camera anew takes a second or two. */
const ANSWER_MS = 20_000;

/**
 * One emulator in a process of its own. Its standard input is its leash: when the other end closes, because this
 * process closed it or ended in whatever way, the emulator ends too.
 */
export class EmulatorProcess<Ready> {
  readonly pid: number | undefined;
  /** Resolves when the process has ended, however it did. */
  readonly exited: Promise<BackendExit>;
  readonly #options: EmulatorProcessOptions<Ready>;
  readonly #process: ChildProcess;
  readonly #stdin: Writable;
  readonly #stderr: LastLines;
  readonly #waiting: Waiting[] = [];
  readonly #first: Promise<string>;
  readonly #leave: () => void;
  #ended = false;

  constructor(options: EmulatorProcessOptions<Ready>) {
    this.#options = options;
    this.#process = spawn(options.command, options.args, {
      // A group of its own: Ctrl-C in a terminal must not end the arm's world before the arm has been stopped.
      detached: true,
      stdio: ["pipe", "pipe", "pipe", "pipe"],
      ...(options.env ? { env: options.env } : {}),
    });
    this.pid = this.#process.pid;
    this.#stdin = this.#process.stdin as Writable;
    this.#stdin.on("error", () => {}); // one that is gone is reported by its exit
    const secrets = this.#process.stdio[3] as Writable;
    secrets.on("error", () => {});
    secrets.end(options.secret === undefined ? "" : `${options.secret}\n`);
    this.#stderr = new LastLines(this.#process.stderr as Readable, KEPT_LINES, options.onLog);
    this.#first = this.#readLines(this.#process.stdout as Readable);
    this.#leave = atExit(() => this.#process.kill("SIGKILL"));
    this.exited = this.#watch();
  }

  /** Its ready line; rejects with `backend_unreachable` and its last words where none comes. */
  async ready(): Promise<Ready> {
    const { startTimeoutMs, what, ready } = this.#options;
    let timer: NodeJS.Timeout | undefined;
    try {
      const line = await Promise.race([
        this.#first,
        this.exited.then(({ code, signal }) => {
          throw this.#unreachable(`the ${what} ended (${signal ?? `exit code ${code}`}) before it was ready`);
        }),
        new Promise<never>((_, reject) => {
          const late = () => reject(this.#unreachable(`the ${what} was not ready within ${startTimeoutMs} ms`));
          timer = setTimeout(late, startTimeoutMs);
        }),
      ]);
      const parsed = ready.safeParse(jsonOrNothing(line));
      if (parsed.success) return parsed.data;
      throw this.#unreachable(`the ${what}'s first line is not its ready line: ${line.slice(0, 200)}`);
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Gives it one order and returns its answer. Rejects with `bad_argument` and its words where it refuses, with
   * `backend_lost` where it is gone, with `deadline_exceeded` where it says nothing.
   */
  tell(order: EmulatorOrder): Promise<EmulatorOrder> {
    const { what } = this.#options;
    if (this.#ended) return Promise.reject(new Skill2RealError("backend_lost", `the ${what} has ended`));
    return new Promise((resolve, reject) => {
      const late = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(new Skill2RealError("deadline_exceeded", `the ${what} did not answer ${JSON.stringify(order)}`));
      };
      const waiting = { resolve, reject, timer: setTimeout(late, ANSWER_MS) };
      this.#waiting.push(waiting);
      this.#stdin.write(`${JSON.stringify(order)}\n`);
    });
  }

  /** The last lines that it wrote to stderr, up to now. */
  lastWords(): string {
    return this.#stderr.text();
  }

  /** Lets go of it, and kills it if it does not end. Never rejects; safe to call twice. */
  async close(): Promise<BackendExit> {
    this.#stdin.end();
    const kill = setTimeout(() => this.#process.kill("SIGKILL"), GRACE_MS);
    const exit = await this.exited;
    clearTimeout(kill);
    return exit;
  }

  /** Ends it at once. Never rejects. */
  kill(): Promise<BackendExit> {
    this.#process.kill("SIGKILL");
    return this.exited;
  }

  #readLines(stdout: Readable): Promise<string> {
    const lines = createInterface({ input: stdout });
    return new Promise((resolve) => {
      lines.once("line", (first) => {
        resolve(first);
        lines.on("line", (line) => this.#answered(line));
      });
    });
  }

  #answered(line: string): void {
    const waiting = this.#waiting.shift();
    if (!waiting) return;
    clearTimeout(waiting.timer);
    const parsed = answerSchema.safeParse(jsonOrNothing(line));
    const error = parsed.success ? parsed.data.error : `an answer that is no JSON: ${line.slice(0, 200)}`;
    if (error === undefined && parsed.success) waiting.resolve(parsed.data);
    else waiting.reject(new Skill2RealError("bad_argument", `the ${this.#options.what} refused: ${String(error)}`));
  }

  async #watch(): Promise<BackendExit> {
    const { code, signal } = await new Promise<Omit<BackendExit, "lastWords">>((resolve) => {
      this.#process.once("exit", (exit_code, exit_signal) => resolve({ code: exit_code, signal: exit_signal }));
      this.#process.once("error", () => resolve({ code: null, signal: null }));
    });
    this.#ended = true;
    this.#leave();
    await this.#stderr.ended;
    const lost = new Skill2RealError("backend_lost", `the ${this.#options.what} ended (${signal ?? `code ${code}`})`);
    for (const { reject, timer } of this.#waiting.splice(0)) {
      clearTimeout(timer);
      reject(lost);
    }
    return { code, signal, lastWords: this.lastWords() };
  }

  #unreachable(what: string): Skill2RealError {
    const words = this.lastWords();
    return new Skill2RealError(
      "backend_unreachable",
      `${what}${words ? `; its last words:\n${words}` : " and wrote nothing"}`,
    );
  }
}

function jsonOrNothing(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
