import type { Capsule } from "../../../src/contract/generated/device.js";

/**
 * What a UR5e is, beyond its kinematics: joint torques (the manufacturer's robot description), and its housing as capsules in
 * Denavit-Hartenberg frames, which are those of the simulated twin. The last two ride on the flange: the Pika gripper's neck and
 * rail with the wrist camera.
 */
export const UR5E_TORQUE_NM = [150, 150, 150, 28, 28, 28] as const;

const capsule = (
  link: number,
  p0_m: [number, number, number],
  p1_m: [number, number, number],
  radius_m: number,
  name: string,
): Capsule => ({ link, p0_m, p1_m, radius_m, name });

export const UR5E_CAPSULES: readonly Capsule[] = [
  capsule(0, [0, 0, 0.03], [0, 0, 0.075], 0.075, "base"),
  capsule(1, [0, -0.04, 0], [0, 0, 0.03], 0.062, "shoulder"),
  capsule(2, [0.425, 0, 0.09], [0.425, 0, 0.138], 0.062, "upper_arm_root"),
  capsule(2, [0.425, 0, 0.138], [0, 0, 0.138], 0.052, "upper_arm"),
  capsule(2, [0, 0, 0.08], [0, 0, 0.138], 0.055, "elbow"),
  capsule(3, [0.3922, 0, 0.007], [0, 0, 0.007], 0.043, "forearm"),
  capsule(4, [0, -0.1, 0], [0, 0, 0], 0.042, "wrist_1"),
  capsule(5, [0, 0.06, 0], [0, 0, 0], 0.042, "wrist_2"),
  capsule(6, [0, 0, -0.045], [0, 0, -0.03], 0.038, "wrist_3"),
];

export const PIKA_CAPSULES: readonly Capsule[] = [
  capsule(6, [0, 0, 0.01], [0, 0, 0.045], 0.035, "gripper_neck"),
  capsule(6, [0, -0.05, 0.072], [0, 0.05, 0.072], 0.03, "gripper_rail"),
  capsule(6, [0.062, -0.03, 0.038], [0.062, 0.03, 0.038], 0.012, "wrist_cameras"),
];
