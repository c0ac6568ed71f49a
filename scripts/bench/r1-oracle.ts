import type { SimBackend } from "../../backends/sim/launch.js";
import type { TrueBody } from "../../src/contract/generated/privileged.js";
import type { CompilePoseResult, MotionResult, Pose } from "../../src/contract/generated/robot-api.js";
import type { PrivilegedClient } from "../../src/evaluation/privileged-client.js";
import type { DeviceExchange } from "../../src/runtime/device/device.js";
import { DeviceClient } from "../../src/runtime/device/device-client.js";
import type { OperationTable } from "../../src/runtime/operation.js";
import { Session } from "../../src/runtime/session.js";

export type OracleResult = { seed: number; success: boolean; failure_kind: string };

/** Heights above the goal's floor at which the oracle lets go. */
const DROP_M = 0.006;
const FLOOR_M: Record<string, number> = { tray: 0.004, bowl: 0.005, mat: 0.003 };

/**
 * Plays a seed with the true state in hand, through the same planning and motion as everyone: how much of the task is
 * feasible at all. It never looks.
 */
export async function playOracle(
  sim: SimBackend,
  privileged: PrivilegedClient,
  operations: OperationTable,
  seed: number,
  onExchange?: (exchange: DeviceExchange) => void,
): Promise<OracleResult> {
  await privileged.reset({ task: "r1", seed });
  const { bodies } = await privileged.trueState();
  const [target, goal] = ["target", "goal"].map((role) => bodies.find((body) => body.role === role)) as [
    TrueBody,
    TrueBody,
  ];
  const device = await DeviceClient.connect({
    ...sim.addresses,
    role: "CONTROLLER",
    client: "bench/oracle",
    ...(onExchange ? { onExchange } : {}),
  });
  const session = Session.open({ device, operations });
  const call = async <T>(name: string, request: unknown): Promise<T> => {
    const outcome = await session.call(name, request);
    if ("error" in outcome) throw new Error(`${name}: ${outcome.error.message}`);
    return outcome.value as T;
  };
  const X = target.X_world_body;
  const height = target.size_m[2] ?? 0.05;
  const yaw = Math.atan2(X[4] ?? 0, X[0] ?? 1);
  const across = (target.size_m[0] ?? 0) > (target.size_m[1] ?? 0) ? yaw + Math.PI / 2 : yaw;
  const centre_z = height > 0.07 ? height - 0.035 : height / 2;
  let plan: CompilePoseResult | null = null;
  for (const angle of [across, across + Math.PI / 2, across + Math.PI / 4, across - Math.PI / 4]) {
    plan = await call<CompilePoseResult>("compile_pose", {
      mode: "grasp",
      grasp_center_xyz: [X[3], X[7], centre_z],
      closing_axis_world: [Math.cos(angle), Math.sin(angle), 0],
    });
    if (plan.status === "ok") break;
  }
  if (plan?.status === "ok" && plan.mode === "grasp") {
    const contact = plan.contact;
    const lowest = contact.z - height; // the object's underside may hang this far below the fingers
    const over: Pose = {
      ...plan.lift,
      x: goal.X_world_body[3] ?? 0,
      y: goal.X_world_body[7] ?? 0,
      z: Math.min(0.5, contact.z + Math.max(0.14, -lowest + 0.1)),
    };
    const release: Pose = { ...over, z: contact.z + (FLOOR_M[goal.kind] ?? 0) + DROP_M };
    await call("gripper_goto", { opening_m: plan.opening_m });
    await call("goto_pose", { pose: plan.approach });
    await call("goto_pose", { pose: plan.contact, motion: "linear", speed: 0.5 });
    await call("gripper_goto", { opening_m: 0 });
    await call("goto_pose", { pose: { ...plan.lift, z: over.z }, motion: "linear", speed: 0.6 });
    const carried = await call<MotionResult>("goto_pose", { pose: over });
    if (carried.status !== "ok") await call("goto_pose", { pose: over, motion: "joint" });
    await call("goto_pose", { pose: release, motion: "linear", speed: 0.4, contact_stop: { force_n: 12 } });
    await call("gripper_goto", { opening_m: Math.min(0.095, plan.opening_m) });
    await call("goto_pose", { pose: over, motion: "linear", speed: 0.6 });
  }
  await session.close();
  await privileged.settle(1);
  const { success, failure_kind } = await privileged.evaluate();
  return { seed, success, failure_kind: plan?.status === "ok" ? failure_kind : `no grasp: ${plan?.status}` };
}
