import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { promisify } from "node:util";
import { Skill2RealError } from "../../src/contract/errors.js";
import { compiledModule } from "../../src/contract/package-root.js";

const START_TIMEOUT_MS = 15_000;
/** Below every thread of the arm; above all that has no real-time scheduling. */
const FIFO_PRIORITY = 10;
const SCHEDULE_TIMEOUT_MS = 2_000;
const run = promisify(execFile);

/**
 * A small process in our own process group that turns Ctrl-C into a stop. A terminal sends its signals to the whole foreground
 * group, but our own handler runs on the event loop alone: while that is busy, or hangs, the sentinel has already stopped the
 * arm. It ends when this process does, however that ends.
 */
export class Sentinel {
  readonly #child: ChildProcess;
  /** It wakes at once on a busy machine too: it has real-time scheduling. */
  realtime = false;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Resolves once it hears signals and knows whom to stop; `onLog` gets what it says. Rejects with `setup_incomplete` or `backend_unreachable`. */
  static async start(stop_address: string, onLog: (line: string) => void = () => {}): Promise<Sentinel> {
    const entry = compiledModule("backends/native/sentinel-main.ts");
    if (!existsSync(entry)) throw new Skill2RealError("setup_incomplete", `${entry} is missing: run "npm run build"`);
    const child = spawn(process.execPath, ["--no-warnings", entry], { stdio: ["pipe", "pipe", "pipe"] });
    const sentinel = new Sentinel(child);
    const [input, output, errors] = [child.stdin as Writable, child.stdout as Readable, child.stderr as Readable];
    errors.setEncoding("utf8").on("data", (words: string) => onLog(words.trimEnd()));
    input.on("error", () => {}); // its end is told by its exit
    input.write(`${JSON.stringify({ stop: stop_address })}\n`);
    const timeout = AbortSignal.timeout(START_TIMEOUT_MS);
    try {
      await Promise.race([
        once(output, "data", { signal: timeout }),
        once(child, "exit").then(([code, signal]) => {
          throw new Error(`it ended (${signal ?? `exit code ${code}`})`);
        }),
      ]);
    } catch (cause) {
      sentinel.close();
      const words = timeout.aborted ? `it was not ready within ${START_TIMEOUT_MS} ms` : (cause as Error).message;
      throw new Skill2RealError("backend_unreachable", `the process that stops the arm at Ctrl-C: ${words}`, { cause });
    }
    child.once("exit", (code, signal) => {
      if (!input.destroyed && code !== 0)
        onLog(`the process that stops the arm at Ctrl-C ended (${signal ?? `exit code ${code}`})`);
    });
    // Once it has started, so that its start takes nobody's processor; it sleeps until a signal comes.
    const schedule = ["--all-tasks", "--fifo", "--pid", String(FIFO_PRIORITY), String(sentinel.pid)];
    sentinel.realtime = await run("chrt", schedule, { timeout: SCHEDULE_TIMEOUT_MS }).then(
      () => true,
      () => false,
    );
    // Alone it keeps nobody running.
    child.unref();
    for (const stream of [input, output, errors]) (stream as unknown as { unref(): void }).unref();
    return sentinel;
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  /** Lets it end. Safe to call twice. */
  close(): void {
    this.#child.stdin?.destroy();
  }
}
