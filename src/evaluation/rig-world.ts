import type { EmulatedRig } from "../../backends/emulators/rig/launch.js";
import { NativeBackend } from "../../backends/native/launch.js";
import type { OperatorAddress } from "../../backends/native/operator.js";
import type { Rig } from "../config/index.js";
import { Skill2RealError } from "../contract/errors.js";
import type { EvaluateReply } from "../contract/generated/privileged.js";
import type { DeviceAddresses } from "../runtime/device/device.js";
import { type EpisodeWorld, LEASE_MS, SETTLE_S, type WorldRequest } from "./episode-world.js";
import { PrivilegedClient } from "./privileged-client.js";

/** Robot, cameras and plant of an emulated rig share the processors with the program. */
const EMULATED_LEASE_MS = 4000;

type LogOptions = { onLog?: (line: string) => void };

/** The native backend on some rig. */
abstract class NativeWorld implements EpisodeWorld {
  readonly backend = "native";
  readonly leaseMs: number = LEASE_MS;
  #native: NativeBackend | null = null;
  readonly #log: LogOptions;

  constructor({ onLog }: LogOptions) {
    this.#log = onLog ? { onLog } : {};
  }

  get addresses(): DeviceAddresses | null {
    return this.#native?.addresses ?? null;
  }
  get pid(): number | null {
    return this.#native?.pid ?? null;
  }
  /** For a person's commands; never for the agent host. */
  get operator(): OperatorAddress | null {
    return this.#native?.operator ?? null;
  }

  abstract start(): Promise<void>;
  abstract begin(request: WorldRequest): Promise<{ instruction: string | null }>;
  abstract judge(): Promise<EvaluateReply | null>;
  abstract end(): Promise<void>;

  lastWords(): string {
    return this.#native?.lastWords() ?? "";
  }

  async kill(): Promise<void> {
    await this.#native?.kill();
    this.#native = null;
    await this.close();
  }

  async close(): Promise<void> {
    await this.endBackend();
  }

  protected async startBackend(rig: Rig, speedCap: number): Promise<void> {
    this.#native ??= await NativeBackend.spawn({ rig, speedCap, ...this.#log });
  }

  protected async endBackend(): Promise<void> {
    await this.#native?.close();
    this.#native = null;
  }
}

export type EmulatedRigWorldOptions = LogOptions & {
  /** What the rig hides of itself (kinematics, hand-eye errors, latency, bias). Default: the seed of each episode. */
  rigSeed?: number;
  /** Folder for the records of the last cycles before a fault. Default: as the rig says. */
  flightFolder?: string;
};

/**
 * The emulated rig: its emulators with the twin behind them, and a native backend of its own for each episode, which starts once
 * the world is put (a reset moves the plant's arm, which no arm that is held could bear).
 */
export class EmulatedRigWorld extends NativeWorld {
  override readonly leaseMs = EMULATED_LEASE_MS;
  readonly #options: EmulatedRigWorldOptions;
  #rig: EmulatedRig | null = null;
  #seed: number | null = null;
  #privileged: PrivilegedClient | null = null;

  constructor(options: EmulatedRigWorldOptions = {}) {
    super(options);
    this.#options = options;
  }

  async start(): Promise<void> {
    if (this.#options.rigSeed !== undefined) await this.#startRig(this.#options.rigSeed);
  }

  async begin({ task, seed, hidden_salt }: WorldRequest): Promise<{ instruction: string }> {
    await this.endBackend();
    await this.#startRig(this.#options.rigSeed ?? seed);
    const { instruction } = await this.#line.reset({ task, seed, ...(hidden_salt ? { hidden_salt } : {}) });
    const { rig } = this.#rig!;
    const { flightFolder = rig.arm.flight_records } = this.#options;
    await this.startBackend({ ...rig, arm: { ...rig.arm, flight_records: flightFolder } }, 1);
    return { instruction };
  }

  async judge(): Promise<EvaluateReply> {
    await this.#line.settle(SETTLE_S);
    return this.#line.evaluate();
  }

  async end(): Promise<void> {
    await this.endBackend();
  }

  override async close(): Promise<void> {
    await super.close();
    this.#privileged?.close();
    this.#privileged = null;
    await this.#rig?.close();
    this.#rig = null;
  }

  async #startRig(seed: number): Promise<void> {
    if (this.#rig && this.#seed === seed) return;
    await this.close();
    const { onLog } = this.#options;
    this.#rig = await startEmulatedRig({ seed, ...(onLog ? { onLog } : {}) });
    this.#seed = seed;
    this.#privileged = await PrivilegedClient.connect(this.#rig.privileged);
  }

  get #line(): PrivilegedClient {
    if (this.#privileged) return this.#privileged;
    throw new Skill2RealError("internal", "the emulated rig was not started");
  }
}

/** Starts an emulated rig; what emulators need is loaded only here. */
export async function startEmulatedRig(options: LogOptions & { seed: number }): Promise<EmulatedRig> {
  const emulators = await import("../../backends/emulators/rig/launch.js");
  const { seed, onLog } = options;
  // A part's name goes before its words, as the backend's own lines have none.
  return emulators.EmulatedRig.start({ seed, ...(onLog ? { onLog: (part, line) => onLog(`${part}: ${line}`) } : {}) });
}

/** A real bench: nothing can be put or judged on it. */
export class RealRigWorld extends NativeWorld {
  readonly #rig: Rig;
  readonly #speed_cap: number;

  /** `speedCap`: fraction of the rig's speeds, which a person has agreed to. */
  constructor(rig: Rig, speedCap: number, log: LogOptions = {}) {
    super(log);
    this.#rig = rig;
    this.#speed_cap = speedCap;
  }

  async start(): Promise<void> {
    await this.startBackend(this.#rig, this.#speed_cap);
  }

  async begin(): Promise<{ instruction: null }> {
    await this.start();
    return { instruction: null };
  }

  async judge(): Promise<null> {
    return null;
  }

  async end(): Promise<void> {}
}
