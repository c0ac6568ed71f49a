import { resolve } from "node:path";
import { SimBackend } from "../../backends/sim/launch.js";
import type { SimSpawnOptions } from "../../backends/sim/sim-backend.js";
import { Skill2RealError } from "../contract/errors.js";
import type { EvaluateReply } from "../contract/generated/privileged.js";
import type { DeviceAddresses } from "../runtime/device/device.js";
import { type EpisodeWorld, LEASE_MS, SETTLE_S, type WorldRequest } from "./episode-world.js";
import { PrivilegedClient } from "./privileged-client.js";

/** A simulator, kept from episode to episode. */
export class SimWorld implements EpisodeWorld {
  readonly backend = "sim";
  readonly leaseMs = LEASE_MS;
  readonly #options: Omit<SimSpawnOptions, "privileged">;
  #sim: SimBackend | null = null;
  #privileged: PrivilegedClient | null = null;

  constructor(options: Omit<SimSpawnOptions, "privileged">) {
    this.#options = options;
  }

  get addresses(): DeviceAddresses | null {
    return this.#sim?.addresses ?? null;
  }
  get pid(): number | null {
    return this.#sim?.pid ?? null;
  }

  async start(): Promise<void> {
    this.#sim ??= await SimBackend.spawn({ ...this.#options, privileged: true });
    if (!this.#sim.privileged)
      throw new Skill2RealError("internal", "the simulator was started without its privileged plane");
    this.#privileged ??= await PrivilegedClient.connect(this.#sim.privileged);
  }

  async begin({ task, seed, hidden_salt }: WorldRequest): Promise<{ instruction: string }> {
    await this.start();
    return this.#line.reset({ task, seed, ...(hidden_salt ? { hidden_salt } : {}) });
  }

  keep(path: string): Promise<{ state_hash: string; stop_latched: boolean }> {
    return this.#line.snapshot(resolve(path));
  }

  putBack(path: string): Promise<{ state_hash: string }> {
    return this.#line.restore({ path: resolve(path) });
  }

  async judge(): Promise<EvaluateReply> {
    await this.#line.settle(SETTLE_S);
    return this.#line.evaluate();
  }

  async end(): Promise<void> {}

  lastWords(): string {
    return this.#sim?.lastWords() ?? "";
  }

  async kill(): Promise<void> {
    await this.#sim?.kill();
    await this.close();
  }

  async close(): Promise<void> {
    this.#privileged?.close();
    this.#privileged = null;
    await this.#sim?.close();
    this.#sim = null;
  }

  get #line(): PrivilegedClient {
    if (this.#privileged) return this.#privileged;
    throw new Skill2RealError("internal", "the simulator was not started");
  }
}
