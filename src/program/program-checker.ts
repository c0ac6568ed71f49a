import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { Skill2RealError } from "../contract/errors.js";
import { compiledModule } from "../contract/package-root.js";
import type { CheckReply, CheckRequest } from "./check-worker.js";
import type { CheckResult } from "./diagnostic.js";

export type ProgramCheckerOptions = {
  /** Text of the `.d.ts` that programs are checked against; it declares `robot`. */
  declarations: string;
  /** Names on `robot`, for suggestions; by default those of its declared type. */
  names?: readonly string[];
  /** Wall time after which a check is given up (`too_complex`). */
  timeout_s?: number;
};

type Job = CheckRequest & { resolve(result: CheckResult): void; reject(error: unknown): void };

/** Checks programs in a thread of its own, one after the other. A check that hangs costs the thread, which is then replaced. */
export class ProgramChecker {
  readonly #options: Required<Omit<ProgramCheckerOptions, "names">> & Pick<ProgramCheckerOptions, "names">;
  readonly #queue: Job[] = [];
  #worker: Promise<Worker>;
  #working = false;
  #closed = false;
  /** The newest result of a whole check: who proposes a program checks it first, and its stage does again. */
  #newest: (CheckRequest & { result: CheckResult }) | null = null;

  private constructor(options: ProgramCheckerOptions) {
    this.#options = { timeout_s: 10, ...options };
    this.#worker = this.#start();
  }

  /** @throws Skill2RealError `bad_argument` where the declarations do not compile. */
  static async create(options: ProgramCheckerOptions): Promise<ProgramChecker> {
    const checker = new ProgramChecker(options);
    await checker.#worker;
    return checker;
  }

  /** Parses, type-checks and strips one program; what is wrong with it is in the result. The same program again costs nothing. */
  check(source: string, fileName = "program.ts"): Promise<CheckResult> {
    if (this.#closed) return Promise.reject(new Skill2RealError("session_closed", "the program checker is closed"));
    return new Promise((resolve, reject) => {
      this.#queue.push({ source, fileName, resolve, reject });
      void this.#work();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const job of this.#queue.splice(0))
      job.reject(new Skill2RealError("session_closed", "the program checker is closed"));
    const worker = await this.#worker.catch(() => undefined);
    await worker?.terminate();
  }

  async #work(): Promise<void> {
    if (this.#working) return;
    this.#working = true;
    for (let job = this.#queue.shift(); job !== undefined; job = this.#queue.shift()) {
      try {
        job.resolve(await this.#checkOne(job));
      } catch (error) {
        job.reject(error);
      }
    }
    this.#working = false;
  }

  async #checkOne({ source, fileName }: CheckRequest): Promise<CheckResult> {
    const known = this.#newest;
    if (known?.source === source && known.fileName === fileName) return known.result;
    const worker = await this.#worker;
    const { timeout_s } = this.#options;
    let timer: NodeJS.Timeout | undefined;
    const timedOut = new Promise<CheckReply>((resolve) => {
      timer = setTimeout(() => resolve({ exhausted: `its check took longer than ${timeout_s} s` }), timeout_s * 1e3);
    });
    worker.ref();
    worker.postMessage({ source, fileName } satisfies CheckRequest);
    const reply = await Promise.race([nextReply(worker), timedOut]);
    clearTimeout(timer);
    worker.unref();
    if ("result" in reply) {
      this.#newest = { source, fileName, result: reply.result };
      return reply.result;
    }
    await worker.terminate();
    this.#worker = this.#start();
    if (!("exhausted" in reply)) {
      throw new Skill2RealError(
        "internal",
        `the checker failed: ${"failed" in reply ? reply.failed : "unexpected reply"}`,
      );
    }
    const message = `the program is too complex to check: ${reply.exhausted}`;
    return { ok: false, diagnostics: [{ file: fileName, line: 1, column: 1, code: "too_complex", message }] };
  }

  #start(): Promise<Worker> {
    const started = this.#startWorker();
    started.catch(() => {});
    return started;
  }

  async #startWorker(): Promise<Worker> {
    const entry = compiledModule("src/program/check-worker.ts");
    if (!existsSync(entry)) throw new Skill2RealError("setup_incomplete", `${entry} is missing: run "npm run build"`);
    const { declarations, names } = this.#options;
    const worker = new Worker(entry, {
      workerData: { declarations, names },
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 512 },
    });
    const reply = await nextReply(worker);
    if (!("ready" in reply))
      throw new Skill2RealError("bad_argument", "failed" in reply ? reply.failed : "the declarations are too complex");
    worker.unref();
    return worker;
  }
}

/** The next message, or why the thread ended instead of sending one. */
function nextReply(worker: Worker): Promise<CheckReply> {
  return new Promise((resolve) => {
    const settle = (reply: CheckReply): void => {
      worker.off("message", settle).off("error", onError).off("exit", onExit);
      resolve(reply);
    };
    const onError = (error: Error & { code?: string }): void =>
      settle(
        error.code === "ERR_WORKER_OUT_OF_MEMORY"
          ? { exhausted: "its check needs too much memory" }
          : { failed: error.message },
      );
    const onExit = (code: number): void => settle({ failed: `its thread ended with code ${code}` });
    worker.on("message", settle).on("error", onError).on("exit", onExit);
  });
}
