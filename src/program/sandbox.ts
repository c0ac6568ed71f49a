import { z } from "zod";
import { Skill2RealError } from "../contract/errors.js";
import type { GuestHost } from "./guest-host.js";
import { GuestProcess } from "./guest-process.js";
import { type GuestCommand, guestCommand, type Isolation } from "./isolation.js";
import type { KillCode } from "./kill-codes.js";
import { type Quotas, resolveQuotas } from "./quotas.js";
import type { PrintedLine, RunResult } from "./run-result.js";
import { SandboxRun } from "./sandbox-run.js";

export type SandboxOptions = {
  /** Changes to `DEFAULT_QUOTAS` for every program of this sandbox. */
  quotas?: Partial<Quotas>;
};

export type RunOptions = {
  /** What `ProgramChecker.check` gave: the body of an async function. */
  javascript: string;
  /** Named in errors. */
  fileName?: string;
  /** The operations that exist on `robot`. */
  names: readonly string[];
  /**
   * Those of `names` whose results carry a `status`: a call that the guest itself refuses (NaN, a path too long) gives them
   * `{ status, message }`; the others throw `RobotError(status)`.
   */
  statusNames?: readonly string[];
  /** Seeds `Math.random`: an integer of 32 bits. */
  seed: number;
  /** Device time at the start; `Date` counts from it. */
  startTime_s?: number;
  /** Changes to the sandbox's quotas for this program. */
  quotas?: Partial<Quotas>;
  host: GuestHost;
  onPrint?(line: PrintedLine): void;
  /**
   * The program is about to be killed, or its process ends: no call reaches the host any more, and `run` resolves once the
   * process is gone. The moment to stop what the program set moving.
   */
  onKill?(code: KillCode): void;
  /** Stops the program: no call reaches the host any more, then the guest is killed. Stop the backend first. */
  signal?: AbortSignal;
};

const runSchema = z.object({
  javascript: z.string(),
  fileName: z.string().min(1).max(200),
  names: z.array(z.string().regex(/^(?!__proto__$)[A-Za-z_$][\w$]*$/, "must be an identifier")),
  statusNames: z.array(z.string()),
  seed: z.number().int().nonnegative().max(0xffffffff),
  startTime_s: z.number().finite(),
});

const RENEW_AFTER_MS = 100;

/**
 * Runs checked programs, one at a time, in a locked child process that is kept warm. A program that returned or threw
 * leaves its process to the next one, which gets a fresh interpreter; a killed program takes its process with it.
 */
export class Sandbox {
  readonly isolation: Isolation;
  readonly #command: GuestCommand;
  readonly #quotas: Quotas;
  #warm: Promise<GuestProcess>;
  #run: SandboxRun | undefined;
  #pid: number | undefined;
  #busy = false;
  #closed = false;

  private constructor(command: GuestCommand, quotas: Quotas) {
    this.isolation = command.isolation;
    this.#command = command;
    this.#quotas = quotas;
    this.#warm = this.#start();
  }

  /** @throws Skill2RealError `setup_incomplete` or `guest_failed` where the child process cannot be started. */
  static async create(options: SandboxOptions = {}): Promise<Sandbox> {
    const quotas = resolveQuotas(options.quotas);
    const sandbox = new Sandbox(await guestCommand(quotas.memory_MB), quotas);
    await sandbox.#warm;
    return sandbox;
  }

  /** Runs one program to its end. What the program does is in the result; only a defect of the host's own code rejects. */
  async run(options: RunOptions): Promise<RunResult> {
    if (this.#closed) throw new Skill2RealError("session_closed", "the sandbox is closed");
    if (this.#busy)
      throw new Skill2RealError("bad_argument", "a program is already running in this sandbox: one at a time");
    const { fileName = "program.ts", startTime_s = 0, statusNames = [], signal, host, onPrint, onKill } = options;
    const quotas = resolveQuotas(options.quotas, this.#quotas);
    const parsed = runSchema.safeParse({ ...options, fileName, startTime_s, statusNames });
    if (!parsed.success) {
      const issue = parsed.error.issues[0];
      throw new Skill2RealError("bad_argument", `${issue?.path.join(".")}: ${issue?.message}`);
    }
    this.#busy = true;
    try {
      const process = await this.#take();
      process.setReferenced(true);
      const run = new SandboxRun(process, { ...parsed.data, quotas, host, onPrint, onKill });
      this.#run = run;
      this.#pid = process.pid;
      const stop = (): void => run.stop("a stop was asked for");
      if (signal?.aborted || this.#closed) stop();
      else signal?.addEventListener("abort", stop, { once: true });
      try {
        return await run.done;
      } finally {
        signal?.removeEventListener("abort", stop);
        process.setReferenced(false);
        if (process.gone) this.#renewSoon();
      }
    } finally {
      this.#run = undefined;
      this.#pid = undefined;
      this.#busy = false;
    }
  }

  /** Process id of the guest while a program runs. */
  get pid(): number | undefined {
    return this.#pid;
  }

  /** Stops the running program, if any; its `run` ends as `stopped` once the process is gone. */
  kill(): void {
    this.#run?.stop("the guest was killed");
  }

  /** Stops the running program and ends the child process. */
  async close(): Promise<void> {
    this.#closed = true;
    const run = this.#run;
    this.kill();
    await run?.done.catch(() => {});
    await this.#warm.then(
      (process) => process.kill(),
      () => {},
    );
  }

  /**
   * A new child in place of a dead one, but not at once: starting a process holds this one up for tens of milliseconds, and
   * whoever hears of the end of a program has an arm to stop.
   */
  #renewSoon(): void {
    const dead = this.#warm;
    setTimeout(() => {
      if (!this.#closed && this.#warm === dead) this.#warm = this.#start();
    }, RENEW_AFTER_MS).unref();
  }

  async #take(): Promise<GuestProcess> {
    const process = await this.#warm.catch(() => undefined);
    if (process !== undefined && !process.gone) return process;
    this.#warm = this.#start();
    return this.#warm;
  }

  #start(): Promise<GuestProcess> {
    const started = GuestProcess.start(this.#command).then((process) => {
      process.setReferenced(false);
      return process;
    });
    // whoever takes it hears of a failure; until then it must not count as unhandled
    started.catch(() => {});
    return started;
  }
}
