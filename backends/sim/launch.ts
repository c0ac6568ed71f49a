import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { curveKeyPair } from "zeromq";
import { z } from "zod";
import { Skill2RealError } from "../../src/contract/errors.js";
import { packageFile } from "../../src/contract/package-root.js";
import type { CurveKeys, DeviceAddresses } from "../../src/runtime/device/device.js";
import { LastLines } from "./last-lines.js";
import type { SimExit, SimProcess, SimSpawnOptions } from "./sim-backend.js";

const optionsSchema = z.strictObject({
  world: z
    .string()
    .regex(/^[a-z][a-z0-9_-]*$/)
    .default("twin"),
  module: z
    .string()
    .regex(/^[a-z0-9_.]+$/)
    .default("skill2real_sim"),
  realtime: z.number().min(0).max(100).default(0),
  privileged: z.boolean(),
  exitOnLeaseLapse: z.boolean().default(false),
  python: z.string().min(1).optional(),
  tcpHost: z.string().min(1).optional(),
  onLog: z.custom<(line: string) => void>((value) => typeof value === "function").optional(),
  startTimeoutMs: z.number().min(1).max(600_000).default(30_000),
});
type Options = z.infer<typeof optionsSchema>;

const readySchema = z.looseObject({
  ready: z.literal(true),
  device: z.string(),
  stop: z.string(),
  events: z.string(),
  privileged: z.string().nullable(),
  pid: z.number().int(),
  renderer: z.string(),
});

type Ready = z.infer<typeof readySchema>;

const KEPT_LINES = 40;
const TOKEN_BYTES = 32;
/** How long a simulator may take to end by itself once its parent let go of it. */
const GRACE_MS = 3000;

/** What the server reads on descriptor 3: one line of JSON. Secrets travel here and nowhere else. */
type Bootstrap = {
  socket_dir: string;
  privileged_token_hex: string | null;
  realtime: number;
  exit_on_lease_lapse: boolean;
  curve: { public_key: string; secret_key: string; client_keys: string[] } | null;
  bind: DeviceAddresses | null;
};

/** A simulator in a process of its own, which ends when this process does. */
export class SimBackend implements SimProcess {
  readonly pid: number;
  readonly renderer: string;
  readonly addresses: DeviceAddresses;
  readonly curve: CurveKeys | undefined;
  readonly privileged: { address: string; token: Buffer } | undefined;
  readonly exited: Promise<SimExit>;
  readonly #child: SimChild;

  /**
   * Rejects with `setup_incomplete` where the interpreter is missing, and with `backend_unreachable` and the
   * simulator's last words where it ends or says nothing before it is ready.
   */
  static async spawn(options: SimSpawnOptions): Promise<SimBackend> {
    const parsed = optionsSchema.safeParse(options);
    if (!parsed.success)
      throw new Skill2RealError("bad_argument", `cannot start a simulator: ${z.prettifyError(parsed.error)}`);
    const child = new SimChild(parsed.data);
    try {
      return new SimBackend(child, await child.ready());
    } catch (error) {
      await child.close();
      throw error;
    }
  }

  private constructor(child: SimChild, ready: Ready) {
    this.#child = child;
    this.pid = ready.pid;
    this.renderer = ready.renderer;
    this.addresses = { device: ready.device, stop: ready.stop, events: ready.events };
    this.curve = child.curve;
    if (child.token && ready.privileged) this.privileged = { address: ready.privileged, token: child.token };
    this.exited = child.exited;
  }

  lastWords(): string {
    return this.#child.lastWords();
  }

  close(): Promise<SimExit> {
    return this.#child.close();
  }
}

/** The child process and its socket folder. */
class SimChild {
  readonly exited: Promise<SimExit>;
  readonly token: Buffer | undefined;
  readonly curve: CurveKeys | undefined;
  readonly #options: Options;
  readonly #process: ChildProcess;
  readonly #stderr: LastLines;
  readonly #leash: Writable;
  readonly #dir: string;
  #closing: Promise<SimExit> | undefined;

  constructor(options: Options) {
    this.#options = options;
    const python = options.python ?? packageFile(".venvs", "twin", "bin", "python");
    if (!existsSync(python))
      throw new Skill2RealError("setup_incomplete", `the simulator's Python is not at ${python}: run "npm run setup"`);
    this.token = options.privileged ? randomBytes(TOKEN_BYTES) : undefined;
    sweepLeftFolders();
    // Short, because an ipc address holds at most 107 bytes; mkdtemp makes it 0700.
    this.#dir = mkdtempSync(join(tmpdir(), `s2r-${process.pid}-`));
    const { keys, server } = options.tcpHost === undefined ? { keys: undefined, server: null } : curveForOneRun();
    this.curve = keys;
    this.#process = spawn(python, ["-m", options.module, "--world", options.world], {
      // A group of its own: Ctrl-C in a terminal reaches us alone, and we stop the arm before the simulator ends.
      detached: true,
      stdio: ["ignore", "pipe", "pipe", "pipe"],
      env: {
        OPENBLAS_NUM_THREADS: "1",
        OMP_NUM_THREADS: "1",
        ...process.env,
        PYTHONPATH: packageFile("backends", "sim", "server"),
        PYTHONUNBUFFERED: "1",
      },
    });
    const { stderr, stdio } = this.#process;
    this.#stderr = new LastLines(stderr as Readable, KEPT_LINES, options.onLog);
    this.#leash = stdio[3] as Writable;
    this.#leash.on("error", () => {}); // a child that died before it read is reported by its exit
    this.#leash.write(`${JSON.stringify(this.#bootstrap(server))}\n`);
    process.once("exit", this.#killNow);
    this.exited = this.#watch();
  }

  lastWords(): string {
    return this.#stderr.text();
  }

  async ready(): Promise<Ready> {
    const { startTimeoutMs } = this.#options;
    let timer: NodeJS.Timeout | undefined;
    try {
      return await Promise.race([
        this.#readyLine(),
        this.exited.then(({ code, signal }) => {
          throw this.#failure(`the simulator ended (${signal ?? `exit code ${code}`}) before it was ready`);
        }),
        new Promise<never>((_, reject) => {
          const late = () => reject(this.#failure(`the simulator was not ready within ${startTimeoutMs} ms`));
          timer = setTimeout(late, startTimeoutMs);
        }),
      ]);
    } finally {
      clearTimeout(timer);
    }
  }

  #readyLine(): Promise<Ready> {
    return new Promise((resolve, reject) => {
      const lines = createInterface({ input: this.#process.stdout as Readable });
      lines.once("line", (line) => {
        const parsed = parseReady(line);
        if (parsed.success) resolve(parsed.data);
        else reject(this.#failure(`the simulator's first line is not its ready line: ${line.slice(0, 200)}`));
      });
    });
  }

  close(): Promise<SimExit> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  #bootstrap(curve: Bootstrap["curve"]): Bootstrap {
    return {
      socket_dir: this.#dir,
      privileged_token_hex: this.token?.toString("hex") ?? null,
      realtime: this.#options.realtime,
      exit_on_lease_lapse: this.#options.exitOnLeaseLapse,
      curve,
      bind: this.#options.tcpHost === undefined ? null : anyPortsOf(this.#options.tcpHost),
    };
  }

  async #end(): Promise<SimExit> {
    this.#leash.end();
    const kill = setTimeout(() => this.#process.kill("SIGKILL"), GRACE_MS);
    const exit = await this.exited;
    clearTimeout(kill);
    return exit;
  }

  async #watch(): Promise<SimExit> {
    const { code, signal } = await new Promise<Omit<SimExit, "lastWords">>((resolve) => {
      this.#process.once("exit", (exit_code, exit_signal) => resolve({ code: exit_code, signal: exit_signal }));
      this.#process.once("error", () => resolve({ code: null, signal: null }));
    });
    process.off("exit", this.#killNow);
    this.#leash.destroy();
    await this.#stderr.ended;
    rmSync(this.#dir, { recursive: true, force: true });
    return { code, signal, lastWords: this.lastWords() };
  }

  readonly #killNow = (): void => {
    this.#process.kill("SIGKILL");
    rmSync(this.#dir, { recursive: true, force: true });
  };

  #failure(what: string): Skill2RealError {
    const words = this.lastWords();
    return new Skill2RealError(
      "backend_unreachable",
      `${what}${words ? `; its last words:\n${words}` : " and wrote nothing"}`,
    );
  }
}

/** Removes the socket folders of processes that were killed before they could. */
function sweepLeftFolders(): void {
  for (const name of readdirSync(tmpdir())) {
    const owner = /^s2r-(\d+)-/.exec(name)?.[1];
    if (owner === undefined || existsSync(`/proc/${owner}`) || !existsSync("/proc/self")) continue;
    try {
      rmSync(join(tmpdir(), name), { recursive: true, force: true });
    } catch {
      // Another user's, or another process sweeps at this moment.
    }
  }
}

function parseReady(line: string) {
  try {
    return readySchema.safeParse(JSON.parse(line));
  } catch {
    return readySchema.safeParse(undefined);
  }
}

function anyPortsOf(host: string): DeviceAddresses {
  const address = `tcp://${host}:*`;
  return { device: address, stop: address, events: address };
}

function curveForOneRun(): { keys: CurveKeys; server: NonNullable<Bootstrap["curve"]> } {
  const server = curveKeyPair();
  const client = curveKeyPair();
  return {
    keys: { serverPublicKey: server.publicKey, publicKey: client.publicKey, secretKey: client.secretKey },
    server: { public_key: server.publicKey, secret_key: server.secretKey, client_keys: [client.publicKey] },
  };
}
