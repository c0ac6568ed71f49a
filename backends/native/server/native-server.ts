import type { Rig } from "../../../src/config/index.js";
import type { DeviceAddresses } from "../../../src/runtime/device/device.js";
import { type BoundSockets, bindSockets } from "../../device-server/bind-sockets.js";
import { DevicePlane } from "../../device-server/device-plane.js";
import { EventBus } from "../../device-server/event-bus.js";
import type { Lease } from "../../device-server/lease.js";
import { serveDevice } from "../../device-server/serve-device.js";
import { describeRig } from "./capabilities.js";
import type { ArmDriver, CameraDriver, GripperDriver } from "./drivers.js";
import { NativeDesk } from "./native-desk.js";

export type RigDrivers = { arm: ArmDriver; gripper: GripperDriver | null; cameras: ReadonlyMap<string, CameraDriver> };

export type NativeServerOptions<Drivers extends RigDrivers = RigDrivers> = {
  rig: Rig;
  /** Private folder for the sockets. The arm's own stop listener binds `stop` there. */
  socket_dir: string;
  /** Fraction of the rig's speeds that is announced. */
  speed_cap: number;
  /** Opens the devices; `stop_address` is for the arm. */
  open: (stop_address: string) => Promise<Drivers>;
  /** The controller's lease lapsed and the arm is stopping. */
  onLapse?: () => void;
  onDefect?: (error: unknown) => void;
};

/** Device time of this backend: seconds of CLOCK_MONOTONIC. */
export const monotonic_s = (): number => Number(process.hrtime.bigint()) / 1e9;

const STANDSTILL_MS = 2000;
const LOOK_MS = 10;

/** The native backend in this process: the drivers of a rig behind the sockets of the device protocol. */
export class NativeServer<Drivers extends RigDrivers = RigDrivers> {
  readonly addresses: DeviceAddresses;
  readonly drivers: Drivers;
  readonly #sockets: BoundSockets;
  readonly #desk: NativeDesk;
  readonly #events: EventBus;
  readonly #served: Promise<void>;
  #closing: Promise<void> | undefined;

  /** Rejects with what the first device that cannot be opened says; those opened before it are closed. */
  static async start<Drivers extends RigDrivers>(
    options: NativeServerOptions<Drivers>,
  ): Promise<NativeServer<Drivers>> {
    const sockets = await bindSockets(options.socket_dir, { ownStop: false });
    try {
      return new NativeServer(options, sockets, await options.open(sockets.addresses.stop));
    } catch (error) {
      await sockets.close();
      throw error;
    }
  }

  private constructor(options: NativeServerOptions<Drivers>, sockets: BoundSockets, drivers: Drivers) {
    const { arm, gripper, cameras } = drivers;
    this.addresses = sockets.addresses;
    this.drivers = drivers;
    this.#sockets = sockets;
    this.#events = new EventBus(sockets.sendEvent);
    const description = describeRig({
      rig: options.rig,
      arm: arm.facts,
      gripper: gripper?.facts ?? null,
      cameras: new Map([...cameras].map(([name, camera]) => [name, camera.facts])),
      speed_cap: options.speed_cap,
    });
    this.#desk = new NativeDesk({
      description,
      arm,
      gripper,
      cameras,
      events: this.#events,
      now_s: monotonic_s,
      onLapse: () => {
        plane.sessions.lapse();
        options.onLapse?.();
      },
      ...(options.onDefect ? { onDefect: options.onDefect } : {}),
    });
    const plane = new DevicePlane({ desk: this.#desk, lease: armLease(arm) });
    this.#served = serveDevice(sockets.device, plane);
  }

  /** Stops the arm if it moves, waits until it stands, and lets all devices go. Never rejects; safe to call twice. */
  close(reason: string): Promise<void> {
    this.#closing ??= this.#close(reason);
    return this.#closing;
  }

  async #close(reason: string): Promise<void> {
    const { arm, gripper, cameras } = this.drivers;
    if (this.#desk.moving) arm.stop(reason);
    const give_up_ms = performance.now() + STANDSTILL_MS;
    while (this.#desk.moving && performance.now() < give_up_ms)
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    this.#events.publish(monotonic_s(), { ending: { reason } });
    this.#desk.close();
    await Promise.allSettled([...cameras.values()].map((camera) => camera.close()));
    await Promise.allSettled([gripper?.close(), arm.close()]);
    await this.#sockets.close();
    await this.#served.catch(() => {});
  }
}

const armLease = (arm: ArmDriver): Lease => ({
  renew: (lease_ms) => arm.renewLease(lease_ms),
  hold: (held) => arm.holdLease(held),
  end: () => arm.endLease(),
});
