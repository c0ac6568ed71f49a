import { readFileSync } from "node:fs";
import type { Rig, RigCamera } from "../../../src/config/index.js";
import { rigTransform } from "../../../src/config/index.js";
import { Skill2RealError } from "../../../src/contract/errors.js";
import type { Arm, Camera, Capabilities, Gripper, View } from "../../../src/contract/generated/device.js";
import { packageFile } from "../../../src/contract/package-root.js";
import type { PinholeIntrinsics } from "../../../src/runtime/native/camera.js";
import { multiply } from "../../../src/runtime/transforms.js";
import type { ArmFacts, CameraFacts, GripperFacts } from "./drivers.js";
import { PIKA_CAPSULES, UR5E_CAPSULES, UR5E_TORQUE_NM } from "./ur5e-model.js";

export const ARM = "arm";
export const CONTROL_PERIOD_S = 0.002;

/** What a camera's stream is, behind its name in the protocol. */
export type Stream = "colour" | "depth" | "infrared_left" | "infrared_right";
export type StreamOf = { driver: string; stream: Stream };

export type RigFacts = {
  rig: Rig;
  arm: ArmFacts;
  gripper: GripperFacts | null;
  cameras: ReadonlyMap<string, CameraFacts>;
  /** Fraction of the rig's speeds that is announced, and kept by the arm's gate: 1, or less where a person has not yet raised it. */
  speed_cap: number;
};

export type NativeDescription = { capabilities: Capabilities; streams: ReadonlyMap<string, StreamOf> };

/** The public face of a rig: what its configuration says and its devices told. */
export function describeRig(facts: RigFacts): NativeDescription {
  const { rig } = facts;
  const cameras: Camera[] = [];
  const streams = new Map<string, StreamOf>();
  for (const [name, camera] of Object.entries(rig.cameras))
    for (const [stream, described] of streamsOf(name, camera, cameraFacts(facts, name))) {
      cameras.push(described);
      streams.set(described.name, { driver: name, stream });
    }
  const { version } = JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as { version: string };
  return {
    streams,
    capabilities: {
      backend: "native",
      embodiment: "robot",
      version,
      clock: "WALL",
      arms: [armOf(facts)],
      grippers: rig.gripper && facts.gripper ? [gripperOf(rig.gripper, facts.gripper)] : [],
      cameras,
      views: viewsOf(facts),
      features: [
        "joint_trajectory",
        "contact_guard",
        ...(rig.gripper && facts.gripper ? ["gripper", "measured_gripper"] : []),
      ],
      step_limit: 0,
      control_period_s: CONTROL_PERIOD_S,
      workspace: {
        table_z_m: rig.workspace.table_z_m,
        min_xyz_m: [...rig.workspace.min_xyz],
        max_xyz_m: [...rig.workspace.max_xyz],
      },
    },
  };
}

/** Where goto_home goes: the look pose of a top-down view that needs one, else home. */
export const homeOf = ({ arm, views, cameras }: Rig): readonly number[] =>
  arm.look_q_rad && views.topdown !== undefined && cameras[views.topdown]?.mount === "tcp"
    ? arm.look_q_rad
    : arm.home_q_rad;

function cameraFacts({ cameras }: RigFacts, name: string): CameraFacts {
  const facts = cameras.get(name);
  if (facts) return facts;
  throw new Skill2RealError("internal", `camera "${name}" of the rig was not opened`);
}

function armOf({ rig: { arm, gripper, ...rig }, arm: facts, speed_cap }: RigFacts): Arm {
  const { limits } = arm;
  return {
    name: ARM,
    model: arm.model,
    dh: facts.dh.map((row) => ({ ...row })),
    X_world_base: rigTransform(arm.X_world_base),
    X_flange_tcp: rigTransform(arm.X_flange_tcp),
    limits: facts.dh.map((_, joint) => ({
      position_min_rad: limits.position_min_rad[joint]!,
      position_max_rad: limits.position_max_rad[joint]!,
      velocity_rad_s: limits.velocity_rad_s[joint]! * speed_cap,
      acceleration_rad_s2: limits.acceleration_rad_s2[joint]!,
      jerk_rad_s3: limits.jerk_rad_s3[joint]!,
      torque_nm: UR5E_TORQUE_NM[joint]!,
    })),
    capsules: [...UR5E_CAPSULES, ...(gripper ? PIKA_CAPSULES : [])],
    home_q_rad: [...homeOf({ arm, ...rig })],
    kinematics_source: facts.kinematics,
    contact_force_default_n: arm.contact_force_n,
    contact_torque_default_nm: arm.contact_torque_nm,
  };
}

function gripperOf(rig: NonNullable<Rig["gripper"]>, facts: GripperFacts): Gripper {
  return {
    arm: ARM,
    control: "width",
    measured: true,
    max_opening_m: facts.max_opening_m,
    stroke_m: facts.stroke_m,
    max_force_n: facts.max_force_n,
    max_speed_m_s: facts.max_speed_m_s,
    finger_length_m: rig.finger_length_m,
    finger_width_m: rig.finger_width_m,
    finger_thickness_m: rig.finger_thickness_m,
  };
}

function streamsOf(name: string, rig: RigCamera, facts: CameraFacts): [Stream, Camera][] {
  const pose = rig.X_parent_camera;
  if (!pose) throw new Skill2RealError("bad_config", `camera "${name}" of the rig has no pose: calibrate it`);
  const X_parent_left = rigTransform(pose);
  const camera = (
    suffix: string,
    image: PinholeIntrinsics,
    X_parent_camera: readonly number[],
    format: string,
  ): Camera => ({
    name: `${name}_${suffix}`,
    parent: rig.mount === "tcp" ? `tcp:${ARM}` : "world",
    width: image.width,
    height: image.height,
    fx_px: image.fx_px,
    fy_px: image.fy_px,
    cx_px: image.cx_px,
    cy_px: image.cy_px,
    X_parent_camera: [...X_parent_camera],
    format,
  });
  if (rig.depth === "sensor")
    return [
      ["colour", camera("left", facts.left, X_parent_left, "rgb8")],
      ["depth", camera("depth", facts.left, X_parent_left, "depth_f32")],
    ];
  const { infrared, X_left_infrared } = facts;
  if (!infrared || !X_left_infrared)
    throw new Skill2RealError(
      "bad_config",
      `camera "${name}" of the rig has no infrared pair for depth = "stereo": set depth = "sensor"`,
    );
  const X_parent_infrared = multiply(X_parent_left, X_left_infrared);
  const X_parent_right = multiply(X_parent_infrared, [
    1,
    0,
    0,
    infrared.baseline_m,
    0,
    1,
    0,
    0,
    0,
    0,
    1,
    0,
    0,
    0,
    0,
    1,
  ]);
  return [
    ["infrared_left", camera("left", infrared, X_parent_infrared, "rgb8")],
    ["infrared_right", camera("right", infrared, X_parent_right, "rgb8")],
  ];
}

function viewsOf(facts: RigFacts): View[] {
  const { rig } = facts;
  const views: View[] = [];
  for (const role of ["topdown", "scene", "wrist"] as const) {
    const name = rig.views[role];
    const camera = name === undefined ? undefined : rig.cameras[name];
    if (name === undefined || !camera) continue;
    const stereo = camera.depth === "stereo";
    const fromPose = role === "topdown" && camera.mount === "tcp";
    views.push({
      role,
      arm: camera.mount === "tcp" ? ARM : "",
      left: `${name}_left`,
      right: stereo ? `${name}_right` : "",
      depth: stereo ? "" : `${name}_depth`,
      baseline_m: stereo ? (cameraFacts(facts, name).infrared?.baseline_m ?? 0) : 0,
      look_q_rad: fromPose ? [...(rig.arm.look_q_rad ?? [])] : [],
    });
  }
  return views;
}
