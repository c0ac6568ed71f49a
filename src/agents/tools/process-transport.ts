import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { getDefaultEnvironment } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ReadBuffer, serializeMessage } from "@modelcontextprotocol/sdk/shared/stdio.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import type { ToolServer } from "./settings.js";

/** What a server may take to end by itself once it is not wanted any more. */
const END_MS = 500;
/** Characters of its standard error that are kept: many more than are shown, so that nothing shown was cut before it was masked. */
const KEPT_WORDS = 8_000;

type Child = ChildProcessByStdio<Writable, Readable, Readable>;
const living = new Set<ProcessTransport>();
process.on("exit", () => {
  for (const transport of living) transport.kill();
});

export type ProcessTransportOptions = Extract<ToolServer["reach"], { kind: "stdio" }> & {
  /** Bytes of one message of the server. */
  maxBytes: number;
};

/**
 * A conversation with a process on its standard input and output (MCP's stdio transport: one JSON message a line). The process
 * leads a group of its own, which ends as a whole: a server that was started by npx or a shell is a grandchild.
 */
export class ProcessTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;
  readonly #options: ProcessTransportOptions;
  readonly #buffer: ReadBuffer;
  #child: Child | null = null;
  #ended = false;
  #closed: Promise<void> = Promise.resolve();
  #said = "";

  constructor(options: ProcessTransportOptions) {
    this.#options = options;
    this.#buffer = new ReadBuffer({ maxBufferSize: options.maxBytes });
  }

  /** The last of what it said on its standard error, as it said it. */
  get said(): string {
    return this.#said;
  }

  start(): Promise<void> {
    const { command, args, env, cwd } = this.#options;
    const child: Child = spawn(command, args, {
      cwd,
      env: { ...getDefaultEnvironment(), ...env },
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
    });
    this.#child = child;
    living.add(this);
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#said = `${this.#said}${text}`.slice(-KEPT_WORDS);
    });
    child.stdout.on("data", (bytes: Buffer) => this.#hear(bytes));
    for (const stream of [child.stdin, child.stdout, child.stderr])
      stream.on("error", (error: Error) => this.onerror?.(error));
    // What a leader leaves behind ends with it, at once: later its number may be somebody else's.
    child.once("exit", () => {
      this.kill();
      this.#end();
    });
    this.#closed = new Promise((resolve) => {
      child.once("close", () => {
        this.#end();
        this.onclose?.();
        resolve();
      });
    });
    return new Promise((resolve, reject) => {
      child.once("spawn", resolve);
      child.on("error", (error) => {
        reject(error);
        this.onerror?.(error);
      });
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (!stdin || this.#ended) throw new Error("Not connected");
    if (!stdin.write(serializeMessage(message))) await new Promise<void>((resolve) => stdin.once("drain", resolve));
  }

  /** Never rejects. A process that does not end when its input ends is killed, and its group with it. */
  async close(): Promise<void> {
    const child = this.#child;
    child?.stdin.end();
    await Promise.race([this.#closed, pause(END_MS)]);
    this.kill();
    await Promise.race([this.#closed, pause(END_MS)]);
    // A process that left the group may hold the other ends.
    child?.stdout.destroy();
    child?.stderr.destroy();
    this.#buffer.clear();
  }

  /** Kills the group, unless its leader has ended. */
  kill(): void {
    const pid = this.#child?.pid;
    if (pid === undefined || this.#ended) return;
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // Nobody is left in it.
    }
  }

  #end(): void {
    this.#ended = true;
    living.delete(this);
  }

  #hear(bytes: Buffer): void {
    try {
      this.#buffer.append(bytes);
    } catch (error) {
      this.#child?.stdout.destroy();
      this.onerror?.(error as Error);
      return;
    }
    for (;;) {
      try {
        const message = this.#buffer.readMessage();
        if (message === null) return;
        this.onmessage?.(message);
      } catch (error) {
        // A line that is no message; those after it may be.
        this.onerror?.(error as Error);
      }
    }
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());
