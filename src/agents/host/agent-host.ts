import { type ChildProcess, spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import type { ErrorCode } from "../../contract/error-codes.js";
import { Skill2RealError } from "../../contract/errors.js";
import { compiledModule } from "../../contract/package-root.js";
import type { EpisodeReport } from "../episode.js";
import type { CallRecord, StageRecord } from "../proposer.js";
import type { EpisodeRequest, HostMessage } from "./messages.js";

const START_TIMEOUT_MS = 20_000;
const CLOSE_TIMEOUT_MS = 3_000;
const LAST_WORDS_CHARS = 4_000;

export type AgentHostOptions = {
  /** The folder in which episodes get their folders; it becomes the host's working folder. */
  runsFolder: string;
  onStage?: (stage: StageRecord) => void;
  onCall?: (call: CallRecord) => void;
};
export type PlayedEpisode = { report: EpisodeReport; refKey: string };

/** The parent's side of an agent host: a process that plays episodes and holds nothing privileged. */
export class AgentHost {
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #onStage: ((stage: StageRecord) => void) | undefined;
  readonly #onCall: ((call: CallRecord) => void) | undefined;
  #waiting: { resolve: (played: PlayedEpisode) => void; reject: (error: Error) => void } | null = null;
  #lastWords = "";
  #gone = false;
  readonly #exited: Promise<void>;

  private constructor(child: ChildProcess, options: AgentHostOptions) {
    this.#child = child;
    this.pid = child.pid ?? -1;
    this.#onStage = options.onStage;
    this.#onCall = options.onCall;
    child.stderr?.on("data", (chunk) => {
      this.#lastWords = `${this.#lastWords}${chunk}`.slice(-LAST_WORDS_CHARS);
    });
    this.#exited = new Promise((resolve) => {
      child.once("close", (code, signal) => {
        this.#gone = true;
        this.#waiting?.reject(this.#died(code, signal));
        resolve();
      });
    });
    child.on("message", (message) => this.#hear(message as HostMessage));
  }

  static async spawn(options: AgentHostOptions): Promise<AgentHost> {
    await mkdir(options.runsFolder, { recursive: true });
    // The environment of the evaluator stays behind: nothing in it is the host's business.
    const env = {
      PATH: process.env.PATH ?? "",
      HOME: process.env.HOME ?? "",
      LANG: "C.UTF-8",
      TMPDIR: process.env.TMPDIR ?? "/tmp",
    };
    const child = spawn(process.execPath, ["--no-warnings", compiledModule("src/agents/host/agent-host-main.ts")], {
      cwd: options.runsFolder,
      env,
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      serialization: "json",
    });
    const host = new AgentHost(child, options);
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
      this.#child.send({ type: "play", ...request });
    }).finally(() => {
      this.#waiting = null;
    });
  }

  /** Ends the running episode as stopped. The arm is better stopped at the backend first. */
  stop(reason: string): void {
    if (!this.#gone && this.#child.connected) this.#child.send({ type: "stop", reason });
  }

  /** Ends the process; kills it when it does not end by itself. */
  async close(): Promise<void> {
    if (this.#gone) return;
    if (this.#child.connected) this.#child.send({ type: "close" });
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), CLOSE_TIMEOUT_MS);
    await this.#exited;
    clearTimeout(timer);
  }

  #hear(message: HostMessage): void {
    if (message.type === "stage") this.#onStage?.(message.stage);
    else if (message.type === "call") this.#onCall?.(message.call);
    else if (message.type === "played") this.#waiting?.resolve({ report: message.report, refKey: message.refKey });
    else if (message.type === "failed")
      this.#waiting?.reject(new Skill2RealError(message.code as ErrorCode, message.message));
  }

  #died(code: number | null, signal: NodeJS.Signals | null): Skill2RealError {
    return new Skill2RealError(
      "guest_failed",
      `the agent host died (${signal ?? `exit ${code}`}): ${this.#lastWords || "it said nothing"}`,
    );
  }
}
