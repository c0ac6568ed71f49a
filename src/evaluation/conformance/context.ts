import type { Capabilities, DeviceEvent, Role, StateReply, StopReply } from "../../contract/generated/device.js";
import type { CurveKeys, DeviceAddresses } from "../../runtime/device/device.js";
import { EventChannel } from "../../runtime/device/event-channel.js";
import type { Privileged } from "../privileged.js";
import { CheckSkipped, ensure } from "./check.js";
import { RawPeer, RawSession, rawStop } from "./peer.js";

/** A backend as the suite reaches it. */
export type ConformanceTarget = {
  addresses: DeviceAddresses;
  curve?: CurveKeys;
  /** Where it is a simulator whose token we hold. */
  privileged?: { address: string; token: Uint8Array };
  /** True where its arm may be moved. */
  allowMotion: boolean;
  /** Starts another process of the same kind, for checks of a backend that nobody has spoken to. */
  spawnAnother?: () => Promise<{
    addresses: DeviceAddresses;
    curve?: CurveKeys | undefined;
    privileged?: { address: string; token: Uint8Array } | undefined;
    close: () => Promise<unknown>;
  }>;
};

export type ContextOptions = {
  target: ConformanceTarget;
  capabilities: Capabilities;
  evaluator: Privileged | undefined;
  /** Snapshot of a world as it was reset, where there is an evaluator. */
  snapshot: string | undefined;
  task: { name: string; seed: number };
};

const LONG_LEASE_MS = 60_000;
const EVENT_PATIENCE_MS = 5000;

/** Events as they come, kept from the moment of listening. */
export class EventRecord {
  readonly events: DeviceEvent[] = [];
  readonly #channel: EventChannel;

  constructor(channel: EventChannel) {
    this.#channel = channel;
    channel.onEvent((event) => this.events.push(event));
  }

  of(kind: NonNullable<DeviceEvent["kind"]>): DeviceEvent[] {
    return this.events.filter((event) => event.kind === kind);
  }

  /** Waits until an event of the kind has come that the condition takes. */
  async until(
    kind: NonNullable<DeviceEvent["kind"]>,
    condition: (event: DeviceEvent) => boolean = () => true,
  ): Promise<DeviceEvent> {
    const give_up_ms = performance.now() + EVENT_PATIENCE_MS;
    for (;;) {
      const found = this.events.find((event) => event.kind === kind && condition(event));
      if (found) return found;
      ensure(performance.now() < give_up_ms, `no ${kind} event came within ${EVENT_PATIENCE_MS} ms`);
      await sleepMs(5);
    }
  }

  close(): void {
    this.#channel.close();
  }
}

/** What a check works with; everything that it opens is closed after it. */
export class ConformanceContext {
  readonly target: ConformanceTarget;
  readonly capabilities: Capabilities;
  readonly task: { name: string; seed: number };
  readonly #options: ContextOptions;
  readonly #peers: RawPeer[] = [];
  readonly #sessions: RawSession[] = [];
  readonly #closers: (() => unknown)[] = [];

  constructor(options: ContextOptions) {
    this.#options = options;
    this.target = options.target;
    this.capabilities = options.capabilities;
    this.task = options.task;
  }

  get simulated(): boolean {
    return this.capabilities.clock === "SIM";
  }

  get evaluator(): Privileged {
    if (!this.#options.evaluator) throw new CheckSkipped("the suite holds no privileged token of this backend");
    return this.#options.evaluator;
  }

  peer(address: string = this.target.addresses.device): RawPeer {
    const peer = new RawPeer(address, this.target.curve);
    this.#peers.push(peer);
    return peer;
  }

  /** A session before its Hello. */
  stranger(): RawSession {
    const session = new RawSession(this.peer());
    this.#sessions.push(session);
    return session;
  }

  async session(role: Role, leaseMs: number = LONG_LEASE_MS): Promise<RawSession> {
    const session = this.stranger();
    await session.hello(role, role === "CONTROLLER" ? leaseMs : 0);
    return session;
  }

  /** The controller of a world as it was reset, with no stop latched and nothing moving. */
  async controller(leaseMs: number = LONG_LEASE_MS): Promise<RawSession> {
    if (this.#options.snapshot !== undefined) await this.evaluator.restore({ id: this.#options.snapshot });
    const session = await this.session("CONTROLLER", leaseMs);
    const state = await this.state(session);
    if (state.stop_latched) await this.resume(session);
    return session;
  }

  async state(session: RawSession): Promise<StateReply> {
    return session.must("state", { get_state: {} });
  }

  /** Clears the stop that is latched now. */
  async resume(session: RawSession): Promise<void> {
    await this.state(session);
    await session.must("resume", { resume: { stop_epoch: session.stop_epoch, token: "" } });
  }

  stop(request: Uint8Array | string): Promise<StopReply> {
    return rawStop(this.target.addresses.stop, this.target.curve, request);
  }

  async events(): Promise<EventRecord> {
    const { curve } = this.target;
    const address = this.target.addresses.events;
    const channel = await EventChannel.connect({ address, ...(curve ? { curve } : {}), timeoutMs: EVENT_PATIENCE_MS });
    const record = new EventRecord(channel);
    this.#closers.push(() => record.close());
    // A publisher learns of its subscribers a moment after they connect.
    await sleepMs(30);
    return record;
  }

  /** Another process of the same backend, ended after the check. */
  async another(): Promise<ConformanceContext> {
    if (!this.target.spawnAnother) throw new CheckSkipped("only a backend that the suite starts can be started anew");
    const spawned = await this.target.spawnAnother();
    this.#closers.push(() => spawned.close());
    const target: ConformanceTarget = { addresses: spawned.addresses, allowMotion: this.target.allowMotion };
    if (spawned.curve) target.curve = spawned.curve;
    if (spawned.privileged) target.privileged = spawned.privileged;
    const other = new ConformanceContext({ ...this.#options, target, evaluator: undefined, snapshot: undefined });
    this.#closers.unshift(() => other.cleanUp());
    return other;
  }

  onCleanUp(close: () => unknown): void {
    this.#closers.push(close);
  }

  /** Lets device time pass: by Advance on a simulated clock, by waiting on another. */
  async pass(session: RawSession, duration_s: number): Promise<void> {
    if (!this.simulated) return sleepMs(duration_s * 1000);
    await this.state(session);
    await session.must("advance", { advance: { until_s: session.time_s + duration_s, through_motion_ends: true } });
  }

  async cleanUp(): Promise<void> {
    for (const session of this.#sessions.splice(0)) {
      try {
        await session.bye();
      } catch {
        // A check that ended its session in its own way leaves nothing to say goodbye to.
      }
    }
    for (const peer of this.#peers.splice(0)) peer.close();
    for (const close of this.#closers.splice(0)) await close();
  }
}

export const sleepMs = (duration_ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, duration_ms);
  });
