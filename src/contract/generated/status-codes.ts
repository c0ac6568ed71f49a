// Generated from src/contract/robot_api.proto by scripts/generate.mjs. Edit the .proto, then run "npm run generate".

/** A status code: `common` ones may come from every operation. */
export type StatusCodeInfo = { readonly code: string; readonly number: number; readonly common: boolean; readonly documentation: string };

/** What an operation says of itself. Numbers are stable. */
export const STATUS_CODES = {
  ok: { code: "ok", number: 0, common: false, documentation: "The operation did what it documents, and no more than that." },
  invalid_argument: { code: "invalid_argument", number: 1, common: true, documentation: "An argument is missing, misspelled, not finite or out of its range; the message names it, its limit and the mend. Nothing was done." },
  stopped: { code: "stopped", number: 2, common: true, documentation: "A stop is latched: this program can do nothing more." },
  protective_stop: { code: "protective_stop", number: 3, common: true, documentation: "The arm stopped itself, for example because contact exceeded its limits. A person must look; nothing moves until then." },
  backend_lost: { code: "backend_lost", number: 4, common: true, documentation: "The backend stopped answering; the episode is lost." },
  timeout: { code: "timeout", number: 5, common: true, documentation: "The operation did not end in the time it may take; the arm was stopped." },
  budget_exhausted: { code: "budget_exhausted", number: 6, common: true, documentation: "A budget of the program or episode (calls, path length, time, steps) is used up." },
  internal_error: { code: "internal_error", number: 7, common: true, documentation: "Something inside the runtime went wrong; the message says what. Not the program's fault." },
  unsupported: { code: "unsupported", number: 10, common: false, documentation: "The backend cannot do what was asked (for example press without force control)." },
  arm_required: { code: "arm_required", number: 11, common: false, documentation: "There are several arms and none was named." },
  unknown_arm: { code: "unknown_arm", number: 12, common: false, documentation: "No arm has that name." },
  busy: { code: "busy", number: 13, common: false, documentation: "The arm or gripper is already moving under another call." },
  view_unavailable: { code: "view_unavailable", number: 20, common: false, documentation: "The camera cannot see its field while the arm is where it is; goto_home first." },
  camera_failed: { code: "camera_failed", number: 21, common: false, documentation: "The camera gave no usable frame." },
  no_image: { code: "no_image", number: 22, common: false, documentation: "There is no such image yet. Thrown, since these operations return a string." },
  unknown_ref: { code: "unknown_ref", number: 30, common: false, documentation: "The ref was never given out, or is of another kind than the argument needs." },
  expired_ref: { code: "expired_ref", number: 31, common: false, documentation: "The ref is of a session that has ended." },
  mismatched_refs: { code: "mismatched_refs", number: 32, common: false, documentation: "The refs are of different observations." },
  outside_image: { code: "outside_image", number: 33, common: false, documentation: "A pixel or box lies outside the image." },
  no_depth: { code: "no_depth", number: 34, common: false, documentation: "No depth is known there (or too little for the operation)." },
  empty_mask: { code: "empty_mask", number: 35, common: false, documentation: "Nothing stands out inside the box." },
  no_points: { code: "no_points", number: 36, common: false, documentation: "The mask holds too few measured points." },
  unreachable: { code: "unreachable", number: 40, common: false, documentation: "No joint configuration reaches a pose." },
  joint_limit: { code: "joint_limit", number: 41, common: false, documentation: "A pose is reachable only beyond the arm's joint limits." },
  collision: { code: "collision", number: 42, common: false, documentation: "The arm, gripper or held object would touch something on the way or at the end; the message says what." },
  object_too_wide: { code: "object_too_wide", number: 43, common: false, documentation: "The object is wider along the closing axis than the gripper opens." },
  no_support: { code: "no_support", number: 44, common: false, documentation: "No support surface is seen where the object should stand." },
  no_carry_geometry: { code: "no_carry_geometry", number: 45, common: false, documentation: "The runtime knows no geometry of a held object: none was grasped at a compiled pose, or it was released." },
  outside_workspace: { code: "outside_workspace", number: 46, common: false, documentation: "A pose is outside the workspace box." },
  forbidden_zone: { code: "forbidden_zone", number: 47, common: false, documentation: "The way leads through a forbidden zone." },
  not_linear: { code: "not_linear", number: 48, common: false, documentation: "A straight way does not exist in one joint configuration (and the motion may not bend)." },
  unexpected_contact: { code: "unexpected_contact", number: 50, common: false, documentation: "Contact ended the motion that was not asked for. The arm holds where it is." },
  not_reached: { code: "not_reached", number: 51, common: false, documentation: "The motion ended away from its goal." },
  not_in_gripper: { code: "not_in_gripper", number: 52, common: false, documentation: "The masked thing is not between the fingers." },
  nothing_gripped: { code: "nothing_gripped", number: 53, common: false, documentation: "The fingers closed without meeting anything. Given by functions of optional skills." },
  not_found: { code: "not_found", number: 60, common: false, documentation: "Nothing that is seen fits the words. Given by functions of optional skills." },
  ambiguous: { code: "ambiguous", number: 61, common: false, documentation: "Several things fit the words; nothing is guessed. Given by functions of optional skills." },
  service_failed: { code: "service_failed", number: 62, common: false, documentation: "A service that the function needs (a model, a server) failed or answered something of no use. Given by functions of optional skills." },
} as const satisfies Record<string, StatusCodeInfo>;

export type StatusCodeName = keyof typeof STATUS_CODES;
