// Generated from src/contract/robot_api.proto by scripts/generate.mjs. Edit the .proto, then run "npm run generate".

import { z } from "zod";
import type { OperationInfo } from "../operation-info.js";
import { above, jsonValue, needs, nonzero, normalised, unitQuaternion } from "../schema-rules.js";
import type { OperationName, RobotApiRequests, RobotApiResults } from "./robot-api.js";

const poseOut = z.strictObject({
  x: z.number().min(-10).max(10),
  y: z.number().min(-10).max(10),
  z: z.number().min(-10).max(10),
  qx: z.number().min(-1.01).max(1.01),
  qy: z.number().min(-1.01).max(1.01),
  qz: z.number().min(-1.01).max(1.01),
  qw: z.number().min(-1.01).max(1.01),
}).check(unitQuaternion);

const boxIn = z.strictObject({
  x0: z.number().min(-100).max(20000),
  y0: z.number().min(-100).max(20000),
  x1: z.number().min(-100).max(20000),
  y1: z.number().min(-100).max(20000),
}).check(above("x1", "x0")).check(above("y1", "y0"));

const boxOut = z.strictObject({
  x0: z.number().min(-100).max(20000),
  y0: z.number().min(-100).max(20000),
  x1: z.number().min(-100).max(20000),
  y1: z.number().min(-100).max(20000),
}).check(above("x1", "x0")).check(above("y1", "y0"));

const axisOut = z.strictObject({
  xyz: z.tuple([z.number(), z.number(), z.number()]),
});

const uprightBoxOut = z.strictObject({
  center: z.tuple([z.number(), z.number(), z.number()]),
  size: z.tuple([z.number(), z.number(), z.number()]),
  yaw_rad: z.number(),
  yaw_defined: z.boolean(),
});

const workspaceBoxOut = z.strictObject({
  min_xyz: z.tuple([z.number(), z.number(), z.number()]),
  max_xyz: z.tuple([z.number(), z.number(), z.number()]),
  table_z: z.number(),
});

const heldObjectStateOut = z.strictObject({
  arm: z.string(),
  center_tcp: z.tuple([z.number(), z.number(), z.number()]),
  size: z.tuple([z.number(), z.number(), z.number()]),
  pose_tcp: poseOut,
  bottom_below_tcp_m: z.number(),
  opening_m: z.number(),
  basis: z.enum(["grasp","refresh"]),
  measured_at_s: z.number(),
});

const pixelIn = z.strictObject({
  u: z.number().min(-100).max(20000),
  v: z.number().min(-100).max(20000),
});

const poseChecksOut = z.strictObject({
  reach: z.boolean(),
  joint_limits: z.boolean(),
  collision: z.boolean(),
  clearance_m: z.number().nullable(),
});

const poseIn = z.strictObject({
  x: z.number().min(-10).max(10),
  y: z.number().min(-10).max(10),
  z: z.number().min(-10).max(10),
  qx: z.number().min(-1.01).max(1.01),
  qy: z.number().min(-1.01).max(1.01),
  qz: z.number().min(-1.01).max(1.01),
  qw: z.number().min(-1.01).max(1.01),
}).check(unitQuaternion).overwrite(normalised);

const contactStopIn = z.strictObject({
  force_n: z.number().min(1).max(60).optional(),
  torque_nm: z.number().min(0.2).max(6).optional(),
  direction_world: z.tuple([z.number().min(-1000).max(1000), z.number().min(-1000).max(1000), z.number().min(-1000).max(1000)]).check(nonzero).readonly().optional(),
});

const pressIn = z.strictObject({
  direction_world: z.tuple([z.number().min(-1000).max(1000), z.number().min(-1000).max(1000), z.number().min(-1000).max(1000)]).check(nonzero).readonly(),
  force_n: z.number().min(1).max(60),
});

const viewResult = z.discriminatedUnion("status", [z.strictObject({
  status: z.literal("ok"),
  message: z.string(),
  observation_ref: z.string(),
  left_image_path: z.string(),
  right_image_path: z.string().nullable(),
  width: z.uint32(),
  height: z.uint32(),
  taken_at_s: z.number(),
}), z.strictObject({
  status: z.enum(["invalid_argument","stopped","protective_stop","backend_lost","timeout","budget_exhausted","internal_error","view_unavailable","camera_failed"]),
  message: z.string(),
})]);

const wristViewResult = z.discriminatedUnion("status", [z.strictObject({
  status: z.literal("ok"),
  message: z.string(),
  observation_ref: z.string(),
  left_image_path: z.string(),
  right_image_path: z.string().nullable(),
  width: z.uint32(),
  height: z.uint32(),
  taken_at_s: z.number(),
  tcp_pose: poseOut,
}), z.strictObject({
  status: z.enum(["invalid_argument","stopped","protective_stop","backend_lost","timeout","budget_exhausted","internal_error","arm_required","unknown_arm","view_unavailable","camera_failed"]),
  message: z.string(),
})]);

const text = z.string().min(1);

const depthResult = z.discriminatedUnion("status", [z.strictObject({
  status: z.literal("ok"),
  message: z.string(),
  depth_ref: z.string(),
  observation_ref: z.string(),
  model: z.string(),
  valid_fraction: z.number(),
  near_m: z.number(),
  far_m: z.number(),
  preview_path: z.string(),
  stale: z.boolean(),
  stale_reason: z.string().nullable(),
}), z.strictObject({
  status: z.enum(["invalid_argument","stopped","protective_stop","backend_lost","timeout","budget_exhausted","internal_error","unknown_ref","expired_ref","no_depth"]),
  message: z.string(),
})]);

const maskResult = z.discriminatedUnion("status", [z.strictObject({
  status: z.literal("ok"),
  message: z.string(),
  mask_ref: z.string(),
  area_px: z.uint32(),
  bounds: boxOut,
  overlay_path: z.string(),
  model: z.string(),
  stale: z.boolean(),
  stale_reason: z.string().nullable(),
}), z.strictObject({
  status: z.enum(["invalid_argument","stopped","protective_stop","backend_lost","timeout","budget_exhausted","internal_error","unknown_ref","expired_ref","outside_image","no_depth","empty_mask"]),
  message: z.string(),
})]);

const geometryResult = z.discriminatedUnion("status", [z.strictObject({
  status: z.literal("ok"),
  message: z.string(),
  centroid: z.tuple([z.number(), z.number(), z.number()]),
  top_z: z.number(),
  support_z: z.number().nullable(),
  extents: z.tuple([z.number(), z.number(), z.number()]),
  principal_axes: z.tuple([axisOut, axisOut, axisOut]),
  upright_box: uprightBoxOut,
  point_count: z.uint32(),
  geometry_confidence: z.number(),
  stale: z.boolean(),
  stale_reason: z.string().nullable(),
}), z.strictObject({
  status: z.enum(["invalid_argument","stopped","protective_stop","backend_lost","timeout","budget_exhausted","internal_error","unknown_ref","expired_ref","mismatched_refs","no_points"]),
  message: z.string(),
})]);

const pointResult = z.discriminatedUnion("status", [z.strictObject({
  status: z.literal("ok"),
  message: z.string(),
  point: z.tuple([z.number(), z.number(), z.number()]),
  normal: z.tuple([z.number(), z.number(), z.number()]).nullable(),
  stale: z.boolean(),
  stale_reason: z.string().nullable(),
}), z.strictObject({
  status: z.enum(["invalid_argument","stopped","protective_stop","backend_lost","timeout","budget_exhausted","internal_error","unknown_ref","expired_ref","outside_image","no_depth"]),
  message: z.string(),
})]);

const robotStateResult = z.discriminatedUnion("status", [z.strictObject({
  status: z.literal("ok"),
  message: z.string(),
  arms: z.array(z.string()),
  arm: z.string(),
  tcp_pose: poseOut,
  joints_rad: z.array(z.number()),
  tcp_wrench: z.tuple([z.number(), z.number(), z.number(), z.number(), z.number(), z.number()]),
  mode: z.enum(["idle","moving","stop_latched","protective_stopped","faulted","disconnected"]),
  workspace: workspaceBoxOut,
  steps_left: z.uint32().nullable(),
}), z.strictObject({
  status: z.enum(["invalid_argument","stopped","protective_stop","backend_lost","timeout","budget_exhausted","internal_error","arm_required","unknown_arm"]),
  message: z.string(),
})]);

const gripperStateResult = z.discriminatedUnion("status", [z.strictObject({
  status: z.literal("ok"),
  message: z.string(),
  opening_m: z.number(),
  max_opening_m: z.number(),
  control: z.enum(["width","binary","none"]),
  measured: z.boolean(),
  force_n: z.number(),
  moving: z.boolean(),
  stalled: z.boolean(),
}), z.strictObject({
  status: z.enum(["invalid_argument","stopped","protective_stop","backend_lost","timeout","budget_exhausted","internal_error","arm_required","unknown_arm"]),
  message: z.string(),
})]);

const previousProposerStateResult = z.discriminatedUnion("status", [z.strictObject({
  status: z.literal("ok"),
  message: z.string(),
  stage: z.uint32().nullable(),
  working_state: jsonValue,
  held_object_state: z.array(heldObjectStateOut),
}), z.strictObject({
  status: z.enum(["invalid_argument","stopped","protective_stop","backend_lost","timeout","budget_exhausted","internal_error"]),
  message: z.string(),
})]);

const heldObjectResult = z.discriminatedUnion("status", [z.strictObject({
  status: z.literal("ok"),
  message: z.string(),
  held_object_state: heldObjectStateOut.nullable(),
  basis: z.string(),
  stale: z.boolean(),
  stale_reason: z.string().nullable(),
}), z.strictObject({
  status: z.enum(["invalid_argument","stopped","protective_stop","backend_lost","timeout","budget_exhausted","internal_error","arm_required","unknown_arm","unknown_ref","expired_ref","mismatched_refs","no_points","not_in_gripper"]),
  message: z.string(),
})]);

const compilePoseResult = z.discriminatedUnion("status", [z.discriminatedUnion("mode", [z.strictObject({
  status: z.literal("ok"),
  message: z.string(),
  mode: z.literal("grasp"),
  approach: poseOut,
  contact: poseOut,
  lift: poseOut,
  opening_m: z.number(),
  checks: poseChecksOut,
  stale: z.boolean(),
  stale_reason: z.string().nullable(),
}), z.strictObject({
  status: z.literal("ok"),
  message: z.string(),
  mode: z.literal("place"),
  carry: poseOut,
  release: poseOut,
  retreat: poseOut,
  support_z: z.number(),
  opening_m: z.number(),
  checks: poseChecksOut,
  stale: z.boolean(),
  stale_reason: z.string().nullable(),
})]), z.strictObject({
  status: z.enum(["invalid_argument","stopped","protective_stop","backend_lost","timeout","budget_exhausted","internal_error","arm_required","unknown_arm","unknown_ref","expired_ref","mismatched_refs","outside_image","no_depth","no_points","unreachable","joint_limit","collision","object_too_wide","no_support","no_carry_geometry","outside_workspace","forbidden_zone","not_linear"]),
  message: z.string(),
})]);

const motionResult = z.discriminatedUnion("status", [z.strictObject({
  status: z.literal("ok"),
  message: z.string(),
  reached_pose: poseOut,
  motion_used: z.enum(["auto","linear","joint"]),
  error_m: z.number(),
  error_rad: z.number(),
  stop_reason: z.enum(["completed","contact","unexpected_contact","stopped","protective_stop","fault","group","timeout"]),
}), z.strictObject({
  status: z.enum(["invalid_argument","stopped","protective_stop","backend_lost","timeout","budget_exhausted","internal_error","arm_required","unknown_arm","busy","unreachable","joint_limit","collision","outside_workspace","forbidden_zone","not_linear","unexpected_contact","not_reached"]),
  message: z.string(),
  reached_pose: poseOut.optional(),
  stop_reason: z.enum(["completed","contact","unexpected_contact","stopped","protective_stop","fault","group","timeout"]).optional(),
})]);

const gripperGotoResult = z.discriminatedUnion("status", [z.strictObject({
  status: z.literal("ok"),
  message: z.string(),
  opening_m: z.number(),
  stop_reason: z.enum(["completed","stalled","stopped","protective_stop","fault","group","timeout"]),
}), z.strictObject({
  status: z.enum(["invalid_argument","stopped","protective_stop","backend_lost","timeout","budget_exhausted","internal_error","unsupported","arm_required","unknown_arm","busy","not_reached"]),
  message: z.string(),
  opening_m: z.number().optional(),
  stop_reason: z.enum(["completed","stalled","stopped","protective_stop","fault","group","timeout"]).optional(),
})]);

const followPathResult = z.discriminatedUnion("status", [z.strictObject({
  status: z.literal("ok"),
  message: z.string(),
  reached_index: z.int32(),
  displacement_m: z.number(),
  rotation_rad: z.number(),
  mean_force_n: z.number(),
  stop_reason: z.enum(["completed","contact","unexpected_contact","stopped","protective_stop","fault","group","timeout"]),
}), z.strictObject({
  status: z.enum(["invalid_argument","stopped","protective_stop","backend_lost","timeout","budget_exhausted","internal_error","unsupported","arm_required","unknown_arm","busy","unreachable","joint_limit","collision","outside_workspace","forbidden_zone","not_linear","unexpected_contact","not_reached"]),
  message: z.string(),
  reached_index: z.int32().optional(),
  displacement_m: z.number().optional(),
  rotation_rad: z.number().optional(),
  mean_force_n: z.number().optional(),
  stop_reason: z.enum(["completed","contact","unexpected_contact","stopped","protective_stop","fault","group","timeout"]).optional(),
})]);

const gotoHomeResult = z.discriminatedUnion("status", [z.strictObject({
  status: z.literal("ok"),
  message: z.string(),
  reached_pose: poseOut,
  stop_reason: z.enum(["completed","unexpected_contact","stopped","protective_stop","fault","group","timeout"]),
}), z.strictObject({
  status: z.enum(["invalid_argument","stopped","protective_stop","backend_lost","timeout","budget_exhausted","internal_error","arm_required","unknown_arm","busy","joint_limit","collision","not_linear","unexpected_contact","not_reached"]),
  message: z.string(),
  reached_pose: poseOut.optional(),
  stop_reason: z.enum(["completed","unexpected_contact","stopped","protective_stop","fault","group","timeout"]).optional(),
})]);

/** Schemas of the requests: unknown keys, values out of range and numbers that are not finite are refused. */
export const REQUEST_SCHEMAS = {
  get_topdown_stereo_view: z.strictObject({
}),
  get_scene_stereo_view: z.strictObject({
}),
  get_wrist_stereo_view: z.strictObject({
  arm: z.string().min(1).max(200).optional(),
}),
  get_current_image_path: z.strictObject({
  view: z.enum(["topdown","scene","wrist"]),
  arm: z.string().min(1).max(200).optional(),
}),
  get_previous_image_path: z.strictObject({
  view: z.enum(["topdown","scene","wrist"]),
  arm: z.string().min(1).max(200).optional(),
}),
  get_foundation_stereo_depth: z.strictObject({
  observation_ref: z.string().min(1).max(200),
}),
  get_sam_mask_from_box: z.strictObject({
  observation_ref: z.string().min(1).max(200),
  box: boxIn,
}),
  measure_visible_geometry: z.strictObject({
  mask_ref: z.string().min(1).max(200),
  depth_ref: z.string().min(1).max(200),
}),
  get_point_from_pixel: z.strictObject({
  depth_ref: z.string().min(1).max(200),
  u: z.number().min(-100).max(20000),
  v: z.number().min(-100).max(20000),
}),
  get_robot_state: z.strictObject({
  arm: z.string().min(1).max(200).optional(),
}),
  get_gripper_state: z.strictObject({
  arm: z.string().min(1).max(200).optional(),
}),
  get_previous_proposer_state: z.strictObject({
}),
  refresh_held_object_state: z.strictObject({
  observation_ref: z.string().min(1).max(200),
  depth_ref: z.string().min(1).max(200),
  mask_ref: z.string().min(1).max(200),
  arm: z.string().min(1).max(200).optional(),
}),
  compile_pose: z.discriminatedUnion("mode", [z.strictObject({
  mode: z.literal("grasp"),
  arm: z.string().min(1).max(200).optional(),
  grasp_center_xyz: z.tuple([z.number().min(-10).max(10), z.number().min(-10).max(10), z.number().min(-10).max(10)]).readonly(),
  closing_axis_world: z.tuple([z.number().min(-1000).max(1000), z.number().min(-1000).max(1000), z.number().min(-1000).max(1000)]).check(nonzero).readonly(),
  approach_axis_world: z.tuple([z.number().min(-1000).max(1000), z.number().min(-1000).max(1000), z.number().min(-1000).max(1000)]).check(nonzero).readonly().optional(),
  depth_ref: z.string().min(1).max(200).optional(),
  mask_ref: z.string().min(1).max(200).optional(),
}).check(needs("mask_ref", "depth_ref")), z.strictObject({
  mode: z.literal("place"),
  arm: z.string().min(1).max(200).optional(),
  target_pixel: pixelIn,
  observation_ref: z.string().min(1).max(200),
  depth_ref: z.string().min(1).max(200),
  object_axis_world: z.tuple([z.number().min(-1000).max(1000), z.number().min(-1000).max(1000), z.number().min(-1000).max(1000)]).check(nonzero).readonly().optional(),
  anchor_on_object: z.tuple([z.number().min(-1).max(1), z.number().min(-1).max(1), z.number().min(-1).max(1)]).readonly().optional(),
})]),
  goto_pose: z.strictObject({
  pose: poseIn,
  arm: z.string().min(1).max(200).optional(),
  motion: z.enum(["auto","linear","joint"]).optional(),
  speed: z.number().min(0.01).max(1).optional(),
  contact_stop: contactStopIn.optional(),
}),
  gripper_goto: z.strictObject({
  opening_m: z.number().min(0).max(0.2),
  arm: z.string().min(1).max(200).optional(),
  force_n: z.number().min(0.5).max(100).optional(),
}),
  follow_path: z.strictObject({
  poses: z.array(poseIn).min(1).max(2000).readonly(),
  arm: z.string().min(1).max(200).optional(),
  speed: z.number().min(0.01).max(1).optional(),
  contact_stop: contactStopIn.optional(),
  press: pressIn.optional(),
}),
  goto_home: z.strictObject({
  arm: z.string().min(1).max(200).optional(),
}),
} as const satisfies { [N in OperationName]: z.ZodType<RobotApiRequests[N]> };

/** Schemas of what the operations give; strict as well, so that no implementation says more or less than the contract. */
export const RESULT_SCHEMAS = {
  get_topdown_stereo_view: viewResult,
  get_scene_stereo_view: viewResult,
  get_wrist_stereo_view: wristViewResult,
  get_current_image_path: text,
  get_previous_image_path: text,
  get_foundation_stereo_depth: depthResult,
  get_sam_mask_from_box: maskResult,
  measure_visible_geometry: geometryResult,
  get_point_from_pixel: pointResult,
  get_robot_state: robotStateResult,
  get_gripper_state: gripperStateResult,
  get_previous_proposer_state: previousProposerStateResult,
  refresh_held_object_state: heldObjectResult,
  compile_pose: compilePoseResult,
  goto_pose: motionResult,
  gripper_goto: gripperGotoResult,
  follow_path: followPathResult,
  goto_home: gotoHomeResult,
} as const satisfies { [N in OperationName]: z.ZodType<RobotApiResults[N]> };

/** The dispatch table: what is known of each operation, in the order of their numbers. */
export const OPERATIONS: readonly OperationInfo[] = [
  {
    "name": "get_topdown_stereo_view",
    "number": 1,
    "skill": "core",
    "moves": false,
    "returnsString": false,
    "statuses": [
      "invalid_argument",
      "stopped",
      "protective_stop",
      "backend_lost",
      "timeout",
      "budget_exhausted",
      "internal_error",
      "view_unavailable",
      "camera_failed"
    ],
    "signature": "get_topdown_stereo_view(request?: GetTopdownStereoViewRequest): Promise<ViewResult>",
    "summary": "Takes a fresh stereo pair of the top-down camera, which sees the work surface from above.",
    "documentation": "Takes a fresh stereo pair of the top-down camera, which sees the work surface from above. Where the view needs the arm elsewhere the status is view_unavailable; goto_home clears it.",
    "example": "const view = await robot.get_topdown_stereo_view();\nif (view.status !== \"ok\") return { problem: view.message };",
    "request": {
      "name": "GetTopdownStereoViewRequest",
      "fields": []
    }
  },
  {
    "name": "get_scene_stereo_view",
    "number": 2,
    "skill": "core",
    "moves": false,
    "returnsString": false,
    "statuses": [
      "invalid_argument",
      "stopped",
      "protective_stop",
      "backend_lost",
      "timeout",
      "budget_exhausted",
      "internal_error",
      "view_unavailable",
      "camera_failed"
    ],
    "signature": "get_scene_stereo_view(request?: GetSceneStereoViewRequest): Promise<ViewResult>",
    "summary": "Takes a fresh stereo pair of the oblique scene camera.",
    "documentation": "Takes a fresh stereo pair of the oblique scene camera.",
    "example": "const view = await robot.get_scene_stereo_view();",
    "request": {
      "name": "GetSceneStereoViewRequest",
      "fields": []
    }
  },
  {
    "name": "get_wrist_stereo_view",
    "number": 3,
    "skill": "core",
    "moves": false,
    "returnsString": false,
    "statuses": [
      "invalid_argument",
      "stopped",
      "protective_stop",
      "backend_lost",
      "timeout",
      "budget_exhausted",
      "internal_error",
      "arm_required",
      "unknown_arm",
      "view_unavailable",
      "camera_failed"
    ],
    "signature": "get_wrist_stereo_view(request?: GetWristStereoViewRequest): Promise<WristViewResult>",
    "summary": "Takes a fresh stereo pair of the camera that rides on an arm's wrist.",
    "documentation": "Takes a fresh stereo pair of the camera that rides on an arm's wrist. Where the camera was is the arm's pose at the exposure, also when the arm moves afterwards.",
    "example": "const view = await robot.get_wrist_stereo_view({});",
    "request": {
      "name": "GetWristStereoViewRequest",
      "fields": [
        {
          "name": "arm",
          "kind": "string",
          "type": "string",
          "documentation": "may be left out with one arm",
          "optional": true,
          "repeated": false,
          "minLength": 1,
          "maxLength": 200
        }
      ]
    }
  },
  {
    "name": "get_current_image_path",
    "number": 4,
    "skill": "verify",
    "moves": false,
    "returnsString": true,
    "statuses": [
      "invalid_argument",
      "stopped",
      "protective_stop",
      "backend_lost",
      "timeout",
      "budget_exhausted",
      "internal_error",
      "arm_required",
      "unknown_arm",
      "no_image"
    ],
    "signature": "get_current_image_path(request: GetCurrentImagePathRequest): Promise<string>",
    "summary": "Path of the newest public image of a view, in this stage or an earlier one; takes no picture.",
    "documentation": "Path of the newest public image of a view, in this stage or an earlier one; takes no picture.",
    "example": "const path = await robot.get_current_image_path({ view: \"topdown\" });",
    "request": {
      "name": "GetCurrentImagePathRequest",
      "fields": [
        {
          "name": "view",
          "kind": "choice",
          "type": "ViewName",
          "documentation": "whose image",
          "optional": false,
          "repeated": false,
          "values": [
            "topdown",
            "scene",
            "wrist"
          ]
        },
        {
          "name": "arm",
          "kind": "string",
          "type": "string",
          "documentation": "of the wrist view; may be left out with one arm",
          "optional": true,
          "repeated": false,
          "minLength": 1,
          "maxLength": 200
        }
      ]
    }
  },
  {
    "name": "get_previous_image_path",
    "number": 5,
    "skill": "verify",
    "moves": false,
    "returnsString": true,
    "statuses": [
      "invalid_argument",
      "stopped",
      "protective_stop",
      "backend_lost",
      "timeout",
      "budget_exhausted",
      "internal_error",
      "arm_required",
      "unknown_arm",
      "no_image"
    ],
    "signature": "get_previous_image_path(request: GetPreviousImagePathRequest): Promise<string>",
    "summary": "Path of the last public image of a view from before the present decision stage; for comparing before and after.",
    "documentation": "Path of the last public image of a view from before the present decision stage; for comparing before and after.",
    "example": "const before = await robot.get_previous_image_path({ view: \"topdown\" });",
    "request": {
      "name": "GetPreviousImagePathRequest",
      "fields": [
        {
          "name": "view",
          "kind": "choice",
          "type": "ViewName",
          "documentation": "whose image",
          "optional": false,
          "repeated": false,
          "values": [
            "topdown",
            "scene",
            "wrist"
          ]
        },
        {
          "name": "arm",
          "kind": "string",
          "type": "string",
          "documentation": "of the wrist view; may be left out with one arm",
          "optional": true,
          "repeated": false,
          "minLength": 1,
          "maxLength": 200
        }
      ]
    }
  },
  {
    "name": "get_foundation_stereo_depth",
    "number": 6,
    "skill": "geometry",
    "moves": false,
    "returnsString": false,
    "statuses": [
      "invalid_argument",
      "stopped",
      "protective_stop",
      "backend_lost",
      "timeout",
      "budget_exhausted",
      "internal_error",
      "unknown_ref",
      "expired_ref",
      "no_depth"
    ],
    "signature": "get_foundation_stereo_depth(request: GetFoundationStereoDepthRequest): Promise<DepthResult>",
    "summary": "Metric depth of an observation, registered to its left image: computed from the calibrated stereo pair, or measured by the depth sensor where the view has one; `model` says which.",
    "documentation": "Metric depth of an observation, registered to its left image: computed from the calibrated stereo pair, or measured by the depth sensor where the view has one; `model` says which. Unknown pixels stay unknown.",
    "example": "const depth = await robot.get_foundation_stereo_depth({ observation_ref: view.observation_ref });",
    "request": {
      "name": "GetFoundationStereoDepthRequest",
      "fields": [
        {
          "name": "observation_ref",
          "kind": "string",
          "type": "string",
          "documentation": "of a view",
          "optional": false,
          "repeated": false,
          "minLength": 1,
          "maxLength": 200
        }
      ]
    }
  },
  {
    "name": "get_sam_mask_from_box",
    "number": 7,
    "skill": "geometry",
    "moves": false,
    "returnsString": false,
    "statuses": [
      "invalid_argument",
      "stopped",
      "protective_stop",
      "backend_lost",
      "timeout",
      "budget_exhausted",
      "internal_error",
      "unknown_ref",
      "expired_ref",
      "outside_image",
      "no_depth",
      "empty_mask"
    ],
    "signature": "get_sam_mask_from_box(request: GetSamMaskFromBoxRequest): Promise<MaskResult>",
    "summary": "Mask of the one thing that a pixel box frames in the left image.",
    "documentation": "Mask of the one thing that a pixel box frames in the left image. One box gives one mask; no words, no score: whether the mask is the thing you mean is for you to see (bounds, area, overlay).",
    "example": "const mask = await robot.get_sam_mask_from_box({ observation_ref: view.observation_ref, box: { x0: 300, y0: 200, x1: 352, y1: 255 } });",
    "request": {
      "name": "GetSamMaskFromBoxRequest",
      "fields": [
        {
          "name": "observation_ref",
          "kind": "string",
          "type": "string",
          "documentation": "of a view",
          "optional": false,
          "repeated": false,
          "minLength": 1,
          "maxLength": 200
        },
        {
          "name": "box",
          "kind": "object",
          "type": "Box",
          "documentation": "around the thing, in that view's left image",
          "optional": false,
          "repeated": false,
          "fields": [
            {
              "name": "x0",
              "kind": "number",
              "type": "number",
              "documentation": "left edge [px]",
              "optional": false,
              "repeated": false,
              "min": -100,
              "max": 20000
            },
            {
              "name": "y0",
              "kind": "number",
              "type": "number",
              "documentation": "top edge [px]",
              "optional": false,
              "repeated": false,
              "min": -100,
              "max": 20000
            },
            {
              "name": "x1",
              "kind": "number",
              "type": "number",
              "documentation": "right edge [px], above x0",
              "optional": false,
              "repeated": false,
              "min": -100,
              "max": 20000,
              "above": "x0"
            },
            {
              "name": "y1",
              "kind": "number",
              "type": "number",
              "documentation": "bottom edge [px], above y0",
              "optional": false,
              "repeated": false,
              "min": -100,
              "max": 20000,
              "above": "y0"
            }
          ]
        }
      ]
    }
  },
  {
    "name": "measure_visible_geometry",
    "number": 8,
    "skill": "geometry",
    "moves": false,
    "returnsString": false,
    "statuses": [
      "invalid_argument",
      "stopped",
      "protective_stop",
      "backend_lost",
      "timeout",
      "budget_exhausted",
      "internal_error",
      "unknown_ref",
      "expired_ref",
      "mismatched_refs",
      "no_points"
    ],
    "signature": "measure_visible_geometry(request: MeasureVisibleGeometryRequest): Promise<GeometryResult>",
    "summary": "Geometry of what the mask shows and the depth measures: only visible surface, never what is hidden behind it.",
    "documentation": "Geometry of what the mask shows and the depth measures: only visible surface, never what is hidden behind it. Mask and depth must be of the same observation. geometry_confidence speaks of the measurement, not of what the thing is.",
    "example": "const geometry = await robot.measure_visible_geometry({ mask_ref: mask.mask_ref, depth_ref: depth.depth_ref });",
    "request": {
      "name": "MeasureVisibleGeometryRequest",
      "fields": [
        {
          "name": "mask_ref",
          "kind": "string",
          "type": "string",
          "documentation": "of the object",
          "optional": false,
          "repeated": false,
          "minLength": 1,
          "maxLength": 200
        },
        {
          "name": "depth_ref",
          "kind": "string",
          "type": "string",
          "documentation": "of the same observation",
          "optional": false,
          "repeated": false,
          "minLength": 1,
          "maxLength": 200
        }
      ]
    }
  },
  {
    "name": "get_point_from_pixel",
    "number": 9,
    "skill": "geometry",
    "moves": false,
    "returnsString": false,
    "statuses": [
      "invalid_argument",
      "stopped",
      "protective_stop",
      "backend_lost",
      "timeout",
      "budget_exhausted",
      "internal_error",
      "unknown_ref",
      "expired_ref",
      "outside_image",
      "no_depth"
    ],
    "signature": "get_point_from_pixel(request: GetPointFromPixelRequest): Promise<PointResult>",
    "summary": "World point and surface normal under one pixel of the left image.",
    "documentation": "World point and surface normal under one pixel of the left image.",
    "example": "const hit = await robot.get_point_from_pixel({ depth_ref: depth.depth_ref, u: 320, v: 240 });\nif (hit.status === \"ok\") console.log(hit.point);",
    "request": {
      "name": "GetPointFromPixelRequest",
      "fields": [
        {
          "name": "depth_ref",
          "kind": "string",
          "type": "string",
          "documentation": "of the view",
          "optional": false,
          "repeated": false,
          "minLength": 1,
          "maxLength": 200
        },
        {
          "name": "u",
          "kind": "number",
          "type": "number",
          "documentation": "to the right [px], in the left image",
          "optional": false,
          "repeated": false,
          "min": -100,
          "max": 20000
        },
        {
          "name": "v",
          "kind": "number",
          "type": "number",
          "documentation": "down [px]",
          "optional": false,
          "repeated": false,
          "min": -100,
          "max": 20000
        }
      ]
    }
  },
  {
    "name": "get_robot_state",
    "number": 10,
    "skill": "kinematics",
    "moves": false,
    "returnsString": false,
    "statuses": [
      "invalid_argument",
      "stopped",
      "protective_stop",
      "backend_lost",
      "timeout",
      "budget_exhausted",
      "internal_error",
      "arm_required",
      "unknown_arm"
    ],
    "signature": "get_robot_state(request?: GetRobotStateRequest): Promise<RobotStateResult>",
    "summary": "Where the arm is and what it feels, measured now.",
    "documentation": "Where the arm is and what it feels, measured now.",
    "example": "const state = await robot.get_robot_state({});",
    "request": {
      "name": "GetRobotStateRequest",
      "fields": [
        {
          "name": "arm",
          "kind": "string",
          "type": "string",
          "documentation": "may be left out with one arm",
          "optional": true,
          "repeated": false,
          "minLength": 1,
          "maxLength": 200
        }
      ]
    }
  },
  {
    "name": "get_gripper_state",
    "number": 11,
    "skill": "grasping",
    "moves": false,
    "returnsString": false,
    "statuses": [
      "invalid_argument",
      "stopped",
      "protective_stop",
      "backend_lost",
      "timeout",
      "budget_exhausted",
      "internal_error",
      "arm_required",
      "unknown_arm"
    ],
    "signature": "get_gripper_state(request?: GetGripperStateRequest): Promise<GripperStateResult>",
    "summary": "The gripper's opening and force now.",
    "documentation": "The gripper's opening and force now. Evidence of retention, never a verdict: an opening above zero after closing means that something is between the fingers, not what it is.",
    "example": "const gripper = await robot.get_gripper_state({});",
    "request": {
      "name": "GetGripperStateRequest",
      "fields": [
        {
          "name": "arm",
          "kind": "string",
          "type": "string",
          "documentation": "may be left out with one arm",
          "optional": true,
          "repeated": false,
          "minLength": 1,
          "maxLength": 200
        }
      ]
    }
  },
  {
    "name": "get_previous_proposer_state",
    "number": 12,
    "skill": "memory",
    "moves": false,
    "returnsString": false,
    "statuses": [
      "invalid_argument",
      "stopped",
      "protective_stop",
      "backend_lost",
      "timeout",
      "budget_exhausted",
      "internal_error"
    ],
    "signature": "get_previous_proposer_state(request?: GetPreviousProposerStateRequest): Promise<PreviousProposerStateResult>",
    "summary": "What the program of the previous decision stage returned, and the held-object geometry as of now.",
    "documentation": "What the program of the previous decision stage returned, and the held-object geometry as of now.",
    "example": "const previous = await robot.get_previous_proposer_state();",
    "request": {
      "name": "GetPreviousProposerStateRequest",
      "fields": []
    }
  },
  {
    "name": "refresh_held_object_state",
    "number": 13,
    "skill": "memory",
    "moves": false,
    "returnsString": false,
    "statuses": [
      "invalid_argument",
      "stopped",
      "protective_stop",
      "backend_lost",
      "timeout",
      "budget_exhausted",
      "internal_error",
      "arm_required",
      "unknown_arm",
      "unknown_ref",
      "expired_ref",
      "mismatched_refs",
      "no_points",
      "not_in_gripper"
    ],
    "signature": "refresh_held_object_state(request: RefreshHeldObjectStateRequest): Promise<HeldObjectResult>",
    "summary": "Measures anew the object that the arm holds, from one observation with its depth and the object's mask, and replaces the held-object geometry.",
    "documentation": "Measures anew the object that the arm holds, from one observation with its depth and the object's mask, and replaces the held-object geometry. It does not check that the object is held. Where the mask is not between the fingers the geometry stays as it was and the status is not_in_gripper.",
    "example": "const held = await robot.refresh_held_object_state({ observation_ref, depth_ref, mask_ref });",
    "request": {
      "name": "RefreshHeldObjectStateRequest",
      "fields": [
        {
          "name": "observation_ref",
          "kind": "string",
          "type": "string",
          "documentation": "of a view that shows the object between the fingers",
          "optional": false,
          "repeated": false,
          "minLength": 1,
          "maxLength": 200
        },
        {
          "name": "depth_ref",
          "kind": "string",
          "type": "string",
          "documentation": "of that observation",
          "optional": false,
          "repeated": false,
          "minLength": 1,
          "maxLength": 200
        },
        {
          "name": "mask_ref",
          "kind": "string",
          "type": "string",
          "documentation": "of the object, in that observation",
          "optional": false,
          "repeated": false,
          "minLength": 1,
          "maxLength": 200
        },
        {
          "name": "arm",
          "kind": "string",
          "type": "string",
          "documentation": "that holds it; may be left out with one arm",
          "optional": true,
          "repeated": false,
          "minLength": 1,
          "maxLength": 200
        }
      ]
    }
  },
  {
    "name": "compile_pose",
    "number": 14,
    "skill": "grasping",
    "moves": false,
    "returnsString": false,
    "statuses": [
      "invalid_argument",
      "stopped",
      "protective_stop",
      "backend_lost",
      "timeout",
      "budget_exhausted",
      "internal_error",
      "arm_required",
      "unknown_arm",
      "unknown_ref",
      "expired_ref",
      "mismatched_refs",
      "outside_image",
      "no_depth",
      "no_points",
      "unreachable",
      "joint_limit",
      "collision",
      "object_too_wide",
      "no_support",
      "no_carry_geometry",
      "outside_workspace",
      "forbidden_zone",
      "not_linear"
    ],
    "signature": "compile_pose(request: CompilePoseRequest): Promise<CompilePoseResult>",
    "summary": "Plans a grasp or a placement; moves nothing.",
    "documentation": "Plans a grasp or a placement; moves nothing. Mode \"grasp\" gives approach, contact and lift poses for a grasp centre and a closing axis; give depth_ref and mask_ref so that clearance is checked against what was seen. Mode \"place\" sets the held object (the runtime's held-object geometry) down on the surface seen at target_pixel, and gives carry, release and retreat poses; the compiler owns support height and release height. A failed check is a status, with no poses.",
    "example": "const plan = await robot.compile_pose({ mode: \"grasp\", grasp_center_xyz: [0.45, 0.1, 0.02], closing_axis_world: [0, 1, 0] });\nif (plan.status === \"ok\" && plan.mode === \"grasp\") await robot.goto_pose({ pose: plan.approach });",
    "request": {
      "name": "CompilePoseRequest",
      "discriminator": "mode",
      "variants": [
        {
          "value": "grasp",
          "fields": [
            {
              "name": "arm",
              "kind": "string",
              "type": "string",
              "documentation": "may be left out with one arm",
              "optional": true,
              "repeated": false,
              "minLength": 1,
              "maxLength": 200
            },
            {
              "name": "grasp_center_xyz",
              "kind": "number",
              "type": "readonly [number, number, number]",
              "documentation": "world [m]: where the TCP closes",
              "optional": false,
              "repeated": true,
              "length": 3,
              "min": -10,
              "max": 10
            },
            {
              "name": "closing_axis_world",
              "kind": "number",
              "type": "readonly [number, number, number]",
              "documentation": "Direction (world) along which the fingers close; need not be a unit vector.",
              "optional": false,
              "repeated": true,
              "length": 3,
              "min": -1000,
              "max": 1000,
              "nonzero": true
            },
            {
              "name": "approach_axis_world",
              "kind": "number",
              "type": "readonly [number, number, number]",
              "documentation": "Direction (world) in which the tool approaches; need not be a unit vector. Left out: straight down.",
              "optional": true,
              "repeated": true,
              "length": 3,
              "min": -1000,
              "max": 1000,
              "nonzero": true
            },
            {
              "name": "depth_ref",
              "kind": "string",
              "type": "string",
              "documentation": "to check clearance against",
              "optional": true,
              "repeated": false,
              "minLength": 1,
              "maxLength": 200
            },
            {
              "name": "mask_ref",
              "kind": "string",
              "type": "string",
              "documentation": "of the object; needs depth_ref. With both, closing on it creates held-object geometry",
              "optional": true,
              "repeated": false,
              "minLength": 1,
              "maxLength": 200,
              "needs": "depth_ref"
            }
          ]
        },
        {
          "value": "place",
          "fields": [
            {
              "name": "arm",
              "kind": "string",
              "type": "string",
              "documentation": "that holds it; may be left out with one arm",
              "optional": true,
              "repeated": false,
              "minLength": 1,
              "maxLength": 200
            },
            {
              "name": "target_pixel",
              "kind": "object",
              "type": "Pixel",
              "documentation": "where the object's centre goes, in the left image of observation_ref",
              "optional": false,
              "repeated": false,
              "fields": [
                {
                  "name": "u",
                  "kind": "number",
                  "type": "number",
                  "documentation": "to the right [px]",
                  "optional": false,
                  "repeated": false,
                  "min": -100,
                  "max": 20000
                },
                {
                  "name": "v",
                  "kind": "number",
                  "type": "number",
                  "documentation": "down [px]",
                  "optional": false,
                  "repeated": false,
                  "min": -100,
                  "max": 20000
                }
              ]
            },
            {
              "name": "observation_ref",
              "kind": "string",
              "type": "string",
              "documentation": "of a view that shows the target",
              "optional": false,
              "repeated": false,
              "minLength": 1,
              "maxLength": 200
            },
            {
              "name": "depth_ref",
              "kind": "string",
              "type": "string",
              "documentation": "of that observation",
              "optional": false,
              "repeated": false,
              "minLength": 1,
              "maxLength": 200
            },
            {
              "name": "object_axis_world",
              "kind": "number",
              "type": "readonly [number, number, number]",
              "documentation": "Wanted direction (world) of the object's longer horizontal side; need not be a unit vector. Left out: any that fits.",
              "optional": true,
              "repeated": true,
              "length": 3,
              "min": -1000,
              "max": 1000,
              "nonzero": true
            },
            {
              "name": "anchor_on_object",
              "kind": "number",
              "type": "readonly [number, number, number]",
              "documentation": "Point of the object (along its box axes from its centre [m]) that goes above the target. Left out: its centre.",
              "optional": true,
              "repeated": true,
              "length": 3,
              "min": -1,
              "max": 1
            }
          ]
        }
      ]
    }
  },
  {
    "name": "goto_pose",
    "number": 15,
    "skill": "motion",
    "moves": true,
    "returnsString": false,
    "statuses": [
      "invalid_argument",
      "stopped",
      "protective_stop",
      "backend_lost",
      "timeout",
      "budget_exhausted",
      "internal_error",
      "arm_required",
      "unknown_arm",
      "busy",
      "unreachable",
      "joint_limit",
      "collision",
      "outside_workspace",
      "forbidden_zone",
      "not_linear",
      "unexpected_contact",
      "not_reached"
    ],
    "signature": "goto_pose(request: GotoPoseRequest): Promise<MotionResult>",
    "summary": "Moves the TCP to a pose, jerk-limited, checked against table, zones, the other arm and the newest observed surfaces.",
    "documentation": "Moves the TCP to a pose, jerk-limited, checked against table, zones, the other arm and the newest observed surfaces. motion \"linear\" keeps the TCP on a straight line, \"joint\" takes the straight way in joint space, \"auto\" goes straight where that fits, and never bends while the arm holds something or touches something. With contact_stop, contact ends the motion with status ok and stop_reason \"contact\"; any other contact ends it with unexpected_contact.",
    "example": "const moved = await robot.goto_pose({ pose: plan.contact, motion: \"linear\", speed: 0.3 });",
    "request": {
      "name": "GotoPoseRequest",
      "fields": [
        {
          "name": "pose",
          "kind": "object",
          "type": "Pose",
          "documentation": "of the TCP at the end",
          "optional": false,
          "repeated": false,
          "fields": [
            {
              "name": "x",
              "kind": "number",
              "type": "number",
              "documentation": "world [m]",
              "optional": false,
              "repeated": false,
              "min": -10,
              "max": 10
            },
            {
              "name": "y",
              "kind": "number",
              "type": "number",
              "documentation": "world [m]",
              "optional": false,
              "repeated": false,
              "min": -10,
              "max": 10
            },
            {
              "name": "z",
              "kind": "number",
              "type": "number",
              "documentation": "world [m], up",
              "optional": false,
              "repeated": false,
              "min": -10,
              "max": 10
            },
            {
              "name": "qx",
              "kind": "number",
              "type": "number",
              "documentation": "of the unit quaternion",
              "optional": false,
              "repeated": false,
              "min": -1.01,
              "max": 1.01
            },
            {
              "name": "qy",
              "kind": "number",
              "type": "number",
              "documentation": "of the unit quaternion",
              "optional": false,
              "repeated": false,
              "min": -1.01,
              "max": 1.01
            },
            {
              "name": "qz",
              "kind": "number",
              "type": "number",
              "documentation": "of the unit quaternion",
              "optional": false,
              "repeated": false,
              "min": -1.01,
              "max": 1.01
            },
            {
              "name": "qw",
              "kind": "number",
              "type": "number",
              "documentation": "of the unit quaternion, the real part",
              "optional": false,
              "repeated": false,
              "min": -1.01,
              "max": 1.01
            }
          ],
          "unitQuaternion": true
        },
        {
          "name": "arm",
          "kind": "string",
          "type": "string",
          "documentation": "may be left out with one arm",
          "optional": true,
          "repeated": false,
          "minLength": 1,
          "maxLength": 200
        },
        {
          "name": "motion",
          "kind": "choice",
          "type": "MotionKind",
          "documentation": "default auto",
          "optional": true,
          "repeated": false,
          "values": [
            "auto",
            "linear",
            "joint"
          ]
        },
        {
          "name": "speed",
          "kind": "number",
          "type": "number",
          "documentation": "fraction of the configured limits; default 1",
          "optional": true,
          "repeated": false,
          "min": 0.01,
          "max": 1
        },
        {
          "name": "contact_stop",
          "kind": "object",
          "type": "ContactStop",
          "documentation": "end at contact. Left out: contact is an error",
          "optional": true,
          "repeated": false,
          "fields": [
            {
              "name": "force_n",
              "kind": "number",
              "type": "number",
              "documentation": "on the TCP [N]; default 8",
              "optional": true,
              "repeated": false,
              "min": 1,
              "max": 60
            },
            {
              "name": "torque_nm",
              "kind": "number",
              "type": "number",
              "documentation": "on the TCP [Nm]; default 3",
              "optional": true,
              "repeated": false,
              "min": 0.2,
              "max": 6
            },
            {
              "name": "direction_world",
              "kind": "number",
              "type": "readonly [number, number, number]",
              "documentation": "Only force against this direction (world) counts; need not be a unit vector. Left out: force from anywhere.",
              "optional": true,
              "repeated": true,
              "length": 3,
              "min": -1000,
              "max": 1000,
              "nonzero": true
            }
          ]
        }
      ]
    }
  },
  {
    "name": "gripper_goto",
    "number": 16,
    "skill": "grasping",
    "moves": true,
    "returnsString": false,
    "statuses": [
      "invalid_argument",
      "stopped",
      "protective_stop",
      "backend_lost",
      "timeout",
      "budget_exhausted",
      "internal_error",
      "unsupported",
      "arm_required",
      "unknown_arm",
      "busy",
      "not_reached"
    ],
    "signature": "gripper_goto(request: GripperGotoRequest): Promise<GripperGotoResult>",
    "summary": "Opens or closes the gripper to an opening.",
    "documentation": "Opens or closes the gripper to an opening. Closing on an object ends with status ok and stop_reason \"stalled\".",
    "example": "const closed = await robot.gripper_goto({ opening_m: 0 });",
    "request": {
      "name": "GripperGotoRequest",
      "fields": [
        {
          "name": "opening_m",
          "kind": "number",
          "type": "number",
          "documentation": "between the fingers; 0 closes",
          "optional": false,
          "repeated": false,
          "min": 0,
          "max": 0.2
        },
        {
          "name": "arm",
          "kind": "string",
          "type": "string",
          "documentation": "may be left out with one arm",
          "optional": true,
          "repeated": false,
          "minLength": 1,
          "maxLength": 200
        },
        {
          "name": "force_n",
          "kind": "number",
          "type": "number",
          "documentation": "closing force limit [N]; left out: the configured one",
          "optional": true,
          "repeated": false,
          "min": 0.5,
          "max": 100
        }
      ]
    }
  },
  {
    "name": "follow_path",
    "number": 17,
    "skill": "motion",
    "moves": true,
    "returnsString": false,
    "statuses": [
      "invalid_argument",
      "stopped",
      "protective_stop",
      "backend_lost",
      "timeout",
      "budget_exhausted",
      "internal_error",
      "unsupported",
      "arm_required",
      "unknown_arm",
      "busy",
      "unreachable",
      "joint_limit",
      "collision",
      "outside_workspace",
      "forbidden_zone",
      "not_linear",
      "unexpected_contact",
      "not_reached"
    ],
    "signature": "follow_path(request: FollowPathRequest): Promise<FollowPathResult>",
    "summary": "Moves the TCP through poses in order, straight between them: strokes, drawers, knobs, wiping.",
    "documentation": "Moves the TCP through poses in order, straight between them: strokes, drawers, knobs, wiping. With contact_stop, what was seen within 3 cm of the fingers' way is no obstacle; all else, tables and zones stay checked. With press it keeps a force against the surface, where the backend can.",
    "example": "const stroke = await robot.follow_path({ poses: [above, down, along], contact_stop: { force_n: 8 } });",
    "request": {
      "name": "FollowPathRequest",
      "fields": [
        {
          "name": "poses",
          "kind": "object",
          "type": "readonly Pose[]",
          "documentation": "of the TCP, in order",
          "optional": false,
          "repeated": true,
          "minLength": 1,
          "maxLength": 2000,
          "fields": [
            {
              "name": "x",
              "kind": "number",
              "type": "number",
              "documentation": "world [m]",
              "optional": false,
              "repeated": false,
              "min": -10,
              "max": 10
            },
            {
              "name": "y",
              "kind": "number",
              "type": "number",
              "documentation": "world [m]",
              "optional": false,
              "repeated": false,
              "min": -10,
              "max": 10
            },
            {
              "name": "z",
              "kind": "number",
              "type": "number",
              "documentation": "world [m], up",
              "optional": false,
              "repeated": false,
              "min": -10,
              "max": 10
            },
            {
              "name": "qx",
              "kind": "number",
              "type": "number",
              "documentation": "of the unit quaternion",
              "optional": false,
              "repeated": false,
              "min": -1.01,
              "max": 1.01
            },
            {
              "name": "qy",
              "kind": "number",
              "type": "number",
              "documentation": "of the unit quaternion",
              "optional": false,
              "repeated": false,
              "min": -1.01,
              "max": 1.01
            },
            {
              "name": "qz",
              "kind": "number",
              "type": "number",
              "documentation": "of the unit quaternion",
              "optional": false,
              "repeated": false,
              "min": -1.01,
              "max": 1.01
            },
            {
              "name": "qw",
              "kind": "number",
              "type": "number",
              "documentation": "of the unit quaternion, the real part",
              "optional": false,
              "repeated": false,
              "min": -1.01,
              "max": 1.01
            }
          ],
          "unitQuaternion": true
        },
        {
          "name": "arm",
          "kind": "string",
          "type": "string",
          "documentation": "may be left out with one arm",
          "optional": true,
          "repeated": false,
          "minLength": 1,
          "maxLength": 200
        },
        {
          "name": "speed",
          "kind": "number",
          "type": "number",
          "documentation": "fraction of the configured limits; default 1",
          "optional": true,
          "repeated": false,
          "min": 0.01,
          "max": 1
        },
        {
          "name": "contact_stop",
          "kind": "object",
          "type": "ContactStop",
          "documentation": "end at contact. Left out: contact is an error",
          "optional": true,
          "repeated": false,
          "fields": [
            {
              "name": "force_n",
              "kind": "number",
              "type": "number",
              "documentation": "on the TCP [N]; default 8",
              "optional": true,
              "repeated": false,
              "min": 1,
              "max": 60
            },
            {
              "name": "torque_nm",
              "kind": "number",
              "type": "number",
              "documentation": "on the TCP [Nm]; default 3",
              "optional": true,
              "repeated": false,
              "min": 0.2,
              "max": 6
            },
            {
              "name": "direction_world",
              "kind": "number",
              "type": "readonly [number, number, number]",
              "documentation": "Only force against this direction (world) counts; need not be a unit vector. Left out: force from anywhere.",
              "optional": true,
              "repeated": true,
              "length": 3,
              "min": -1000,
              "max": 1000,
              "nonzero": true
            }
          ]
        },
        {
          "name": "press",
          "kind": "object",
          "type": "Press",
          "documentation": "where the backend can",
          "optional": true,
          "repeated": false,
          "fields": [
            {
              "name": "direction_world",
              "kind": "number",
              "type": "readonly [number, number, number]",
              "documentation": "in which to press; need not be a unit vector",
              "optional": false,
              "repeated": true,
              "length": 3,
              "min": -1000,
              "max": 1000,
              "nonzero": true
            },
            {
              "name": "force_n",
              "kind": "number",
              "type": "number",
              "documentation": "to keep [N]",
              "optional": false,
              "repeated": false,
              "min": 1,
              "max": 60
            }
          ]
        }
      ]
    }
  },
  {
    "name": "goto_home",
    "number": 18,
    "skill": "motion",
    "moves": true,
    "returnsString": false,
    "statuses": [
      "invalid_argument",
      "stopped",
      "protective_stop",
      "backend_lost",
      "timeout",
      "budget_exhausted",
      "internal_error",
      "arm_required",
      "unknown_arm",
      "busy",
      "joint_limit",
      "collision",
      "not_linear",
      "unexpected_contact",
      "not_reached"
    ],
    "signature": "goto_home(request?: GotoHomeRequest): Promise<GotoHomeResult>",
    "summary": "Moves the arm to its home pose, clear of the top-down view.",
    "documentation": "Moves the arm to its home pose, clear of the top-down view.",
    "example": "await robot.goto_home({});",
    "request": {
      "name": "GotoHomeRequest",
      "fields": [
        {
          "name": "arm",
          "kind": "string",
          "type": "string",
          "documentation": "may be left out with one arm",
          "optional": true,
          "repeated": false,
          "minLength": 1,
          "maxLength": 200
        }
      ]
    }
  },
];

/** The names of the operations, in the order of their numbers. */
export const OPERATION_NAMES = ["get_topdown_stereo_view","get_scene_stereo_view","get_wrist_stereo_view","get_current_image_path","get_previous_image_path","get_foundation_stereo_depth","get_sam_mask_from_box","measure_visible_geometry","get_point_from_pixel","get_robot_state","get_gripper_state","get_previous_proposer_state","refresh_held_object_state","compile_pose","goto_pose","gripper_goto","follow_path","goto_home"] as const satisfies readonly OperationName[];
