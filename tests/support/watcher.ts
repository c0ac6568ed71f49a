import { isSkill2RealError } from "../../src/contract/errors.js";
import type { DeviceEvent, StateReply } from "../../src/contract/generated/device.js";
import type { DeviceAddresses } from "../../src/runtime/device/device.js";
import { DeviceClient } from "../../src/runtime/device/device-client.js";
import { until } from "./processes.js";

/** What happened at a backend, as an observer beside its controller hears it, each with the host time of its coming. */
export type Heard = { at_ms: number; event: DeviceEvent };

/** An observer's session: sees states and events, and moves nothing. */
export class Watcher {
  readonly heard: Heard[] = [];
  readonly #client: DeviceClient;

  private constructor(client: DeviceClient) {
    this.#client = client;
    client.onEvent((event) => this.heard.push({ at_ms: performance.now(), event }));
  }

  static async connect(addresses: DeviceAddresses): Promise<Watcher> {
    // Patient, because a simulator says nothing while it builds a world.
    const options = { role: "OBSERVER", client: "tests", lostAfterMs: 30_000 } as const;
    return new Watcher(await DeviceClient.connect({ ...addresses, ...options }));
  }

  get lost(): boolean {
    return this.#client.lost;
  }

  state(): Promise<StateReply> {
    return this.#client.getState();
  }

  /** Resolves in the middle of a motion: the arm is moving, and has for a moment. */
  async midMotion(): Promise<void> {
    await until("a motion", async () => {
      const state = await this.#client.getState().catch((error: unknown) => {
        if (isSkill2RealError(error, "backend_refused")) return null; // it has no world yet
        throw error;
      });
      const speed = Math.max(...(state?.arms[0]?.qd_rad_s ?? []).map(Math.abs));
      return state?.groups.at(-1)?.active === true && speed > 0.01;
    });
  }

  /** Reasons of the stops that were latched, oldest first. */
  stops(): string[] {
    return this.heard.flatMap(({ event }) => (event.stopped ? [event.stopped.reason] : []));
  }

  /** What happened to motions after the first stop: one that it met ends as stopped, and none may begin. */
  afterStop(): string[] {
    const at = this.heard.findIndex(({ event }) => event.stopped);
    if (at < 0) throw new Error("nothing was stopped");
    return this.heard.slice(at).flatMap(({ event }) => {
      if (event.group_started) return [`group ${event.group_started.group} began`];
      return event.motion_ended?.motions.map(({ end_reason }) => end_reason) ?? [];
    });
  }

  /** How motions ended, oldest first. */
  ends(): string[] {
    return this.heard.flatMap(({ event }) => event.motion_ended?.motions.map(({ end_reason }) => end_reason) ?? []);
  }

  close(): void {
    this.#client.close();
  }
}
