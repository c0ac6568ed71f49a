// Generated from skills/manipulation/skill.proto by scripts/generate.mjs. Edit the .proto, then run "npm run generate".

import type { CommonFailure, JsonValue, Pixel, Pose } from "../../src/contract/generated/robot-api.js";
import type { SkillContext, SkillResult } from "../../src/runtime/operation.js";

/** What to grasp. */
export type PickRequest = {
  /** of the object */
  mask_ref: string;
  /** of the same observation */
  depth_ref: string;
  /** Direction (world) along which the fingers close; need not be a unit vector. Left out: across the shorter side. Range: -1000 to 1000. */
  closing_axis_world?: readonly [number, number, number];
  /** may be left out with one arm */
  arm?: string;
  /** closing force limit [N]; left out: the configured one. Range: 0.5 to 100. */
  force_n?: number;
};

/** One link of a chain. */
export type Link = {
  /** that was called */
  operation: string;
  /** what it was for, for example "approach" */
  purpose: string;
  /** that it gave */
  status: string;
  /** that it gave, for a person */
  message: string;
  /** the other fields that it gave */
  result: JsonValue;
};

/** How the grasp went. */
export type PickOk = {
  /** ok: every link did what it documents, and the fingers stalled on something */
  status: "ok";
  /** for a person; of a failure, which link failed and why */
  message: string;
  /** what was done, in order; the last one of a failure is what failed */
  links: Link[];
  /** between the fingers after the last motion */
  opening_m: number;
  /** whether opening_m is a measurement */
  measured: boolean;
};

export type PickFailed = {
  /** Why not. */
  status: CommonFailure | "unknown_ref" | "expired_ref" | "mismatched_refs" | "no_points" | "no_depth" | "object_too_wide" | "nothing_gripped" | "unsupported" | "unreachable" | "joint_limit" | "collision" | "outside_workspace" | "forbidden_zone" | "not_linear" | "unexpected_contact" | "not_reached" | "busy" | "arm_required" | "unknown_arm";
  /** What to mend, for a person. */
  message: string;
  /** what was done, in order; the last one of a failure is what failed */
  links?: Link[];
  /** between the fingers after the last motion */
  opening_m?: number;
};

export type PickResult = PickOk | PickFailed;

/** Where to set it down. */
export type PlaceRequest = {
  /** where the object's centre goes, in the left image of observation_ref */
  target_pixel: Pixel;
  /** of a view that shows the target */
  observation_ref: string;
  /** of that observation */
  depth_ref: string;
  /** Wanted direction (world) of the object's longer horizontal side; need not be a unit vector. Left out: any that fits. Range: -1000 to 1000. */
  object_axis_world?: readonly [number, number, number];
  /** that holds it; may be left out with one arm */
  arm?: string;
};

/** How the placement went. */
export type PlaceOk = {
  /** ok: every link did what it documents; not that the object stands there */
  status: "ok";
  /** for a person; of a failure, which link failed and why */
  message: string;
  /** what was done, in order; the last one of a failure is what failed */
  links: Link[];
  /** height of the surface that it was set on, world [m] */
  support_z: number;
};

export type PlaceFailed = {
  /** Why not. */
  status: CommonFailure | "unknown_ref" | "expired_ref" | "mismatched_refs" | "outside_image" | "no_depth" | "no_points" | "no_support" | "no_carry_geometry" | "unsupported" | "unreachable" | "joint_limit" | "collision" | "outside_workspace" | "forbidden_zone" | "not_linear" | "unexpected_contact" | "not_reached" | "busy" | "arm_required" | "unknown_arm";
  /** What to mend, for a person. */
  message: string;
  /** what was done, in order; the last one of a failure is what failed */
  links?: Link[];
};

export type PlaceResult = PlaceOk | PlaceFailed;

/** What stroke to make. */
export type PushRequest = {
  /** of the TCP, world [m]; beside the thing. Range: -10 to 10. */
  start_xyz: readonly [number, number, number];
  /** of the stroke; need not be a unit vector. Range: -1000 to 1000. */
  direction_world: readonly [number, number, number];
  /** of the stroke. Range: 0.002 to 0.6. */
  distance_m: number;
  /** contact that ends it [N]; default 25. Range: 1 to 60. */
  force_n?: number;
  /** above the start, before and after; default 0.1. Range: 0.02 to 0.3. */
  clearance_m?: number;
  /** may be left out with one arm */
  arm?: string;
};

/** How the stroke went. */
export type PushOk = {
  /** ok: every link did what it documents; not that the thing moved */
  status: "ok";
  /** for a person; of a failure, which link failed and why */
  message: string;
  /** what was done, in order; the last one of a failure is what failed */
  links: Link[];
  /** of the TCP along the stroke */
  displacement_m: number;
  /** of the stroke */
  stop_reason: "completed" | "contact";
};

export type PushFailed = {
  /** Why not. */
  status: CommonFailure | "unsupported" | "unreachable" | "joint_limit" | "collision" | "outside_workspace" | "forbidden_zone" | "not_linear" | "unexpected_contact" | "not_reached" | "busy" | "arm_required" | "unknown_arm";
  /** What to mend, for a person. */
  message: string;
  /** what was done, in order; the last one of a failure is what failed */
  links?: Link[];
  /** of the TCP along the stroke */
  displacement_m?: number;
};

export type PushResult = PushOk | PushFailed;

/** What to pull. */
export type OpenRequest = {
  /** world [m]: where the fingers close. Range: -10 to 10. */
  handle_xyz: readonly [number, number, number];
  /** along which the fingers close. Range: -1000 to 1000. */
  closing_axis_world: readonly [number, number, number];
  /** in which the tool approaches. Left out: straight down. Range: -1000 to 1000. */
  approach_axis_world?: readonly [number, number, number];
  /** of the pull; need not be a unit vector. Range: -1000 to 1000. */
  pull_direction_world: readonly [number, number, number];
  /** of the pull. Range: 0.002 to 0.6. */
  distance_m: number;
  /** contact that ends it [N]; default 30. Range: 1 to 60. */
  force_n?: number;
  /** may be left out with one arm */
  arm?: string;
};

/** How the pull went. */
export type OpenOk = {
  /** ok: every link did what it documents; not that it is open */
  status: "ok";
  /** for a person; of a failure, which link failed and why */
  message: string;
  /** what was done, in order; the last one of a failure is what failed */
  links: Link[];
  /** of the TCP along the pull */
  displacement_m: number;
  /** of the pull */
  stop_reason: "completed" | "contact";
};

export type OpenFailed = {
  /** Why not. */
  status: CommonFailure | "unknown_ref" | "expired_ref" | "mismatched_refs" | "no_points" | "no_depth" | "object_too_wide" | "nothing_gripped" | "unsupported" | "unreachable" | "joint_limit" | "collision" | "outside_workspace" | "forbidden_zone" | "not_linear" | "unexpected_contact" | "not_reached" | "busy" | "arm_required" | "unknown_arm";
  /** What to mend, for a person. */
  message: string;
  /** what was done, in order; the last one of a failure is what failed */
  links?: Link[];
  /** of the TCP along the pull */
  displacement_m?: number;
};

export type OpenResult = OpenOk | OpenFailed;

/** What to push shut. */
export type CloseRequest = {
  /** of the TCP before the stroke, clear of the front */
  front_pose: Pose;
  /** of the stroke; need not be a unit vector. Range: -1000 to 1000. */
  direction_world: readonly [number, number, number];
  /** of the stroke at most. Range: 0.002 to 0.6. */
  distance_m: number;
  /** contact that ends it [N]; default 25. Range: 1 to 60. */
  force_n?: number;
  /** may be left out with one arm */
  arm?: string;
};

/** How the stroke went. */
export type CloseOk = {
  /** ok: every link did what it documents; not that it is shut */
  status: "ok";
  /** for a person; of a failure, which link failed and why */
  message: string;
  /** what was done, in order; the last one of a failure is what failed */
  links: Link[];
  /** of the TCP along the stroke */
  displacement_m: number;
  /** of the stroke */
  stop_reason: "completed" | "contact";
};

export type CloseFailed = {
  /** Why not. */
  status: CommonFailure | "unsupported" | "unreachable" | "joint_limit" | "collision" | "outside_workspace" | "forbidden_zone" | "not_linear" | "unexpected_contact" | "not_reached" | "busy" | "arm_required" | "unknown_arm";
  /** What to mend, for a person. */
  message: string;
  /** what was done, in order; the last one of a failure is what failed */
  links?: Link[];
  /** of the TCP along the stroke */
  displacement_m?: number;
};

export type CloseResult = CloseOk | CloseFailed;

/** What the skill's module exports as `functions`. */
export type SkillFunctions = {
  pick: (context: SkillContext, request: PickRequest) => Promise<SkillResult<PickResult>>;
  place: (context: SkillContext, request: PlaceRequest) => Promise<SkillResult<PlaceResult>>;
  push: (context: SkillContext, request: PushRequest) => Promise<SkillResult<PushResult>>;
  open: (context: SkillContext, request: OpenRequest) => Promise<SkillResult<OpenResult>>;
  close: (context: SkillContext, request: CloseRequest) => Promise<SkillResult<CloseResult>>;
};
