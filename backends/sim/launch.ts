import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { curveKeyPair } from "zeromq";
import { z } from "zod";
import { Skill2RealError } from "../../src/contract/errors.js";
import { packageFile } from "../../src/contract/package-root.js";
import type { CurveKeys, DeviceAddresses } from "../../src/runtime/device/device.js";
import { BackendChild } from "../process/backend-child.js";
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

const TOKEN_BYTES = 32;

/** What the server reads on descriptor 3: one line of JSON. */
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
  readonly #child: BackendChild<Ready>;

  /**
   * Rejects with `setup_incomplete` where the interpreter is missing, and with `backend_unreachable` and the
   * simulator's last words where it ends or says nothing before it is ready.
   */
  static async spawn(options: SimSpawnOptions): Promise<SimBackend> {
    const parsed = optionsSchema.safeParse(options);
    if (!parsed.success)
      throw new Skill2RealError("bad_argument", `cannot start a simulator: ${z.prettifyError(parsed.error)}`);
    const secrets = secretsOf(parsed.data);
    const child = startChild(parsed.data, secrets);
    try {
      return new SimBackend(child, await child.ready(), secrets);
    } catch (error) {
      await child.close();
      throw error;
    }
  }

  private constructor(child: BackendChild<Ready>, ready: Ready, secrets: Secrets) {
    this.#child = child;
    this.pid = ready.pid;
    this.renderer = ready.renderer;
    this.addresses = { device: ready.device, stop: ready.stop, events: ready.events };
    this.curve = secrets.keys;
    if (secrets.token && ready.privileged) this.privileged = { address: ready.privileged, token: secrets.token };
    this.exited = child.exited;
  }

  lastWords(): string {
    return this.#child.lastWords();
  }

  close(): Promise<SimExit> {
    return this.#child.close();
  }

  kill(): Promise<SimExit> {
    return this.#child.kill();
  }
}

/** What one run's client and server must share. */
type Secrets = { token: Buffer | undefined; keys: CurveKeys | undefined; server: Bootstrap["curve"] };

function secretsOf({ privileged, tcpHost }: Options): Secrets {
  const curve = tcpHost === undefined ? { keys: undefined, server: null } : curveForOneRun();
  return { token: privileged ? randomBytes(TOKEN_BYTES) : undefined, ...curve };
}

function startChild(options: Options, { token, server }: Secrets): BackendChild<Ready> {
  const python = options.python ?? packageFile(".venvs", "twin", "bin", "python");
  if (!existsSync(python))
    throw new Skill2RealError("setup_incomplete", `the simulator's Python is not at ${python}: run "npm run setup"`);
  return new BackendChild({
    what: "simulator",
    command: python,
    args: ["-m", options.module, "--world", options.world],
    env: {
      OPENBLAS_NUM_THREADS: "1",
      OMP_NUM_THREADS: "1",
      ...process.env,
      PYTHONPATH: packageFile("backends", "sim", "server"),
      PYTHONUNBUFFERED: "1",
    },
    bootstrap: (socket_dir): Bootstrap => ({
      socket_dir,
      privileged_token_hex: token?.toString("hex") ?? null,
      realtime: options.realtime,
      exit_on_lease_lapse: options.exitOnLeaseLapse,
      curve: server,
      bind: options.tcpHost === undefined ? null : anyPortsOf(options.tcpHost),
    }),
    ready: readySchema,
    startTimeoutMs: options.startTimeoutMs,
    ...(options.onLog ? { onLog: options.onLog } : {}),
  });
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
