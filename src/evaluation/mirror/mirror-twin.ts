import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, resolve } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { z } from "zod";
import { LastLines } from "../../../backends/process/last-lines.js";
import { Skill2RealError } from "../../contract/errors.js";
import { packageFile } from "../../contract/package-root.js";

const gapSchema = z.object({
  /** Of the newest state that the twin has. */
  age_ms: z.number(),
  /** States a second that reached the twin. */
  rate_hz: z.number(),
  joint_error_mrad: z.array(z.number()).length(6),
  tcp_distance_mm: z.number(),
  /** Distance of the live pose and the twin's kinematics at the same joints. */
  of_that_kinematics_mm: z.number(),
  opening_error_mm: z.number().nullable(),
  touches: z.array(z.string()),
  taken_over: z.number(),
  dropped_s: z.number(),
  refused: z.number(),
});
export type MirrorGap = z.infer<typeof gapSchema>;

export type MirrorTwinOptions = {
  /** Where states are published. */
  address: string;
  hz: number;
  picture?: string;
  onGap: (gap: MirrorGap) => void;
  startTimeoutMs?: number;
};

const KEPT_LINES = 20;
const START_MS = 30_000;
const GRACE_MS = 3000;

/** The twin's process; its standard input is its leash. */
export class MirrorTwin {
  readonly #process: ChildProcess;
  readonly #stderr: LastLines;
  readonly #gone: Promise<void>;
  #ended = false;

  /** Rejects with `setup_incomplete` where its interpreter is missing, and with `backend_unreachable` and its last words. */
  static async start(options: MirrorTwinOptions): Promise<MirrorTwin> {
    const python = packageFile(".venvs", "twin", "bin", "python");
    if (!existsSync(python))
      throw new Skill2RealError("setup_incomplete", `${python} is missing: run "npm run setup -- --native"`);
    const twin = new MirrorTwin(python, options);
    try {
      await twin.#ready(options);
      return twin;
    } catch (error) {
      await twin.close();
      throw error;
    }
  }

  private constructor(python: string, { address, hz, picture }: MirrorTwinOptions) {
    const args = ["-m", "skill2real_mirror", "--states", address, "--hz", String(hz)];
    if (picture !== undefined) args.push("--picture", resolve(picture));
    const folders = [packageFile("backends", "sim", "server"), packageFile("backends", "emulators", "mirror")];
    this.#process = spawn(python, args, {
      stdio: ["pipe", "pipe", "pipe"],
      env: { OPENBLAS_NUM_THREADS: "1", OMP_NUM_THREADS: "1", ...process.env, PYTHONPATH: folders.join(delimiter) },
    });
    (this.#process.stdin as Writable).on("error", () => {}); // one that is gone is told by `ended`
    this.#stderr = new LastLines(this.#process.stderr as Readable, KEPT_LINES);
    this.#gone = new Promise((done) => {
      this.#process.once("exit", () => done());
      this.#process.once("error", () => done());
    });
    void this.#gone.then(() => {
      this.#ended = true;
    });
  }

  get ended(): boolean {
    return this.#ended;
  }

  lost(): Skill2RealError {
    return new Skill2RealError("backend_lost", `the mirroring twin has ended; its last words:\n${this.#stderr.text()}`);
  }

  /** Lets go of it, and kills it if it does not end. Never rejects. */
  async close(): Promise<void> {
    this.#process.stdin?.end();
    const kill = setTimeout(() => this.#process.kill("SIGKILL"), GRACE_MS);
    await this.#gone;
    clearTimeout(kill);
  }

  async #ready({ onGap, startTimeoutMs = START_MS }: MirrorTwinOptions): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const lines = createInterface({ input: this.#process.stdout as Readable });
    const first = new Promise<void>((done) => {
      lines.once("line", () => {
        lines.on("line", (line) => onGap(gapSchema.parse(JSON.parse(line))));
        done();
      });
    });
    const never = (why: string) =>
      new Skill2RealError("backend_unreachable", `the mirroring twin ${why}; its last words:\n${this.#stderr.text()}`);
    try {
      await Promise.race([
        first,
        this.#gone.then(() => this.#stderr.ended).then(() => Promise.reject(never("ended before it was ready"))),
        new Promise<never>((_, reject) => {
          timer = setTimeout(() => reject(never(`was not ready within ${startTimeoutMs} ms`)), startTimeoutMs);
        }),
      ]);
    } finally {
      clearTimeout(timer);
    }
  }
}
