import { Skill2RealError } from "../contract/errors.js";
import type { Arm, Capabilities, Gripper } from "../contract/generated/device.js";
import { ArmKinematics, type ArmModel } from "./native/pose.js";
import { OperationFailure } from "./operation.js";

export type ArmRuntime = {
  readonly name: string;
  readonly description: Arm;
  readonly gripper: Gripper | null;
  readonly kinematics: ArmKinematics;
};

const NO_FINGER = { length_m: 0.001, width_m: 0.001, thickness_m: 0.001 };
const triple = (values: readonly number[]): [number, number, number] => [
  values[0] ?? 0,
  values[1] ?? 0,
  values[2] ?? 0,
];

/** The native model of an arm and its gripper as a backend describes them. */
export function armModel(arm: Arm, gripper: Gripper | null): ArmModel {
  const each = (pick: (limit: Arm["limits"][number]) => number): number[] => arm.limits.map(pick);
  return {
    name: arm.name,
    dh: arm.dh.map((row) => ({
      a_m: row.a_m,
      d_m: row.d_m,
      alpha_rad: row.alpha_rad,
      theta_offset_rad: row.theta_offset_rad,
    })),
    X_world_base: arm.X_world_base,
    X_flange_tcp: arm.X_flange_tcp,
    position_min_rad: each((limit) => limit.position_min_rad),
    position_max_rad: each((limit) => limit.position_max_rad),
    velocity_max_rad_s: each((limit) => limit.velocity_rad_s),
    acceleration_max_rad_s2: each((limit) => limit.acceleration_rad_s2),
    jerk_max_rad_s3: each((limit) => limit.jerk_rad_s3),
    capsules: arm.capsules.map((capsule) => ({
      link: capsule.link,
      p0_m: triple(capsule.p0_m),
      p1_m: triple(capsule.p1_m),
      radius_m: capsule.radius_m,
    })),
    gripper: {
      capsules: [],
      max_opening_m: gripper?.max_opening_m ?? 0,
      finger: gripper
        ? {
            length_m: gripper.finger_length_m,
            width_m: gripper.finger_width_m,
            thickness_m: gripper.finger_thickness_m,
          }
        : NO_FINGER,
    },
  };
}

/** The arms of a backend by name. */
export class Arms {
  readonly #arms = new Map<string, ArmRuntime>();

  constructor(capabilities: Capabilities) {
    for (const description of capabilities.arms) {
      const gripper = capabilities.grippers.find((entry) => entry.arm === description.name) ?? null;
      const kinematics = ArmKinematics.create(armModel(description, gripper));
      this.#arms.set(description.name, { name: description.name, description, gripper, kinematics });
    }
    if (this.#arms.size === 0)
      throw new Skill2RealError(
        "backend_refused",
        'the backend describes no arm: check its capabilities with "skill2real backend check"',
      );
  }

  get names(): string[] {
    return [...this.#arms.keys()];
  }

  all(): ArmRuntime[] {
    return [...this.#arms.values()];
  }

  /** The named arm, or the only one; throws `arm_required` or `unknown_arm`. */
  get(name?: string): ArmRuntime {
    if (name === undefined) {
      const [only, ...others] = this.#arms.values();
      if (only && others.length === 0) return only;
      throw new OperationFailure(
        "arm_required",
        `there are ${this.#arms.size} arms (${this.names.join(", ")}): say which with arm`,
      );
    }
    const arm = this.#arms.get(name);
    if (arm) return arm;
    throw new OperationFailure(
      "unknown_arm",
      `there is no arm ${JSON.stringify(name)}; arms: ${this.names.join(", ")}`,
    );
  }
}
