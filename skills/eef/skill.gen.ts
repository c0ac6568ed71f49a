// Generated from skills/eef/skill.proto by scripts/generate.mjs. Edit the .proto, then run "npm run generate".

import type { CommonFailure, ContactStop, MotionKind, Pose } from "../../src/contract/generated/robot-api.js";
import type { SkillContext, SkillResult } from "../../src/runtime/operation.js";

/** Whose axes a translation or a rotation axis is along. */
export type AxesFrame =
  /** Of the hand as it is now: z is the approach direction, y the closing direction. */
  | "tcp"
  /** Of the left image of an observation: x to its right, y down in it, z away from the camera; needs observation_ref. */
  | "view"
  /** Of the world: z is up. */
  | "world";

/** How far to go. */
export type MoveTcpRequest = {
  /** whose axes */
  frame: AxesFrame;
  /** along them [m]. Range: -1 to 1. */
  translation: readonly [number, number, number];
  /** whose view, with frame "view" */
  observation_ref?: string;
  /** may be left out with one arm */
  arm?: string;
  /** default linear */
  motion?: MotionKind;
  /** fraction of the configured limits; default 1. Range: 0.01 to 1. */
  speed?: number;
  /** end at contact. Left out: contact is an error */
  contact_stop?: ContactStop;
};

/** How the motion ended. */
export type MoveTcpOk = {
  /** ok: the motion ended at its goal or at the contact that was asked for */
  status: "ok";
  /** for a person */
  message: string;
  /** that was asked of goto_pose */
  goal_pose: Pose;
  /** measured at the end */
  reached_pose: Pose;
  /** between goal and reached */
  error_m: number;
  /** between goal and reached */
  error_rad: number;
  /** Why it ended; a failed result lacks it where nothing moved. */
  stop_reason: "completed" | "contact" | "unexpected_contact" | "stopped" | "protective_stop" | "fault" | "group" | "timeout";
};

export type MoveTcpFailed = {
  /** Why not. */
  status: CommonFailure | "unknown_ref" | "expired_ref" | "unreachable" | "joint_limit" | "collision" | "outside_workspace" | "forbidden_zone" | "not_linear" | "unexpected_contact" | "not_reached" | "busy" | "arm_required" | "unknown_arm";
  /** What to mend, for a person. */
  message: string;
  /** that was asked of goto_pose */
  goal_pose?: Pose;
  /** measured at the end */
  reached_pose?: Pose;
  /** Why it ended; a failed result lacks it where nothing moved. */
  stop_reason?: "completed" | "contact" | "unexpected_contact" | "stopped" | "protective_stop" | "fault" | "group" | "timeout";
};

export type MoveTcpResult = MoveTcpOk | MoveTcpFailed;

/** How far to turn. */
export type TurnTcpRequest = {
  /** whose axes */
  frame: AxesFrame;
  /** in that frame, right-handed; need not be a unit vector. Range: -1000 to 1000. */
  axis: readonly [number, number, number];
  /** about it. Range: -3.2 to 3.2. */
  angle_rad: number;
  /** whose view, with frame "view" */
  observation_ref?: string;
  /** may be left out with one arm */
  arm?: string;
  /** default linear */
  motion?: MotionKind;
  /** fraction of the configured limits; default 1. Range: 0.01 to 1. */
  speed?: number;
  /** end at contact. Left out: contact is an error */
  contact_stop?: ContactStop;
};

/** How the motion ended. */
export type TurnTcpOk = {
  /** ok: the motion ended at its goal or at the contact that was asked for */
  status: "ok";
  /** for a person */
  message: string;
  /** that was asked of goto_pose */
  goal_pose: Pose;
  /** measured at the end */
  reached_pose: Pose;
  /** between goal and reached */
  error_m: number;
  /** between goal and reached */
  error_rad: number;
  /** Why it ended; a failed result lacks it where nothing moved. */
  stop_reason: "completed" | "contact" | "unexpected_contact" | "stopped" | "protective_stop" | "fault" | "group" | "timeout";
};

export type TurnTcpFailed = {
  /** Why not. */
  status: CommonFailure | "unknown_ref" | "expired_ref" | "unreachable" | "joint_limit" | "collision" | "outside_workspace" | "forbidden_zone" | "not_linear" | "unexpected_contact" | "not_reached" | "busy" | "arm_required" | "unknown_arm";
  /** What to mend, for a person. */
  message: string;
  /** that was asked of goto_pose */
  goal_pose?: Pose;
  /** measured at the end */
  reached_pose?: Pose;
  /** Why it ended; a failed result lacks it where nothing moved. */
  stop_reason?: "completed" | "contact" | "unexpected_contact" | "stopped" | "protective_stop" | "fault" | "group" | "timeout";
};

export type TurnTcpResult = TurnTcpOk | TurnTcpFailed;

/** What the skill's module exports as `functions`. */
export type SkillFunctions = {
  move_tcp: (context: SkillContext, request: MoveTcpRequest) => Promise<SkillResult<MoveTcpResult>>;
  turn_tcp: (context: SkillContext, request: TurnTcpRequest) => Promise<SkillResult<TurnTcpResult>>;
};
