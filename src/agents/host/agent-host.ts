import type { ChildProcess } from "node:child_process";
import type { ErrorCode } from "../../contract/error-codes.js";
import { Skill2RealError } from "../../contract/errors.js";
import type { EpisodeReport } from "../episode.js";
import type { CallRecord, StageRecord } from "../proposer.js";
import { type HostIsolation, startHost } from "./host-isolation.js";
import type { EpisodeRequest, HostMessage, HostRequest } from "./messages.js";

const START_TIMEOUT_MS = 20_000;
const CLOSE_TIMEOUT_MS = 3_000;
/** How long a host may take to end an episode that was stopped, before it is ended. */
const STOP_TIMEOUT_MS = 5_000;
const LAST_WORDS_CHARS = 4_000;

export type AgentHostOptions = {
  /** The folder in which episodes get their folders; it becomes the host's working folder. */
  runsFolder: string;
  /** The evaluator's own folder, which the host must not read; covered in its view of the files where the system permits. */
  evaluatorFolder: string;
  /** Sees every message to the host and from it (for tests of the wall). */
  onMessage?: (direction: "to host" | "from host", message: unknown) => void;
  onStage?: (stage: StageRecord) => void;
  onCall?: (call: CallRecord) => void;
  /** Of an episode with `keep`: the host goes on once this resolves; where it rejects, the caller has to stop the host. */
  onStageEnd?: (stage: number, wall_s: number) => Promise<void>;
};
export type PlayedEpisode = { report: EpisodeReport; refKey: string };

/** The parent's side of an agent host: a process that plays episodes and holds nothing privileged. */
export class AgentHost {
  readonly pid: number;
  readonly isolation: HostIsolation;
  readonly #child: ChildProcess;
  readonly #options: AgentHostOptions;
  #waiting: { resolve: (played: PlayedEpisode) => void; reject: (error: Error) => void } | null = null;
  #lastWords = "";
  #gone = false;
  readonly #exited: Promise<void>;

  private constructor(child: ChildProcess, isolation: HostIsolation, options: AgentHostOptions) {
    this.#child = child;
    this.#options = options;
    this.isolation = isolation;
    this.pid = child.pid ?? -1;
    process.once("exit", this.#killNow);
    child.stderr?.on("data", (chunk) => {
      this.#lastWords = `${this.#lastWords}${chunk}`.slice(-LAST_WORDS_CHARS);
    });
    this.#exited = new Promise((resolve) => {
      child.once("close", (code, signal) => {
        this.#gone = true;
        process.off("exit", this.#killNow);
        this.#waiting?.reject(this.#died(code, signal));
        resolve();
      });
    });
    child.on("message", (message) => this.#hear(message as HostMessage));
  }

  static async spawn(options: AgentHostOptions): Promise<AgentHost> {
    const { child, isolation } = await startHost("src/agents/host/agent-host-main.ts", {
      evaluatorFolder: options.evaluatorFolder,
      cwd: options.runsFolder,
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    const host = new AgentHost(child, isolation, options);
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        child.kill("SIGKILL");
        reject(
          new Skill2RealError(
            "guest_failed",
            `the agent host was not ready within ${START_TIMEOUT_MS / 1e3} s: ${host.#lastWords}`,
          ),
        );
      }, START_TIMEOUT_MS);
      child.once("message", () => {
        clearTimeout(timer);
        resolve();
      });
      child.once("error", (cause) => {
        clearTimeout(timer);
        reject(new Skill2RealError("guest_failed", `the agent host cannot be started: ${cause.message}`, { cause }));
      });
      child.once("close", (code, signal) => {
        clearTimeout(timer);
        reject(host.#died(code, signal));
      });
    });
    return host;
  }

  get gone(): boolean {
    return this.#gone;
  }

  /** Plays one episode. Rejects with the host's error code, or `guest_failed` and its last words where it died. */
  play(request: Omit<EpisodeRequest, "type">): Promise<PlayedEpisode> {
    if (this.#waiting) throw new Skill2RealError("bad_argument", "the agent host plays one episode at a time");
    if (this.#gone) throw new Skill2RealError("guest_failed", `the agent host has ended: ${this.#lastWords}`);
    return new Promise<PlayedEpisode>((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#send({ type: "play", ...request });
    }).finally(() => {
      this.#waiting = null;
    });
  }

  /** Ends the running episode as stopped, and the host with it where it does not answer. The arm is better stopped at the backend first. */
  stop(reason: string): void {
    const waiting = this.#waiting;
    this.#send({ type: "stop", reason });
    const timer = setTimeout(() => {
      if (waiting !== null && this.#waiting === waiting) this.#child.kill("SIGKILL");
    }, STOP_TIMEOUT_MS);
    timer.unref();
  }

  /** Ends the process at once, whatever it does; an episode that it plays fails with `guest_failed` and `why`. */
  async kill(why: string): Promise<void> {
    this.#lastWords = why;
    if (!this.#gone) this.#child.kill("SIGKILL");
    await this.#exited;
  }

  /** Ends the process; kills it when it does not end by itself. */
  async close(): Promise<void> {
    if (this.#gone) return;
    this.#send({ type: "close" });
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), CLOSE_TIMEOUT_MS);
    await this.#exited;
    clearTimeout(timer);
  }

  readonly #killNow = (): void => {
    this.#child.kill("SIGKILL");
  };

  #send(message: HostRequest): void {
    if (this.#gone || !this.#child.connected) return;
    this.#options.onMessage?.("to host", message);
    // A host that dies meanwhile is reported by its exit.
    this.#child.send(message, () => {});
  }

  #hear(message: HostMessage): void {
    this.#options.onMessage?.("from host", message);
    if (message.type === "stage") this.#options.onStage?.(message.stage);
    else if (message.type === "call") this.#options.onCall?.(message.call);
    else if (message.type === "stage_end") void this.#keep(message);
    else if (message.type === "played") this.#waiting?.resolve({ report: message.report, refKey: message.refKey });
    else if (message.type === "failed")
      this.#waiting?.reject(
        new Skill2RealError(message.code as ErrorCode, message.message, { details: { accounts: message.accounts } }),
      );
  }

  async #keep({ stage, wall_s }: Extract<HostMessage, { type: "stage_end" }>): Promise<void> {
    try {
      await this.#options.onStageEnd?.(stage, wall_s);
      this.#send({ type: "kept", stage });
    } catch {
      // Whoever could not keep it knows, and stops this host.
    }
  }

  #died(code: number | null, signal: NodeJS.Signals | null): Skill2RealError {
    return new Skill2RealError(
      "guest_failed",
      `the agent host died (${signal ?? `exit ${code}`}): ${this.#lastWords || "it said nothing"}`,
    );
  }
}
