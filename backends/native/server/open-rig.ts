import type { Rig, RigCamera } from "../../../src/config/index.js";
import { Skill2RealError } from "../../../src/contract/errors.js";
import { CameraDriver } from "../../../src/runtime/native/camera.js";
import { NativeArm } from "./adapters/arm.js";
import { NativeGripper } from "./adapters/gripper.js";
import type { CameraDriver as Camera } from "./drivers.js";
import type { RigDrivers } from "./native-server.js";

export type OpenRigOptions = { rig: Rig; stop_address: string; speed_cap: number };

export type OpenedRig = RigDrivers & { arm: NativeArm; gripper: NativeGripper | null };

const PLANT_FPS = 5;

/** Opens all devices of a rig, or none: what was opened before one that fails is closed again. Nothing moves. */
export async function openRig({ rig, stop_address, speed_cap }: OpenRigOptions): Promise<OpenedRig> {
  const opened: { close(): Promise<unknown> }[] = [];
  const keep = async <T extends { close(): Promise<unknown> }>(opening: Promise<T>): Promise<T> => {
    const device = await opening;
    opened.push(device);
    return device;
  };
  const results = await Promise.allSettled([
    keep(NativeArm.open({ rig, stop_address, speed_cap, parent_pid: process.ppid })),
    rig.gripper ? keep(NativeGripper.open(rig.gripper)) : null,
    Promise.all(
      Object.entries(rig.cameras).map(async ([name, camera]) => [name, await keep(openCamera(name, camera))] as const),
    ),
  ]);
  const [arm, gripper, cameras] = results;
  const reasons = results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
  if (arm.status === "fulfilled" && gripper.status === "fulfilled" && cameras.status === "fulfilled") {
    try {
      // From thread to thread: the gripper stops with the arm while JavaScript hangs.
      if (gripper.value) arm.value.addon.signalStops(gripper.value.addon.stopDescriptor);
      return { arm: arm.value, gripper: gripper.value, cameras: new Map<string, Camera>(cameras.value) };
    } catch (error) {
      reasons.push(error);
    }
  }
  await Promise.allSettled(opened.map((device) => device.close()));
  throw reasons.length === 1
    ? reasons[0]
    : new Skill2RealError(
        "backend_unreachable",
        reasons.map((reason) => (reason instanceof Error ? reason.message : String(reason))).join("\n"),
      );
}

/** Rejects with the camera's fault, and with `camera_not_found` where a camera of another serial number answers. */
export async function openCamera(name: string, rig: RigCamera): Promise<CameraDriver> {
  const fps = rig.source === "realsense" ? rig.fps : rig.source === "plant" ? PLANT_FPS : 30;
  const stream = { width: rig.width, height: rig.height, fps };
  const streams = rig.depth === "stereo" ? { color: stream, infrared: stream } : { color: stream, depth: stream };
  const camera = await CameraDriver.open({ name, source: sourceOf(name, rig), streams });
  const { serial } = camera.info;
  if (rig.source === "recording" || rig.serial === undefined || rig.serial === serial) return camera;
  await camera.close();
  throw new Skill2RealError(
    "camera_not_found",
    `camera "${name}" has the serial number ${serial}, the rig says ${rig.serial}: cameras are swapped, or the rig's file is of another bench`,
  );
}

function sourceOf(name: string, rig: RigCamera): Parameters<typeof CameraDriver.open>[0]["source"] {
  switch (rig.source) {
    case "realsense":
      return {
        kind: "realsense",
        serial: rig.serial,
        ...(rig.library ? { library: rig.library } : {}),
        ...(rig.exposure_us ? { exposure_us: rig.exposure_us } : {}),
      };
    case "recording":
      return { kind: "recording", file: rig.file, ...(rig.library ? { library: rig.library } : {}) };
    case "plant":
      if (rig.address) return { kind: "plant", address: rig.address, camera: name };
      throw new Skill2RealError(
        "bad_config",
        `camera "${name}" of the rig has no address: start it with --rig emulated`,
      );
  }
}

/** What was found of the devices, in words for a person. */
export function rigNotes({ arm, gripper }: OpenedRig): string[] {
  const { kinematics, kinematics_reason, controller_version, serial, realtime, mounting } = arm.addon.info;
  const notes = [
    `arm: controller ${controller_version}, serial ${serial || "unknown"}`,
    kinematics === "calibrated"
      ? "arm: kinematics of its factory calibration"
      : `arm: nominal kinematics (${kinematics_reason})`,
    realtime.granted
      ? `arm: real-time scheduling ${realtime.policy} ${realtime.priority}, memory ${realtime.memory_locked ? "locked" : "not locked"}`
      : `arm: no real-time scheduling (${realtime.reason})`,
  ];
  if (mounting === "unverified") notes.push("arm: its mounting could not be confirmed by its accelerometer");
  if (gripper) notes.push(`gripper: ${gripper.addon.info.device}, commands "${gripper.addon.info.dialect}"`);
  return notes;
}
