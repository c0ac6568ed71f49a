import { SimBackend } from "../../../backends/sim/launch.js";
import { Skill2RealError } from "../../contract/errors.js";
import type { EvaluateReply } from "../../contract/generated/privileged.js";
import type { DeviceAddresses } from "../../runtime/device/device.js";
import { DeviceClient } from "../../runtime/device/device-client.js";
import { jointTrajectory } from "../conformance/motion.js";
import { type EpisodeWorld, LEASE_MS } from "../episode-world.js";
import { PrivilegedClient } from "../privileged-client.js";

/** The joints and the opening that a preview begins with. */
export type ArmPosture = { q_rad: readonly number[]; opening_m: number | null };

export type PreviewWorldOptions = {
  posture: ArmPosture;
  /** Whose things lie on the table: those of a seed of the task; null: none. */
  seed: number | null;
};

/**
 * A simulator in which the arm stands where the live one does. The arm is brought there by ordinary motions, so no door into
 * the simulated world is needed; what lies on the real table is not known to it.
 */
export class PreviewWorld implements EpisodeWorld {
  readonly backend = "sim";
  readonly leaseMs = LEASE_MS;
  readonly #options: PreviewWorldOptions;
  #sim: SimBackend | null = null;

  constructor(options: PreviewWorldOptions) {
    this.#options = options;
  }

  get addresses(): DeviceAddresses | null {
    return this.#sim?.addresses ?? null;
  }
  get pid(): number | null {
    return this.#sim?.pid ?? null;
  }

  async start(): Promise<void> {
    this.#sim ??= await SimBackend.spawn({ realtime: 0, privileged: true });
  }

  async begin(): Promise<{ instruction: null }> {
    await this.start();
    const { seed, posture } = this.#options;
    const sim = this.#sim!;
    if (!sim.privileged)
      throw new Skill2RealError("internal", "the simulator was started without its privileged plane");
    const evaluator = await PrivilegedClient.connect(sim.privileged);
    try {
      await evaluator.reset({ task: "r1", seed: seed ?? 0, ...(seed === null ? { variant: "empty_table" } : {}) });
    } finally {
      evaluator.close();
    }
    const device = await DeviceClient.connect({ ...sim.addresses, role: "CONTROLLER", client: "preview" });
    try {
      await takePosture(device, posture);
    } finally {
      await device.bye();
    }
    return { instruction: null };
  }

  async judge(): Promise<EvaluateReply | null> {
    return null;
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
    await this.#sim?.close();
    this.#sim = null;
  }
}

/** Throws `backend_refused` where the simulated arm does not get there: something of the table is in its way. */
export async function takePosture(device: DeviceClient, { q_rad, opening_m }: ArmPosture): Promise<void> {
  const arm = device.capabilities.arms[0]!;
  const from = (await device.getState()).arms[0]!.q_rad;
  const most_m = device.capabilities.grippers[0]?.max_opening_m ?? 0;
  // A measurement may lie a hair beyond what can be asked for.
  const jaw =
    opening_m === null
      ? []
      : [{ gripper_move: { arm: arm.name, opening_m: Math.min(most_m, Math.max(0, opening_m)) } }];
  const motions = [{ joint_trajectory: jointTrajectory(arm, from, q_rad) }, ...jaw];
  const { expected_end_time_s } = await device.execute({ stop_epoch: device.stopEpoch, motions });
  const { state } = await device.advance({ until_s: expected_end_time_s + 2, through_motion_ends: true });
  const off_rad = Math.max(...q_rad.map((q, joint) => Math.abs(q - (state?.arms[0]?.q_rad[joint] ?? Number.NaN))));
  if (!(off_rad < 0.01))
    throw new Skill2RealError(
      "backend_refused",
      `the simulated arm does not reach the live arm's joints (${(1e3 * off_rad).toFixed(0)} mrad off): something of the scene is in its way`,
    );
}
