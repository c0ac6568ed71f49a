import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { z } from "zod";
import { ERROR_CODES, type ErrorCode } from "../../contract/error-codes.js";
import { Skill2RealError } from "../../contract/errors.js";
import { packageFile } from "../../contract/package-root.js";

const LAST_WORDS = 2000;
const NOTIFY_FD = 3;
/** The process gives the library this long to stop its streams. */
const CLOSE_MS = 4000;

const matrix = z.array(z.number()).length(16);
const plane = z.object({
  width: z.int(),
  height: z.int(),
  fx: z.number(),
  fy: z.number(),
  cx: z.number(),
  cy: z.number(),
  model: z.string(),
  coeffs: z.array(z.number()).length(5),
  X_left_plane: matrix,
});
const info = z.object({
  product: z.string(),
  product_id: z.string(),
  serial: z.string(),
  firmware: z.string(),
  usb_type: z.string(),
  physical_port: z.string(),
  library_version: z.string(),
  has_colour_sensor: z.boolean(),
  colour_from_left_imager: z.boolean(),
  transport_s: z.number(),
  period_s: z.number(),
  on_demand: z.boolean(),
  domain: z.enum(["hardware_clock", "system_time", "global_time", "monotonic"]),
  units_m: z.number(),
  left: z.enum(["color", "infrared_left", "depth"]),
  planes: z.object({
    color: plane.optional(),
    depth: plane.optional(),
    infrared_left: plane.optional(),
    infrared_right: plane.optional(),
  }),
  warnings: z.array(z.string()),
  build: z.string(),
});
const line = z.discriminatedUnion("event", [
  z.object({ event: z.literal("ready"), info }),
  z.object({ event: z.literal("recovery"), code: z.string(), message: z.string() }),
  z.object({ event: z.literal("fault"), code: z.string(), message: z.string() }),
]);

export type CaptureInfo = z.output<typeof info>;
export type CapturePlane = z.output<typeof plane>;
/** A step of recovery: restart_stream, hardware_reset, wait_for_device, recovered, and failures of these. */
export type CameraEvent = { code: string; message: string };

export type CaptureListener = {
  ready(info: CaptureInfo): void;
  recovery(event: CameraEvent): void;
  /** Told once; nothing comes after it. */
  failed(error: Skill2RealError): void;
  frame(): void;
};

function parseLine(text: string): z.output<typeof line> | null {
  try {
    return line.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** One running `camera-capture`: its lines, its end, its end by force. */
export class CaptureProcess {
  readonly #child: ChildProcess;
  readonly #name: string;
  readonly #listener: CaptureListener;
  readonly #ended: Promise<void>;
  #lastWords = "";
  #faulted = false;
  #closing = false;

  /** Starts the program with its configuration; `memoryFd` becomes its descriptor 4. Throws `setup_incomplete`. */
  constructor(name: string, config: object, memoryFd: number, listener: CaptureListener) {
    this.#name = name;
    this.#listener = listener;
    const program = packageFile("build", "Release", "camera-capture");
    if (!existsSync(program))
      throw new Skill2RealError("setup_incomplete", `${program} is not built: run "npm run setup -- --native"`);
    this.#child = spawn(program, [], { stdio: ["pipe", "pipe", "pipe", "pipe", memoryFd] });
    this.#ended = new Promise((resolve) => {
      this.#child.once("error", (cause) => {
        this.#fault("camera_died", `camera "${name}": its process cannot be started: ${cause.message}`);
        resolve();
      });
      this.#child.once("close", (code, signal) => {
        this.#ends(code, signal);
        resolve();
      });
    });
    this.#child.stdin?.on("error", () => {}); // it has ended; that is told by its exit
    this.#child.stdin?.write(`${JSON.stringify(config)}\n`);
    this.#child.stderr?.on("data", (chunk: Buffer) => {
      this.#lastWords = (this.#lastWords + chunk.toString()).slice(-LAST_WORDS);
    });
    if (this.#child.stdout) createInterface({ input: this.#child.stdout }).on("line", (text) => this.#line(text));
    const notify = this.#child.stdio[NOTIFY_FD] as Readable | null;
    notify?.on("data", () => this.#listener.frame());
    notify?.on("error", () => {});
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Asks a source on demand for a frame exposed at or after `not_before_s` (CLOCK_MONOTONIC). */
  want(not_before_s: number): void {
    if (this.#child.stdin?.writable) this.#child.stdin.write(`${JSON.stringify({ want: { not_before_s } })}\n`);
  }

  /** Ends the process: asked first, by force when it does not. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#child.stdin?.end();
    const force = setTimeout(() => this.#child.kill("SIGKILL"), CLOSE_MS);
    await this.#ended;
    clearTimeout(force);
  }

  /** Gives the process up: it is killed, and this is the reason that is told. */
  abandon(code: ErrorCode, message: string): void {
    this.#fault(code, message);
    this.#child.kill("SIGKILL");
  }

  #line(text: string): void {
    const message = parseLine(text);
    if (!message)
      this.abandon("camera_failed", `camera "${this.#name}": its process wrote ${JSON.stringify(text.slice(0, 200))}`);
    else if (message.event === "ready") this.#listener.ready(message.info);
    else if (message.event === "recovery") this.#listener.recovery({ code: message.code, message: message.message });
    else {
      const code = message.code in ERROR_CODES ? (message.code as ErrorCode) : "camera_failed";
      this.#fault(code, `camera "${this.#name}": ${message.message}`);
    }
  }

  #ends(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#closing) return;
    const words = this.#lastWords.trim();
    const how = signal ? `was ended by ${signal}` : `ended with code ${code}`;
    this.#fault("camera_died", `camera "${this.#name}": its process ${how}${words ? `; last words: ${words}` : ""}`);
  }

  #fault(code: ErrorCode, message: string): void {
    if (this.#faulted || this.#closing) return;
    this.#faulted = true;
    this.#listener.failed(new Skill2RealError(code, message));
  }
}
