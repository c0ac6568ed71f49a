import { setTimeout as sleep } from "node:timers/promises";
import { operatorRecover, operatorStatus } from "../../../backends/native/operator.js";
import type { Rig } from "../../config/index.js";
import { isSkill2RealError } from "../../contract/errors.js";
import type {
  Arm,
  DeviceErrorCode,
  DeviceEvent,
  GroupStatus,
  Motion,
  StateReply,
} from "../../contract/generated/device.js";
import type { Init } from "../../contract/wire/init.js";
import type { ExecuteOptions } from "../../runtime/device/device.js";
import { DeviceClient } from "../../runtime/device/device-client.js";
import { distance, jointTrajectory } from "../conformance/motion.js";
import type { HilBench } from "./bench.js";
import { CheckSkipped, ensure, type Measurement } from "./check.js";
import type { HilMcap } from "./mcap-report.js";
import { PlantTruth } from "./plant-truth.js";
import type { FaultRow } from "./report.js";
import { RtdeObserver } from "./rtde-observer.js";

const LEASE_MS = 10_000;
const LOST_AFTER_MS = 4000;
const GROUP_GRACE_S = 10;
/** Within this of where the bench stood, a check need not go there first. */
const AT_BASE_RAD = 0.003;
const SETTLE_MS = 300;

export type Conductor = { client: DeviceClient; arm: Arm; events: DeviceEvent[]; q_rad: number[] };

/** What a check works with; everything that it opens is closed after it. */
export class HilContext {
  readonly bench: HilBench;
  readonly measurements: Measurement[] = [];
  readonly slow: string[] = [];
  fault: FaultRow | undefined;
  readonly #strict: boolean;
  readonly #moves: boolean;
  readonly #base: { q_rad: number[] | null };
  readonly #record: HilMcap | null;
  readonly #closers: (() => unknown)[] = [];

  /** `base.q_rad`: where the arm stood when the suite began; moving checks begin there. */
  constructor(options: {
    bench: HilBench;
    strictTiming: boolean;
    /** False: the check has said that it moves nothing, and no person was asked. */
    moves: boolean;
    base: { q_rad: number[] | null };
    record: HilMcap | null;
  }) {
    this.bench = options.bench;
    this.#strict = options.strictTiming;
    this.#moves = options.moves;
    this.#base = options.base;
    this.#record = options.record;
  }

  get rig(): Rig {
    return this.bench.rig;
  }

  // ------------------------------------------------------------ measuring

  measure(name: string, value: number, unit: string, limit?: number): number {
    this.measurements.push({
      name,
      value: Number.isFinite(value) ? value : -1,
      unit,
      ...(limit === undefined ? {} : { limit }),
    });
    return value;
  }

  /** A timing, which a loaded machine may miss: beyond its limit the check is slow, or fails where timings are strict. */
  timing(name: string, value: number, unit: string, limit: number): number {
    this.measure(name, value, unit, limit);
    if (value <= limit) return value;
    const message = `${name} is ${Number(value.toPrecision(3))} ${unit}, more than ${limit} ${unit}`;
    ensure(!this.#strict, message);
    this.slow.push(message);
    return value;
  }

  // ------------------------------------------------------------ sessions

  async observer(): Promise<DeviceClient> {
    const { addresses } = await this.bench.backend();
    const client = await DeviceClient.connect({
      ...addresses,
      role: "OBSERVER",
      client: "hil",
      lostAfterMs: LOST_AFTER_MS,
    });
    this.onCleanUp(() => client.bye());
    return client;
  }

  /** The controller, with no stop latched, the arm standing where the bench had it at the start. */
  async conductor(options: { leaseMs?: number; from?: "base" | "anywhere" } = {}): Promise<Conductor> {
    const conductor = await this.#connect(options.leaseMs ?? LEASE_MS);
    await this.#free(conductor.client);
    const state = await conductor.client.getState();
    this.#base.q_rad ??= [...(state.arms[0]?.q_rad ?? [])];
    if (
      this.#moves &&
      options.from !== "anywhere" &&
      distance(this.#base.q_rad, state.arms[0]?.q_rad ?? []) > AT_BASE_RAD
    ) {
      await this.moveTo(conductor, this.#base.q_rad);
      // The end of a motion is that of its setpoints; the arm is a servo's lag behind.
      await sleep(SETTLE_MS);
    }
    conductor.q_rad = await this.q(conductor);
    conductor.events.length = 0;
    return conductor;
  }

  async #connect(leaseMs: number): Promise<Conductor> {
    const { addresses } = await this.bench.backend();
    const client = await DeviceClient.connect({
      ...addresses,
      role: "CONTROLLER",
      client: "hil",
      leaseMs,
      lostAfterMs: LOST_AFTER_MS,
    });
    const events: DeviceEvent[] = [];
    client.onEvent((event) => {
      events.push(event);
      this.#record?.event(event);
    });
    this.onCleanUp(() => client.bye());
    const arm = client.capabilities.arms[0];
    ensure(arm, "the backend has no arm");
    return { client, arm, events, q_rad: [] };
  }

  /** Clears a stop that an earlier check left; one after a fault is for whoever broke it. */
  async #free(client: DeviceClient): Promise<void> {
    const state = await client.getState();
    if (!state.stop_latched) return;
    const backend = await this.bench.backend();
    const { fault_code } = await operatorStatus(backend.operator);
    if (fault_code === "") await client.resume({ stop_epoch: state.stop_epoch });
    else if (this.bench.isEmulated) await this.recover(client);
    else throw new CheckSkipped(`the arm has a fault, ${fault_code}: "skill2real arm recover" first`);
  }

  /** What a person does after a fault: recovery by the operator's command, and Resume with its token. */
  async recover(client: DeviceClient): Promise<number> {
    const backend = await this.bench.backend();
    const { token, count } = await operatorRecover(backend.operator);
    const { stop_epoch } = await client.getState();
    await client.resume({ stop_epoch, token });
    return count;
  }

  // ------------------------------------------------------------ motion

  async state(client: DeviceClient): Promise<StateReply> {
    const state = await client.getState();
    this.#record?.state(state);
    return state;
  }

  async q({ client }: Conductor): Promise<number[]> {
    return [...((await this.state(client)).arms[0]?.q_rad ?? [])];
  }

  /** A rest-to-rest trajectory to `target`; `slower` stretches it. */
  trajectory(
    { arm }: Conductor,
    from: readonly number[],
    target: readonly number[],
    slower = 1,
  ): Init<Motion> & { duration_s: number } {
    const joint_trajectory = jointTrajectory(arm, from, target);
    joint_trajectory.time_s = joint_trajectory.time_s.map((time_s) => time_s * slower);
    return { joint_trajectory, duration_s: joint_trajectory.time_s.at(-1)! };
  }

  async start({ client }: Conductor, motions: readonly Init<Motion>[], options: Partial<ExecuteOptions> = {}) {
    ensure(this.#moves, "this check has not said that it moves something");
    const bare = motions.map(({ joint_trajectory, gripper_move }) =>
      joint_trajectory ? { joint_trajectory } : { gripper_move },
    );
    return client.execute({ stop_epoch: client.stopEpoch, motions: bare as Init<Motion>[], ...options });
  }

  /** Waits for the end of a group, recording states; throws where it has not ended long after it should. */
  async finish(
    { client }: Conductor,
    group: number,
    expected_end_s: number,
    onState: (state: StateReply) => void = () => {},
  ): Promise<GroupStatus> {
    for (;;) {
      const state = await this.state(client);
      onState(state);
      const status = state.groups.find((candidate) => candidate.group === group);
      ensure(status, `group ${group} is not in the state's list`);
      if (!status.active) return status;
      ensure(
        client.time_s < expected_end_s + GROUP_GRACE_S,
        `group ${group} is still active ${GROUP_GRACE_S} s after its expected end`,
      );
      await sleep(10);
    }
  }

  async play(
    conductor: Conductor,
    motions: readonly Init<Motion>[],
    onState?: (state: StateReply) => void,
  ): Promise<GroupStatus> {
    const { group, expected_end_time_s } = await this.start(conductor, motions);
    return this.finish(conductor, group, expected_end_time_s, onState);
  }

  /** Moves there and demands that it ended well. */
  async moveTo(conductor: Conductor, target: readonly number[]): Promise<void> {
    const from = await this.q(conductor);
    const status = await this.play(conductor, [this.trajectory(conductor, from, target)]);
    const reason = status.motions[0]?.end_reason;
    ensure(reason === "END_COMPLETED", `the motion there ended with ${reason}`);
  }

  /** Demands a refusal with one of the codes; gives its words. */
  async refused(work: () => Promise<unknown>, ...codes: DeviceErrorCode[]): Promise<string> {
    let error: unknown;
    try {
      await work();
    } catch (thrown) {
      error = thrown;
    }
    ensure(error !== undefined, `it was accepted; it must be refused with ${codes.join(" or ")}`);
    if (!isSkill2RealError(error)) throw error;
    const code = error.details.device_code as DeviceErrorCode | undefined;
    ensure(
      code !== undefined && codes.includes(code),
      () => `it was refused with ${code ?? "no code"} (${(error as Error).message}), not ${codes.join(" or ")}`,
    );
    return error.message;
  }

  /** Waits until an event is there that the condition takes; throws where none comes. */
  async event(
    { events }: Conductor,
    condition: (event: DeviceEvent) => boolean,
    what: string,
    patience_s = 5,
  ): Promise<DeviceEvent> {
    const give_up_ms = performance.now() + 1e3 * patience_s;
    for (;;) {
      const found = events.find(condition);
      if (found) return found;
      ensure(performance.now() < give_up_ms, `no ${what} within ${patience_s} s`);
      await sleep(3);
    }
  }

  // ------------------------------------------------------------ independent eyes

  /** A second reader of the controller, which only listens. */
  async rtde(variables: readonly string[], hz = 125): Promise<RtdeObserver> {
    const observer = await RtdeObserver.open(this.rig.arm.host, variables, { hz });
    this.onCleanUp(() => observer.close());
    return observer;
  }

  /** What the emulated arm really does. */
  truth(): PlantTruth {
    const truth = new PlantTruth(this.bench.emulated.plantPath);
    this.onCleanUp(() => truth.close());
    return truth;
  }

  onCleanUp(close: () => unknown): void {
    this.#closers.push(close);
  }

  /** The fault that the arm or the gripper has now, in words; empty where they are well or nobody holds them. */
  async faultWords(): Promise<string> {
    const backend = this.bench.running;
    if (!backend) return "";
    try {
      const { fault_code, fault_message } = await operatorStatus(backend.operator);
      return fault_code === "" ? "" : `the rig has the fault ${fault_code}: ${fault_message}`;
    } catch {
      return "the backend does not answer any more";
    }
  }

  async cleanUp(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) {
      try {
        await close();
      } catch {
        // What a check broke may not close well; the bench is mended after such checks.
      }
    }
  }
}
