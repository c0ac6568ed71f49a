import { describe, expect, it } from "vitest";
import { fromPose, toPose } from "../../runtime/transforms.js";
import {
  judgeArmMotion,
  judgeGripperMotion,
  judgeGripperState,
  judgeRobotState,
  judgeView,
  type ProgramReply,
  type WorldTruth,
} from "./judge-reports.js";

const pose = (x: number) => ({ x, y: 0.4, z: 0.3, qx: 1, qy: 0, qz: 0, qw: 0 });
const at = (x: number): number[] => fromPose(pose(x))!;
const world = (x = 0.1, opening_m = 0.05): WorldTruth => ({
  X_world_tcp: at(x),
  q_rad: [0, -1, 1, -1, -1, 0],
  opening_m,
});
const reply = (status: string, fields: Record<string, unknown> = {}, operation = "goto_pose"): ProgramReply => ({
  operation,
  status,
  message: "",
  fields,
});

describe("what a program was told, against the plant", () => {
  it("believes an arm that is at its goal, and nobody who only says so", () => {
    const told = reply("ok", { stop_reason: "completed", reached_pose: toPose(at(0.1)) });
    expect(judgeArmMotion(told, world(), at(0.1))).toEqual([]);
    expect(judgeArmMotion(told, world(0.08), at(0.1))).toEqual([
      "reached_pose is 20 mm off",
      '"ok", 20 mm and 0 mrad from the goal',
    ]);
    expect(judgeArmMotion(reply("ok", { stop_reason: "contact" }), world(), at(0.1))).toHaveLength(1);
  });

  it("lets a failure be anywhere, but not tell another pose than the real one", () => {
    expect(judgeArmMotion(reply("protective_stop"), world(), at(0.4))).toEqual([]);
    const told = reply("protective_stop", { reached_pose: pose(0.13) });
    expect(judgeArmMotion(told, world(), at(0.4))).toEqual(["reached_pose is 30 mm off"]);
  });

  it("finds a grip where nothing is, and an opening that is not so", () => {
    const closed = (fields: Record<string, unknown>, status = "ok") => reply(status, fields, "gripper_goto");
    expect(judgeGripperMotion(closed({ stop_reason: "completed", opening_m: 0.05 }), world(), 0.05)).toEqual([]);
    expect(judgeGripperMotion(closed({ stop_reason: "stalled", opening_m: 0.05 }), world(), 0.02)).toHaveLength(1);
    expect(judgeGripperMotion(closed({ stop_reason: "completed", opening_m: 0.02 }), world(), 0.02)).toHaveLength(2);
    expect(judgeGripperMotion(closed({}, "timeout"), world(), 0.02)).toEqual([]);
    const state = (fields: Record<string, unknown>) => reply("ok", fields, "get_gripper_state");
    expect(judgeGripperState(state({ opening_m: 0.052, measured: true, stalled: false }), world())).toEqual([]);
    expect(judgeGripperState(state({ opening_m: 0.06, measured: true, stalled: true }), world())).toHaveLength(2);
    expect(judgeGripperState(state({ opening_m: 0.06, measured: true, moving: true }), world())).toEqual([]);
  });

  it("takes joints of an arm that answers for its own, and a disconnected one's for the last known", () => {
    const off = { joints_rad: [0.2, -1, 1, -1, -1, 0], tcp_pose: pose(0.2) };
    expect(judgeRobotState(reply("ok", { ...off, mode: "idle" }), world())).toHaveLength(2);
    expect(judgeRobotState(reply("ok", { ...off, mode: "disconnected" }), world())).toEqual([]);
    expect(judgeRobotState(reply("ok", { mode: "idle", joints_rad: [] }), world())).toEqual([]);
    expect(judgeRobotState(reply("ok", { mode: "idle", joints_rad: [Number.NaN] }), world())).toHaveLength(1);
  });

  it("finds an old picture that is told as new, and a time at which none was taken", () => {
    const view = { asked_s: 10, exposures: [9.2, 10.3], X_world_tcp_at: () => at(0.1) };
    const told = (taken_at_s: number, x = 0.1) =>
      reply("ok", { taken_at_s, tcp_pose: pose(x) }, "get_wrist_stereo_view");
    expect(judgeView(told(10.3), view)).toEqual([]);
    expect(judgeView(told(9.2), view)).toHaveLength(1);
    expect(judgeView(told(10.8), view)).toHaveLength(1);
    expect(judgeView(told(10.3, 0.2), view)).toEqual(["tcp_pose of the exposure is 100 mm off"]);
    expect(judgeView(told(10.8), { ...view, exposures: null })).toEqual([]);
    expect(judgeView(reply("camera_failed", {}, "get_wrist_stereo_view"), view)).toEqual([]);
    expect(judgeView(reply("ok", {}, "get_wrist_stereo_view"), view)).toHaveLength(1);
  });
});
