import { describe, expect, it } from "vitest";
import { judgeTrial, type TrialOutcome } from "./fault-verdict.js";
import type { ProgramReply } from "./judge-reports.js";

const reply = (operation: string, status: string): ProgramReply => ({ operation, status, message: "", fields: {} });
const GOOD = { falsehoods: new Set<string>(), code: "link_lost", stood: true, alive: true };

const judged = (expected: Parameters<typeof judgeTrial>[0], outcome: Partial<TrialOutcome>) => (): void =>
  judgeTrial(expected, { ...GOOD, replies: [], ...outcome });

describe("the verdict on a fault", () => {
  const breaks = (during: "arm" | "gripper") => ({ codes: ["link_lost"], during }) as const;

  it("fails a trial of the arm alone whose motion is told to have gone well, or not told at all", () => {
    const well = "the program was told that all went well";
    expect(judged(breaks("arm"), { replies: [reply("goto_pose", "ok")] })).toThrow(well);
    expect(judged(breaks("arm"), { replies: [reply("goto_pose", "ok"), reply("get_robot_state", "stopped")] })).toThrow(
      well,
    );
    expect(judged(breaks("arm"), {})).toThrow(well);
    expect(judged(breaks("arm"), { replies: [reply("goto_pose", "protective_stop")] })).not.toThrow();
  });

  it("asks of two motions that one of them failed", () => {
    const both = (arm: string, gripper: string) => ({
      replies: [reply("gripper_goto", gripper), reply("goto_pose", arm)],
    });
    expect(judged(breaks("gripper"), both("ok", "ok"))).toThrow("all went well");
    expect(judged(breaks("gripper"), both("stopped", "ok"))).not.toThrow();
    expect(judged(breaks("gripper"), both("ok", "protective_stop"))).not.toThrow();
  });

  it("asks for the right code, and for standstill while the plant can tell of it", () => {
    const replies = [reply("goto_pose", "protective_stop")];
    expect(judged(breaks("arm"), { replies, code: "link_reset" })).toThrow(/"link_reset", it must be link_lost/);
    expect(judged(breaks("arm"), { replies, stood: false })).toThrow("did not come to stand");
    expect(judged(breaks("arm"), { replies, stood: false, alive: false })).not.toThrow();
    expect(judged(breaks("arm"), { replies, falsehoods: new Set(["a pose"]) })).toThrow("false: a pose");
  });

  it("asks for each motion's good end where the fault must be borne", () => {
    const ok = [reply("goto_pose", "ok")];
    expect(judged({ codes: [], during: "arm" }, { replies: ok })).not.toThrow();
    expect(judged({ codes: [], during: "arm" }, {})).toThrow("the arm's motion ended");
    expect(judged({ codes: [], during: "gripper" }, { replies: ok })).toThrow("the gripper's motion ended");
    const stuck = { codes: [], during: "gripper", jaw: "not ok" } as const;
    expect(judged(stuck, { replies: ok })).toThrow("the jaw");
    expect(judged(stuck, { replies: [...ok, reply("gripper_goto", "timeout")] })).not.toThrow();
  });

  it("asks for a refused picture, or for a given one", () => {
    const seen = (status: string) => ({ replies: [reply("goto_pose", "ok"), reply("get_wrist_stereo_view", status)] });
    const view = (picture: "refused" | "given") => ({ codes: [], during: "view", picture }) as const;
    expect(judged(view("refused"), seen("ok"))).toThrow("was given");
    expect(judged(view("refused"), { replies: [reply("goto_pose", "ok")] })).toThrow("was given");
    expect(judged(view("refused"), seen("camera_failed"))).not.toThrow();
    expect(judged(view("given"), seen("camera_failed"))).toThrow("no picture");
    expect(judged(view("given"), seen("ok"))).not.toThrow();
  });
});
