import type { EmulatedRig } from "../../../backends/emulators/rig/launch.js";
import { NativeBackend } from "../../../backends/native/launch.js";
import { NativeArm } from "../../../backends/native/server/adapters/arm.js";
import { NativeGripper } from "../../../backends/native/server/adapters/gripper.js";
import { openCamera } from "../../../backends/native/server/open-rig.js";
import type { NamedRig, Rig } from "../../config/index.js";
import { StopChannel } from "../../runtime/device/stop-channel.js";
import type { CameraDriver } from "../../runtime/native/camera.js";
import { CheckSkipped } from "./check.js";
import { repairController } from "./pendant.js";

export type HilBenchOptions = {
  named: NamedRig;
  /** Fraction of the rig's speeds. */
  speed: number;
  /** Of an emulated rig. */
  seed: number;
  onLog?: (line: string) => void;
};

type Closable = { close(): Promise<unknown> };

/**
 * What the checks share: the rig (an emulated one is started here) and whoever holds its devices at present, which is
 * either the native backend in a process of its own or drivers in this process, never both.
 */
export class HilBench {
  readonly #options: HilBenchOptions;
  #emulated: EmulatedRig | null = null;
  #backend: NativeBackend | null = null;
  readonly #drivers = new Map<string, Closable>();
  /** What the backend found of the rig, in words. */
  notes: readonly string[] = [];

  constructor(options: HilBenchOptions) {
    this.#options = options;
  }

  /** Starts the emulated rig where none runs. */
  async ready(): Promise<void> {
    if (this.isEmulated && !this.#emulated) await this.#startRig();
  }

  get isEmulated(): boolean {
    return this.#options.named.emulated;
  }
  get speed(): number {
    return this.#options.speed;
  }

  /** The rig's configuration with the addresses of its devices. */
  get rig(): Rig {
    return this.#emulated?.rig ?? this.#options.named.rig;
  }

  get emulated(): EmulatedRig {
    if (this.#emulated) return this.#emulated;
    throw new CheckSkipped("only an emulated rig can be broken and looked into");
  }

  /** The running backend's process, where one runs. */
  get running(): NativeBackend | null {
    return this.#backend;
  }

  async backend(): Promise<NativeBackend> {
    if (this.#backend) return this.#backend;
    await this.closeDrivers();
    const { onLog, speed } = this.#options;
    this.#backend = await NativeBackend.spawn({ rig: this.rig, speedCap: speed, ...(onLog ? { onLog } : {}) });
    this.notes = this.#backend.notes;
    return this.#backend;
  }

  async closeBackend(): Promise<void> {
    const backend = this.#backend;
    this.#backend = null;
    await backend?.close();
  }

  /** The arm's driver in this process; nothing has moved once it is open. */
  arm(stop_address = ""): Promise<NativeArm> {
    return this.#driver("arm", () =>
      NativeArm.open({ rig: this.rig, stop_address, speed_cap: this.speed, parent_pid: process.ppid }),
    );
  }

  gripper(): Promise<NativeGripper> {
    const { gripper } = this.rig;
    if (!gripper) throw new CheckSkipped("the rig has no gripper");
    return this.#driver("gripper", () => NativeGripper.open(gripper));
  }

  camera(name: string): Promise<CameraDriver> {
    const camera = this.rig.cameras[name];
    if (!camera) throw new CheckSkipped(`the rig has no camera "${name}"`);
    return this.#driver(`camera ${name}`, () => openCamera(name, camera));
  }

  async closeDriver(name: string): Promise<void> {
    const driver = this.#drivers.get(name);
    this.#drivers.delete(name);
    await driver?.close();
  }

  async closeDrivers(): Promise<void> {
    const open = [...this.#drivers.values()];
    this.#drivers.clear();
    await Promise.allSettled(open.map((driver) => driver.close()));
  }

  /** Latches a stop by whoever holds the arm; on the backend by its stop socket, which waits for nothing. */
  async stop(reason: string): Promise<void> {
    const arm = this.#drivers.get("arm");
    if (arm instanceof NativeArm) arm.stop(reason);
    const address = this.#backend?.addresses.stop;
    if (!address) return;
    const channel = new StopChannel({ address, lostAfterMs: 1000 });
    try {
      await channel.stop("", reason);
    } finally {
      channel.close();
    }
  }

  /** After a check that broke something: faults end, dead emulators are replaced, whoever held the devices lets go. */
  async mend(): Promise<void> {
    await this.closeDrivers();
    const dead = this.#backend;
    this.#backend = null;
    if (dead) await Promise.race([dead.close(), new Promise((resolve) => setTimeout(resolve, 9000))]);
    if (!this.isEmulated) return;
    try {
      await this.#emulated?.clear();
      if (this.#emulated) {
        await this.#emulated.tell("controller", { set: { speed_slider: 1 } });
        await repairController(this.#emulated.controllerHost);
      }
    } catch (error) {
      // A part that is dead, or stays ill: another rig takes its place.
      this.#options.onLog?.(
        `hil: the emulated rig is replaced (${error instanceof Error ? error.message : String(error)})`,
      );
      await this.#emulated?.close();
      this.#emulated = null;
    }
    await this.ready();
  }

  async close(): Promise<void> {
    await this.closeDrivers();
    await this.closeBackend();
    await this.#emulated?.close();
    this.#emulated = null;
  }

  async #startRig(): Promise<void> {
    const { seed, onLog } = this.#options;
    const { EmulatedRig } = await import("../../../backends/emulators/rig/launch.js");
    this.#emulated = await EmulatedRig.start({
      seed,
      ...(onLog ? { onLog: (part: string, line: string) => onLog(`${part}: ${line}`) } : {}),
    });
  }

  async #driver<T extends Closable>(name: string, open: () => Promise<T>): Promise<T> {
    await this.closeBackend();
    const kept = this.#drivers.get(name);
    if (kept) return kept as T;
    const driver = await open();
    this.#drivers.set(name, driver);
    return driver;
  }
}
