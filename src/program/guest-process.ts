import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import type { Socket } from "node:net";
import { Skill2RealError } from "../contract/errors.js";
import { compiledModule } from "../contract/package-root.js";
import { type FromGuest, fromGuestSchema, type ToGuest } from "./guest-messages.js";
import type { GuestCommand } from "./isolation.js";
import { parseJson } from "./parse-json.js";
import { processCpu_s } from "./process-cpu.js";

const START_TIMEOUT_MS = 30_000;
const LAST_WORDS_CHARS = 4_000;
const NEWLINE = 10;
/** Above what any program can send in one turn within its memory. */
const MAX_MESSAGE_BYTES = 128 << 20;

export type GuestListener = {
  onMessage(message: FromGuest): void;
  /** Nothing more will come: the process closed its pipe, so it ends or has ended. */
  onSilent?(): void;
  /** The process ended; `lastWords` is what it wrote to stderr. */
  onExit(lastWords: string): void;
};

/** One locked child process that runs programs one after the other. */
export class GuestProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  #lastWords = "";
  #unread: Buffer[] = [];
  #unreadBytes = 0;
  #reportedCpu_s = 0;
  #gone = false;
  #listener: GuestListener | undefined;

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#lastWords = (this.#lastWords + text).slice(-LAST_WORDS_CHARS);
    });
    this.#exited = new Promise((resolve) => {
      const gone = (): void => {
        this.#gone = true;
        resolve();
      };
      child.on("exit", gone);
      child.on("error", (error) => {
        gone();
        this.#listener?.onExit(error.message);
      });
    });
    // "close" follows "exit" once everything it wrote has been read
    child.on("close", (code, signal) =>
      this.#listener?.onExit(gist(this.#lastWords) || (signal === null ? `exit code ${code}` : `signal ${signal}`)),
    );
    // a dying process is reported by its exit, not by its pipe
    child.stdin?.on("error", () => {});
    child.stdout?.on("data", (chunk: Buffer) => this.#read(chunk));
    // its pipes are closed a little before its end is told
    child.stdout?.on("end", () => this.#listener?.onSilent?.());
  }

  /** Resolves when the process is ready to run a program; throws `guest_failed` with its last words. */
  static async start(command: GuestCommand): Promise<GuestProcess> {
    const entry = compiledModule("src/program/guest-main.ts");
    if (!existsSync(entry)) throw new Skill2RealError("setup_incomplete", `${entry} is missing: run "npm run build"`);
    const child = spawn(command.file, command.args, { env: {}, cwd: "/", stdio: ["pipe", "pipe", "pipe"] });
    const guest = new GuestProcess(child);
    await new Promise<void>((resolve, reject) => {
      const fail = (words: string): void => {
        clearTimeout(timer);
        reject(new Skill2RealError("guest_failed", `the sandbox process did not start: ${words}`));
      };
      const timer = setTimeout(() => {
        guest.#listener = undefined;
        void guest.kill();
        fail(`not ready after ${START_TIMEOUT_MS / 1000} s`);
      }, START_TIMEOUT_MS);
      guest.#listener = {
        onMessage: (message) => {
          if (message.type !== "ready") return;
          clearTimeout(timer);
          resolve();
        },
        onExit: fail,
      };
    });
    guest.#listener = undefined;
    return guest;
  }

  get gone(): boolean {
    return this.#gone;
  }

  /** CPU time used since the guest last reported its own; undefined where the system does not tell. */
  get unreportedCpu_s(): number | undefined {
    const now_s = processCpu_s(this.pid);
    return now_s === undefined ? undefined : now_s - this.#reportedCpu_s;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Who hears messages and the exit; undefined drops them. */
  listen(listener: GuestListener | undefined): void {
    this.#listener = listener;
  }

  send(message: ToGuest): void {
    if (!this.#gone) this.#child.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  #read(chunk: Buffer): void {
    let rest = chunk;
    for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
      const line = Buffer.concat([...this.#unread, rest.subarray(0, end)]).toString("utf8");
      rest = rest.subarray(end + 1);
      this.#unread = [];
      this.#unreadBytes = 0;
      this.#take(line);
    }
    if (rest.length === 0) return;
    this.#unread.push(rest);
    this.#unreadBytes += rest.length;
    if (this.#unreadBytes > MAX_MESSAGE_BYTES) this.#malformed();
  }

  #take(line: string): void {
    const parsed = fromGuestSchema.safeParse(parseJson(line));
    if (!parsed.success) {
      this.#malformed();
      return;
    }
    if ("processCpu_s" in parsed.data) this.#reportedCpu_s = parsed.data.processCpu_s;
    this.#listener?.onMessage(parsed.data);
  }

  #malformed(): void {
    this.#lastWords = "it sent a malformed message";
    this.#child.kill("SIGKILL");
  }

  /** SIGKILL; resolves when the process is gone. */
  async kill(): Promise<void> {
    if (this.#gone) return;
    this.#child.ref();
    this.#child.kill("SIGKILL");
    await this.#exited;
  }

  /** Whether waiting for this process keeps its parent alive: it does while a program runs, not while it idles. */
  setReferenced(referenced: boolean): void {
    const verb = referenced ? "ref" : "unref";
    this.#child[verb]();
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr])
      (stream as Socket | null)?.[verb]();
  }
}

/** The line of a crash report that says what happened. */
function gist(lastWords: string): string {
  const lines = lastWords.split("\n").map((line) => line.trim());
  return (
    lines.find((line) => /^(\w*Error|FATAL ERROR)\b/.test(line)) ?? lines.filter((line) => line !== "").at(-1) ?? ""
  );
}
