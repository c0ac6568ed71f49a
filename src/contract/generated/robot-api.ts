// Generated from src/contract/robot_api.proto by scripts/generate.mjs. Edit the .proto, then run "npm run generate".

/** What JSON can hold. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

/** What an operation says of itself. COMMON ones may come from every operation. */
export type StatusCode =
  /** The operation did what it documents, and no more than that. */
  | "ok"
  /** An argument is missing, misspelled, not finite or out of its range; the message names it, its limit and the mend. Nothing was done. */
  | "invalid_argument"
  /** A stop is latched: this program can do nothing more. */
  | "stopped"
  /** The arm stopped itself, for example because contact exceeded its limits. A person must look; nothing moves until then. */
  | "protective_stop"
  /** The backend stopped answering; the episode is lost. */
  | "backend_lost"
  /** The operation did not end in the time it may take; the arm was stopped. */
  | "timeout"
  /** A budget of the program or episode (calls, path length, time, steps) is used up. */
  | "budget_exhausted"
  /** Something inside the runtime went wrong; the message says what. Not the program's fault. */
  | "internal_error"
  /** The backend cannot do what was asked (for example press without force control). */
  | "unsupported"
  /** There are several arms and none was named. */
  | "arm_required"
  /** No arm has that name. */
  | "unknown_arm"
  /** The arm or gripper is already moving under another call. */
  | "busy"
  /** The camera cannot see its field while the arm is where it is; goto_home first. */
  | "view_unavailable"
  /** The camera gave no usable frame. */
  | "camera_failed"
  /** There is no such image yet. Thrown, since these operations return a string. */
  | "no_image"
  /** The ref was never given out, or is of another kind than the argument needs. */
  | "unknown_ref"
  /** The ref is of a session that has ended. */
  | "expired_ref"
  /** The refs are of different observations. */
  | "mismatched_refs"
  /** A pixel or box lies outside the image. */
  | "outside_image"
  /** No depth is known there (or too little for the operation). */
  | "no_depth"
  /** Nothing stands out inside the box. */
  | "empty_mask"
  /** The mask holds too few measured points. */
  | "no_points"
  /** No joint configuration reaches a pose. */
  | "unreachable"
  /** A pose is reachable only beyond the arm's joint limits. */
  | "joint_limit"
  /** The arm, gripper or held object would touch something on the way or at the end; the message says what. */
  | "collision"
  /** The object is wider along the closing axis than the gripper opens. */
  | "object_too_wide"
  /** No support surface is seen where the object should stand. */
  | "no_support"
  /** The runtime knows no geometry of a held object: none was grasped at a compiled pose, or it was released. */
  | "no_carry_geometry"
  /** A pose is outside the workspace box. */
  | "outside_workspace"
  /** The way leads through a forbidden zone. */
  | "forbidden_zone"
  /** A straight way does not exist in one joint configuration (and the motion may not bend). */
  | "not_linear"
  /** Contact ended the motion that was not asked for. The arm holds where it is. */
  | "unexpected_contact"
  /** The motion ended away from its goal. */
  | "not_reached"
  /** The masked thing is not between the fingers. */
  | "not_in_gripper"
  /** The fingers closed without meeting anything. Given by functions of optional skills. */
  | "nothing_gripped"
  /** Nothing that is seen fits the words. Given by functions of optional skills. */
  | "not_found"
  /** Several things fit the words; nothing is guessed. Given by functions of optional skills. */
  | "ambiguous"
  /** A service that the function needs (a model, a server) failed or answered something of no use. Given by functions of optional skills. */
  | "service_failed";

/** Codes that every operation may give. */
export type CommonFailure = "invalid_argument" | "stopped" | "protective_stop" | "backend_lost" | "timeout" | "budget_exhausted" | "internal_error";

/** The views of the robot. */
export type ViewName =
  /** From above. */
  | "topdown"
  /** Oblique, of the whole scene. */
  | "scene"
  /** From an arm's wrist. */
  | "wrist";

/** What an arm is doing. */
export type ArmModeName =
  /** Still, and ready for a motion. */
  | "idle"
  /** Under a motion. */
  | "moving"
  /** A stop is latched; it moves no more for this program. */
  | "stop_latched"
  /** It stopped itself; a person must look. */
  | "protective_stopped"
  /** It has a fault; a person must look. */
  | "faulted"
  /** It does not answer. */
  | "disconnected";

/** What can be asked of a gripper. */
export type GripperControl =
  /** Any opening between closed and max_opening_m. */
  | "width"
  /** Open or closed. */
  | "binary"
  /** The arm has no gripper. */
  | "none";

/** The way that a motion takes. */
export type MotionKind =
  /** Straight where that fits, else through joint space; never bends while the arm holds or touches something. */
  | "auto"
  /** The TCP stays on a straight line. */
  | "linear"
  /** Straight in joint space. */
  | "joint";

/** Nothing to choose. */
export type GetTopdownStereoViewRequest = Record<string, never>;

/** A stereo pair that was just taken by a fixed camera. */
export type ViewOk = {
  /** ok: a new exposure was taken */
  status: "ok";
  /** for a person */
  message: string;
  /** names the pair */
  observation_ref: string;
  /** PNG, relative to the run's folder */
  left_image_path: string;
  /** PNG; null where the view is RGB-D */
  right_image_path: string | null;
  /** of each image [px] */
  width: number;
  /** of each image [px] */
  height: number;
  /** device time of the exposure */
  taken_at_s: number;
};

export type ViewFailed = {
  /** Why not. */
  status: CommonFailure | "view_unavailable" | "camera_failed";
  /** What to mend, for a person. */
  message: string;
};

export type ViewResult = ViewOk | ViewFailed;

/** Nothing to choose. */
export type GetSceneStereoViewRequest = Record<string, never>;

/** Whose wrist. */
export type GetWristStereoViewRequest = {
  /** may be left out with one arm */
  arm?: string;
};

/**
 * Position [m] and orientation of the TCP in world. The orientation is a unit quaternion x y z w; straight down, fingers closing along world y, is qx 1, qy 0, qz 0, qw 0.
 */
export type Pose = {
  /** world [m]. Range: -10 to 10. */
  x: number;
  /** world [m]. Range: -10 to 10. */
  y: number;
  /** world [m], up. Range: -10 to 10. */
  z: number;
  /** of the unit quaternion. Range: -1.01 to 1.01. */
  qx: number;
  /** of the unit quaternion. Range: -1.01 to 1.01. */
  qy: number;
  /** of the unit quaternion. Range: -1.01 to 1.01. */
  qz: number;
  /** of the unit quaternion, the real part. Range: -1.01 to 1.01. */
  qw: number;
};

/** A stereo pair that was just taken by a wrist camera. */
export type WristViewOk = {
  /** ok: a new exposure was taken */
  status: "ok";
  /** for a person */
  message: string;
  /** names the pair */
  observation_ref: string;
  /** PNG, relative to the run's folder */
  left_image_path: string;
  /** PNG; null where the view is RGB-D */
  right_image_path: string | null;
  /** of each image [px] */
  width: number;
  /** of each image [px] */
  height: number;
  /** device time of the exposure */
  taken_at_s: number;
  /** of the arm at the exposure */
  tcp_pose: Pose;
};

export type WristViewFailed = {
  /** Why not. */
  status: CommonFailure | "view_unavailable" | "camera_failed" | "arm_required" | "unknown_arm";
  /** What to mend, for a person. */
  message: string;
};

export type WristViewResult = WristViewOk | WristViewFailed;

/** Which view. */
export type GetCurrentImagePathRequest = {
  /** whose image */
  view: ViewName;
  /** of the wrist view; may be left out with one arm */
  arm?: string;
};

/** Which view. */
export type GetPreviousImagePathRequest = {
  /** whose image */
  view: ViewName;
  /** of the wrist view; may be left out with one arm */
  arm?: string;
};

/** Which observation. */
export type GetFoundationStereoDepthRequest = {
  /** of a view */
  observation_ref: string;
};

/** Depth of every pixel of one observation, where known. */
export type DepthOk = {
  /** ok: there is a depth image; see valid_fraction for how much of it is known */
  status: "ok";
  /** for a person */
  message: string;
  /** names the depth image */
  depth_ref: string;
  /** that it is of */
  observation_ref: string;
  /** what made the depth, for example "census-sgm/avx2" or "sensor" */
  model: string;
  /** part of the pixels whose depth is known, 0 to 1 */
  valid_fraction: number;
  /** 1st percentile of the known depth [m] */
  near_m: number;
  /** 99th percentile of the known depth [m] */
  far_m: number;
  /** PNG, near is bright, unknown is black; relative to the run's folder */
  preview_path: string;
  /** something moved since that may have changed what was seen */
  stale: boolean;
  /** what moved since */
  stale_reason: string | null;
};

export type DepthFailed = {
  /** Why not. */
  status: CommonFailure | "unknown_ref" | "expired_ref" | "no_depth";
  /** What to mend, for a person. */
  message: string;
};

export type DepthResult = DepthOk | DepthFailed;

/** Half-open pixel box in the left image: x0 <= u < x1, y0 <= v < y1. */
export type Box = {
  /** left edge [px]. Range: -100 to 20000. */
  x0: number;
  /** top edge [px]. Range: -100 to 20000. */
  y0: number;
  /** right edge [px], above x0. Range: -100 to 20000. */
  x1: number;
  /** bottom edge [px], above y0. Range: -100 to 20000. */
  y1: number;
};

/** What to mask. */
export type GetSamMaskFromBoxRequest = {
  /** of a view */
  observation_ref: string;
  /** around the thing, in that view's left image */
  box: Box;
};

/** The pixels of one thing. */
export type MaskOk = {
  /** ok: something stands out in the box; not that it is the thing you mean */
  status: "ok";
  /** for a person */
  message: string;
  /** names the mask */
  mask_ref: string;
  /** pixels in the mask */
  area_px: number;
  /** tight around the mask, half-open */
  bounds: Box;
  /** PNG: the left image with the mask drawn in; relative to the run's folder */
  overlay_path: string;
  /** what made the mask, for example "scene/geometry+colour" */
  model: string;
  /** something moved since that may have changed what was seen */
  stale: boolean;
  /** what moved since */
  stale_reason: string | null;
};

export type MaskFailed = {
  /** Why not. */
  status: CommonFailure | "unknown_ref" | "expired_ref" | "outside_image" | "empty_mask" | "no_depth";
  /** What to mend, for a person. */
  message: string;
};

export type MaskResult = MaskOk | MaskFailed;

/** What to measure; both refs of one observation. */
export type MeasureVisibleGeometryRequest = {
  /** of the object */
  mask_ref: string;
  /** of the same observation */
  depth_ref: string;
};

/** A direction. */
export type Axis = {
  /** unit vector in world */
  xyz: [number, number, number];
};

/** Box whose vertical edges are vertical in world. */
export type UprightBox = {
  /** world [m] */
  center: [number, number, number];
  /** along its own x, y and world z [m]; x is the longer horizontal side */
  size: [number, number, number];
  /** of its x axis about world z, in (-pi/2, pi/2] */
  yaw_rad: number;
  /** false for round or square-symmetric outlines whose yaw means nothing */
  yaw_defined: boolean;
};

/** Shape and place of the visible surface of one thing. */
export type GeometryOk = {
  /** ok: enough points to measure; see geometry_confidence */
  status: "ok";
  /** for a person */
  message: string;
  /** of the visible points, world [m] */
  centroid: [number, number, number];
  /** height of the top, world [m] */
  top_z: number;
  /** height of the surface around it, world [m]; null where none is seen */
  support_z: number | null;
  /** of the visible points along principal_axes [m] */
  extents: [number, number, number];
  /** largest extent first, right-handed */
  principal_axes: [Axis, Axis, Axis];
  /** gravity-aligned; reaches from support_z, where known, to top_z */
  upright_box: UprightBox;
  /** measured points inside the mask */
  point_count: number;
  /** of the measurement, 0 to 1 */
  geometry_confidence: number;
  /** something moved since that may have changed what was seen */
  stale: boolean;
  /** what moved since */
  stale_reason: string | null;
};

export type GeometryFailed = {
  /** Why not. */
  status: CommonFailure | "unknown_ref" | "expired_ref" | "mismatched_refs" | "no_points";
  /** What to mend, for a person. */
  message: string;
};

export type GeometryResult = GeometryOk | GeometryFailed;

/** Which pixel. */
export type GetPointFromPixelRequest = {
  /** of the view */
  depth_ref: string;
  /** to the right [px], in the left image. Range: -100 to 20000. */
  u: number;
  /** down [px]. Range: -100 to 20000. */
  v: number;
};

/** The surface under one pixel. */
export type PointOk = {
  /** ok: depth is known there */
  status: "ok";
  /** for a person */
  message: string;
  /** world [m] */
  point: [number, number, number];
  /** Unit vector in world, toward the camera; null where too few neighbours are known. */
  normal: [number, number, number] | null;
  /** something moved since that may have changed what was seen */
  stale: boolean;
  /** what moved since */
  stale_reason: string | null;
};

export type PointFailed = {
  /** Why not. */
  status: CommonFailure | "unknown_ref" | "expired_ref" | "outside_image" | "no_depth";
  /** What to mend, for a person. */
  message: string;
};

export type PointResult = PointOk | PointFailed;

/** Which arm. */
export type GetRobotStateRequest = {
  /** may be left out with one arm */
  arm?: string;
};

/** Where the TCP may go. */
export type WorkspaceBox = {
  /** lowest corner, of the TCP, world [m] */
  min_xyz: [number, number, number];
  /** highest corner, of the TCP, world [m] */
  max_xyz: [number, number, number];
  /** height of the work surface, world [m] */
  table_z: number;
};

/** Measured state of one arm. */
export type RobotStateOk = {
  /** ok: the state was measured */
  status: "ok";
  /** for a person */
  message: string;
  /** names of all arms */
  arms: string[];
  /** the one that the rest speaks of */
  arm: string;
  /** measured */
  tcp_pose: Pose;
  /** measured, base to wrist */
  joints_rad: number[];
  /** fx fy fz [N], tx ty tz [Nm] on the TCP, world axes */
  tcp_wrench: [number, number, number, number, number, number];
  /** what it is doing */
  mode: ArmModeName;
  /** where its TCP may go */
  workspace: WorkspaceBox;
  /** of the backend's step limit; null where it has none */
  steps_left: number | null;
};

export type RobotStateFailed = {
  /** Why not. */
  status: CommonFailure | "arm_required" | "unknown_arm";
  /** What to mend, for a person. */
  message: string;
};

export type RobotStateResult = RobotStateOk | RobotStateFailed;

/** Whose gripper. */
export type GetGripperStateRequest = {
  /** may be left out with one arm */
  arm?: string;
};

/** State of one gripper. */
export type GripperStateOk = {
  /** ok: the state was read; not that something is held */
  status: "ok";
  /** for a person */
  message: string;
  /** between the fingers */
  opening_m: number;
  /** that it can open to */
  max_opening_m: number;
  /** what can be asked of it */
  control: GripperControl;
  /** whether opening_m is a measurement */
  measured: boolean;
  /** closing force; an estimate where the gripper does not measure it */
  force_n: number;
  /** the fingers move now */
  moving: boolean;
  /** it stopped before its target, against something */
  stalled: boolean;
};

export type GripperStateFailed = {
  /** Why not. */
  status: CommonFailure | "arm_required" | "unknown_arm";
  /** What to mend, for a person. */
  message: string;
};

export type GripperStateResult = GripperStateOk | GripperStateFailed;

/** Nothing to choose. */
export type GetPreviousProposerStateRequest = Record<string, never>;

/** Geometry of what an arm carries, for placing it. Geometry, not a verdict that it is held. */
export type HeldObjectState = {
  /** the arm that carries it */
  arm: string;
  /** centre of the box in the TCP frame [m] */
  center_tcp: [number, number, number];
  /** of the box along its own axes [m] */
  size: [number, number, number];
  /** box axes in the TCP frame; the position is center_tcp */
  pose_tcp: Pose;
  /** how far the object reaches below the TCP when the tool points down */
  bottom_below_tcp_m: number;
  /** of the gripper at the grasp */
  opening_m: number;
  /** made when the gripper closed at a compiled grasp, or measured anew since */
  basis: "grasp" | "refresh";
  /** device time of the exposure it was measured in */
  measured_at_s: number;
};

/** What is remembered of the previous stage. */
export type PreviousProposerStateOk = {
  /** ok: also in the first stage */
  status: "ok";
  /** for a person */
  message: string;
  /** number of the previous decision stage; null in the first */
  stage: number | null;
  /** what its program returned; null where it returned nothing */
  working_state: JsonValue;
  /** one per arm that holds, as of now; empty where none does */
  held_object_state: HeldObjectState[];
};

export type PreviousProposerStateFailed = {
  /** Why not. */
  status: CommonFailure;
  /** What to mend, for a person. */
  message: string;
};

export type PreviousProposerStateResult = PreviousProposerStateOk | PreviousProposerStateFailed;

/** What to measure, all of one observation. */
export type RefreshHeldObjectStateRequest = {
  /** of a view that shows the object between the fingers */
  observation_ref: string;
  /** of that observation */
  depth_ref: string;
  /** of the object, in that observation */
  mask_ref: string;
  /** that holds it; may be left out with one arm */
  arm?: string;
};

/** The held-object geometry as it is now known. */
export type HeldObjectOk = {
  /** ok: the geometry was replaced; not that the object is held */
  status: "ok";
  /** for a person */
  message: string;
  /** the new geometry */
  held_object_state: HeldObjectState | null;
  /** what the geometry rests on, in words */
  basis: string;
  /** something moved since the observation */
  stale: boolean;
  /** what moved since */
  stale_reason: string | null;
};

export type HeldObjectFailed = {
  /** Why not. */
  status: CommonFailure | "unknown_ref" | "expired_ref" | "mismatched_refs" | "no_points" | "not_in_gripper" | "arm_required" | "unknown_arm";
  /** What to mend, for a person. */
  message: string;
};

export type HeldObjectResult = HeldObjectOk | HeldObjectFailed;

/** Pixel of the left image; integers are pixel centres. */
export type Pixel = {
  /** to the right [px]. Range: -100 to 20000. */
  u: number;
  /** down [px]. Range: -100 to 20000. */
  v: number;
};

/** Where and how to grasp. */
export type GraspGoal = {
  /** plan a grasp */
  mode: "grasp";
  /** may be left out with one arm */
  arm?: string;
  /** world [m]: where the TCP closes. Range: -10 to 10. */
  grasp_center_xyz: readonly [number, number, number];
  /** Direction (world) along which the fingers close; need not be a unit vector. Range: -1000 to 1000. */
  closing_axis_world: readonly [number, number, number];
  /** Direction (world) in which the tool approaches; need not be a unit vector. Left out: straight down. Range: -1000 to 1000. */
  approach_axis_world?: readonly [number, number, number];
  /** to check clearance against */
  depth_ref?: string;
  /** of the object; needs depth_ref. With both, closing on it creates held-object geometry */
  mask_ref?: string;
};

/** Where and how to set down the held object. */
export type PlaceGoal = {
  /** plan a placement of the held object */
  mode: "place";
  /** that holds it; may be left out with one arm */
  arm?: string;
  /** where the object's centre goes, in the left image of observation_ref */
  target_pixel: Pixel;
  /** of a view that shows the target */
  observation_ref: string;
  /** of that observation */
  depth_ref: string;
  /** Wanted direction (world) of the object's longer horizontal side; need not be a unit vector. Left out: any that fits. Range: -1000 to 1000. */
  object_axis_world?: readonly [number, number, number];
  /** Point of the object (along its box axes from its centre [m]) that goes above the target. Left out: its centre. Range: -1 to 1. */
  anchor_on_object?: readonly [number, number, number];
};

/** `mode` chooses the fields: a program writes { mode: "grasp", … } or { mode: "place", … }. */
export type CompilePoseRequest = GraspGoal | PlaceGoal;

/** What was checked of every pose of the plan. */
export type PoseChecks = {
  /** a joint configuration reaches it */
  reach: boolean;
  /** within the joint limits */
  joint_limits: boolean;
  /** true: free */
  collision: boolean;
  /** smallest seen distance; null where nothing was seen to measure against */
  clearance_m: number | null;
};

/** Plan of a grasp: approach, contact, close, lift. */
export type GraspPoses = {
  /** ok: all poses passed all checks; nothing has moved */
  status: "ok";
  /** for a person */
  message: string;
  /** of a grasp */
  mode: "grasp";
  /** before contact, fingers open */
  approach: Pose;
  /** close the fingers here */
  contact: Pose;
  /** after closing */
  lift: Pose;
  /** to open to before the approach */
  opening_m: number;
  /** of all poses together */
  checks: PoseChecks;
  /** something moved since that may have changed what was seen */
  stale: boolean;
  /** what moved since */
  stale_reason: string | null;
};

/** Plan of a placement: carry, release, open, retreat. */
export type PlacePoses = {
  /** ok: all poses passed all checks; nothing has moved */
  status: "ok";
  /** for a person */
  message: string;
  /** of a placement */
  mode: "place";
  /** above the target, object held */
  carry: Pose;
  /** open the fingers here */
  release: Pose;
  /** after opening */
  retreat: Pose;
  /** height of the surface that the object is set on, world [m] */
  support_z: number;
  /** to open to at the release */
  opening_m: number;
  /** of all poses together */
  checks: PoseChecks;
  /** something moved since that may have changed what was seen */
  stale: boolean;
  /** what moved since */
  stale_reason: string | null;
};

/** The plan that was asked for; `mode` says which. */
export type CompilePoseOk = GraspPoses | PlacePoses;

export type CompilePoseFailed = {
  /** Why not. */
  status: CommonFailure | "unknown_ref" | "expired_ref" | "mismatched_refs" | "outside_image" | "no_depth" | "no_points" | "unreachable" | "joint_limit" | "collision" | "object_too_wide" | "no_support" | "no_carry_geometry" | "outside_workspace" | "forbidden_zone" | "not_linear" | "arm_required" | "unknown_arm";
  /** What to mend, for a person. */
  message: string;
};

export type CompilePoseResult = CompilePoseOk | CompilePoseFailed;

/** When a motion should end at contact, relative to what the arm felt at its start. */
export type ContactStop = {
  /** on the TCP [N]; default 8. Range: 1 to 60. */
  force_n?: number;
  /** on the TCP [Nm]; default 3. Range: 0.2 to 6. */
  torque_nm?: number;
  /** Only force against this direction (world) counts; need not be a unit vector. Left out: force from anywhere. Range: -1000 to 1000. */
  direction_world?: readonly [number, number, number];
};

/** Where to go, and how. */
export type GotoPoseRequest = {
  /** of the TCP at the end */
  pose: Pose;
  /** may be left out with one arm */
  arm?: string;
  /** default auto */
  motion?: MotionKind;
  /** fraction of the configured limits; default 1. Range: 0.01 to 1. */
  speed?: number;
  /** end at contact. Left out: contact is an error */
  contact_stop?: ContactStop;
};

/** How the motion ended. */
export type MotionOk = {
  /** ok: the motion ended at its goal or at the contact that was asked for */
  status: "ok";
  /** for a person */
  message: string;
  /** measured at the end */
  reached_pose: Pose;
  /** linear or joint */
  motion_used: MotionKind;
  /** between goal and reached */
  error_m: number;
  /** between goal and reached */
  error_rad: number;
  /** Why it ended; a failed result lacks it where nothing moved. */
  stop_reason: "completed" | "contact" | "unexpected_contact" | "stopped" | "protective_stop" | "fault" | "group" | "timeout";
};

export type MotionFailed = {
  /** Why not. */
  status: CommonFailure | "unreachable" | "joint_limit" | "collision" | "outside_workspace" | "forbidden_zone" | "not_linear" | "unexpected_contact" | "not_reached" | "busy" | "arm_required" | "unknown_arm";
  /** What to mend, for a person. */
  message: string;
  /** measured at the end */
  reached_pose?: Pose;
  /** Why it ended; a failed result lacks it where nothing moved. */
  stop_reason?: "completed" | "contact" | "unexpected_contact" | "stopped" | "protective_stop" | "fault" | "group" | "timeout";
};

export type MotionResult = MotionOk | MotionFailed;

/** How far to open or close. */
export type GripperGotoRequest = {
  /** between the fingers; 0 closes. Range: 0 to 0.2. */
  opening_m: number;
  /** may be left out with one arm */
  arm?: string;
  /** closing force limit [N]; left out: the configured one. Range: 0.5 to 100. */
  force_n?: number;
};

/** How the fingers ended. */
export type GripperGotoOk = {
  /** ok: the fingers reached the opening, or stalled on something; not that it is held */
  status: "ok";
  /** for a person */
  message: string;
  /** at the end */
  opening_m: number;
  /** Why it ended; a failed result lacks it where nothing moved. */
  stop_reason: "completed" | "stalled" | "stopped" | "protective_stop" | "fault" | "group" | "timeout";
};

export type GripperGotoFailed = {
  /** Why not. */
  status: CommonFailure | "not_reached" | "busy" | "unsupported" | "arm_required" | "unknown_arm";
  /** What to mend, for a person. */
  message: string;
  /** at the end */
  opening_m?: number;
  /** Why it ended; a failed result lacks it where nothing moved. */
  stop_reason?: "completed" | "stalled" | "stopped" | "protective_stop" | "fault" | "group" | "timeout";
};

export type GripperGotoResult = GripperGotoOk | GripperGotoFailed;

/** A force to keep against a surface along a path. */
export type Press = {
  /** in which to press; need not be a unit vector. Range: -1000 to 1000. */
  direction_world: readonly [number, number, number];
  /** to keep [N]. Range: 1 to 60. */
  force_n: number;
};

/** Which way to take. */
export type FollowPathRequest = {
  /** of the TCP, in order. Range: 1 to 2000 elements. */
  poses: readonly Pose[];
  /** may be left out with one arm */
  arm?: string;
  /** fraction of the configured limits; default 1. Range: 0.01 to 1. */
  speed?: number;
  /** end at contact. Left out: contact is an error */
  contact_stop?: ContactStop;
  /** where the backend can */
  press?: Press;
};

/** How the path ended. */
export type FollowPathOk = {
  /** ok: the path was followed to its end or to the contact that was asked for */
  status: "ok";
  /** for a person */
  message: string;
  /** last pose passed; -1: none */
  reached_index: number;
  /** of the TCP from start to end */
  displacement_m: number;
  /** of the TCP from start to end */
  rotation_rad: number;
  /** mean contact force relative to the start */
  mean_force_n: number;
  /** Why it ended; a failed result lacks it where nothing moved. */
  stop_reason: "completed" | "contact" | "unexpected_contact" | "stopped" | "protective_stop" | "fault" | "group" | "timeout";
};

export type FollowPathFailed = {
  /** Why not. */
  status: CommonFailure | "unreachable" | "joint_limit" | "collision" | "outside_workspace" | "forbidden_zone" | "not_linear" | "unexpected_contact" | "not_reached" | "busy" | "unsupported" | "arm_required" | "unknown_arm";
  /** What to mend, for a person. */
  message: string;
  /** last pose passed; -1: none */
  reached_index?: number;
  /** of the TCP from start to end */
  displacement_m?: number;
  /** of the TCP from start to end */
  rotation_rad?: number;
  /** mean contact force relative to the start */
  mean_force_n?: number;
  /** Why it ended; a failed result lacks it where nothing moved. */
  stop_reason?: "completed" | "contact" | "unexpected_contact" | "stopped" | "protective_stop" | "fault" | "group" | "timeout";
};

export type FollowPathResult = FollowPathOk | FollowPathFailed;

/** Which arm. */
export type GotoHomeRequest = {
  /** may be left out with one arm */
  arm?: string;
};

/** How the motion ended. */
export type GotoHomeOk = {
  /** ok: the arm is at its home pose */
  status: "ok";
  /** for a person */
  message: string;
  /** measured at the end */
  reached_pose: Pose;
  /** Why it ended; a failed result lacks it where nothing moved. */
  stop_reason: "completed" | "unexpected_contact" | "stopped" | "protective_stop" | "fault" | "group" | "timeout";
};

export type GotoHomeFailed = {
  /** Why not. */
  status: CommonFailure | "collision" | "joint_limit" | "not_linear" | "unexpected_contact" | "not_reached" | "busy" | "arm_required" | "unknown_arm";
  /** What to mend, for a person. */
  message: string;
  /** measured at the end */
  reached_pose?: Pose;
  /** Why it ended; a failed result lacks it where nothing moved. */
  stop_reason?: "completed" | "unexpected_contact" | "stopped" | "protective_stop" | "fault" | "group" | "timeout";
};

export type GotoHomeResult = GotoHomeOk | GotoHomeFailed;

/** Everything that a program may ask of the robot. */
export interface RobotApi {
  /**
   * Takes a fresh stereo pair of the top-down camera, which sees the work surface from above. Where the view needs the arm elsewhere the status is view_unavailable; goto_home clears it.
   *
   * Statuses: ok, view_unavailable, camera_failed, and those that every operation may give.
   *
   * @example
   * ```ts
   * const view = await robot.get_topdown_stereo_view();
   * if (view.status !== "ok") return { problem: view.message };
   * ```
   */
  get_topdown_stereo_view(request?: GetTopdownStereoViewRequest): Promise<ViewResult>;

  /**
   * Takes a fresh stereo pair of the oblique scene camera.
   *
   * Statuses: ok, view_unavailable, camera_failed, and those that every operation may give.
   *
   * @example
   * ```ts
   * const view = await robot.get_scene_stereo_view();
   * ```
   */
  get_scene_stereo_view(request?: GetSceneStereoViewRequest): Promise<ViewResult>;

  /**
   * Takes a fresh stereo pair of the camera that rides on an arm's wrist. Where the camera was is the arm's pose at the exposure, also when the arm moves afterwards.
   *
   * Statuses: ok, view_unavailable, camera_failed, arm_required, unknown_arm, and those that every operation may give.
   *
   * @example
   * ```ts
   * const view = await robot.get_wrist_stereo_view({});
   * ```
   */
  get_wrist_stereo_view(request?: GetWristStereoViewRequest): Promise<WristViewResult>;

  /**
   * Path of the newest public image of a view, in this stage or an earlier one; takes no picture.
   *
   * Throws RobotError with a code of: no_image, arm_required, unknown_arm, and those that every operation may give.
   *
   * @example
   * ```ts
   * const path = await robot.get_current_image_path({ view: "topdown" });
   * ```
   */
  get_current_image_path(request: GetCurrentImagePathRequest): Promise<string>;

  /**
   * Path of the last public image of a view from before the present decision stage; for comparing before and after.
   *
   * Throws RobotError with a code of: no_image, arm_required, unknown_arm, and those that every operation may give.
   *
   * @example
   * ```ts
   * const before = await robot.get_previous_image_path({ view: "topdown" });
   * ```
   */
  get_previous_image_path(request: GetPreviousImagePathRequest): Promise<string>;

  /**
   * Metric depth of an observation, registered to its left image: computed from the calibrated stereo pair, or measured by the depth sensor where the view has one; `model` says which. Unknown pixels stay unknown.
   *
   * Statuses: ok, unknown_ref, expired_ref, no_depth, and those that every operation may give.
   *
   * @example
   * ```ts
   * const depth = await robot.get_foundation_stereo_depth({ observation_ref: view.observation_ref });
   * ```
   */
  get_foundation_stereo_depth(request: GetFoundationStereoDepthRequest): Promise<DepthResult>;

  /**
   * Mask of the one thing that a pixel box frames in the left image. One box gives one mask; no words, no score: whether the mask is the thing you mean is for you to see (bounds, area, overlay).
   *
   * Statuses: ok, unknown_ref, expired_ref, outside_image, empty_mask, no_depth, and those that every operation may give.
   *
   * @example
   * ```ts
   * const mask = await robot.get_sam_mask_from_box({ observation_ref: view.observation_ref, box: { x0: 300, y0: 200, x1: 352, y1: 255 } });
   * ```
   */
  get_sam_mask_from_box(request: GetSamMaskFromBoxRequest): Promise<MaskResult>;

  /**
   * Geometry of what the mask shows and the depth measures: only visible surface, never what is hidden behind it. Mask and depth must be of the same observation. geometry_confidence speaks of the measurement, not of what the thing is.
   *
   * Statuses: ok, unknown_ref, expired_ref, mismatched_refs, no_points, and those that every operation may give.
   *
   * @example
   * ```ts
   * const geometry = await robot.measure_visible_geometry({ mask_ref: mask.mask_ref, depth_ref: depth.depth_ref });
   * ```
   */
  measure_visible_geometry(request: MeasureVisibleGeometryRequest): Promise<GeometryResult>;

  /**
   * World point and surface normal under one pixel of the left image.
   *
   * Statuses: ok, unknown_ref, expired_ref, outside_image, no_depth, and those that every operation may give.
   *
   * @example
   * ```ts
   * const hit = await robot.get_point_from_pixel({ depth_ref: depth.depth_ref, u: 320, v: 240 });
   * if (hit.status === "ok") console.log(hit.point);
   * ```
   */
  get_point_from_pixel(request: GetPointFromPixelRequest): Promise<PointResult>;

  /**
   * Where the arm is and what it feels, measured now.
   *
   * Statuses: ok, arm_required, unknown_arm, and those that every operation may give.
   *
   * @example
   * ```ts
   * const state = await robot.get_robot_state({});
   * ```
   */
  get_robot_state(request?: GetRobotStateRequest): Promise<RobotStateResult>;

  /**
   * The gripper's opening and force now. Evidence of retention, never a verdict: an opening above zero after closing means that something is between the fingers, not what it is.
   *
   * Statuses: ok, arm_required, unknown_arm, and those that every operation may give.
   *
   * @example
   * ```ts
   * const gripper = await robot.get_gripper_state({});
   * ```
   */
  get_gripper_state(request?: GetGripperStateRequest): Promise<GripperStateResult>;

  /**
   * What the program of the previous decision stage returned, and the held-object geometry as of now.
   *
   * Statuses: ok, and those that every operation may give.
   *
   * @example
   * ```ts
   * const previous = await robot.get_previous_proposer_state();
   * ```
   */
  get_previous_proposer_state(request?: GetPreviousProposerStateRequest): Promise<PreviousProposerStateResult>;

  /**
   * Measures anew the object that the arm holds, from one observation with its depth and the object's mask, and replaces the held-object geometry. It does not check that the object is held. Where the mask is not between the fingers the geometry stays as it was and the status is not_in_gripper.
   *
   * Statuses: ok, unknown_ref, expired_ref, mismatched_refs, no_points, not_in_gripper, arm_required, unknown_arm, and those that every operation may give.
   *
   * @example
   * ```ts
   * const held = await robot.refresh_held_object_state({ observation_ref, depth_ref, mask_ref });
   * ```
   */
  refresh_held_object_state(request: RefreshHeldObjectStateRequest): Promise<HeldObjectResult>;

  /**
   * Plans a grasp or a placement; moves nothing. Mode "grasp" gives approach, contact and lift poses for a grasp centre and a closing axis; give depth_ref and mask_ref so that clearance is checked against what was seen. Mode "place" sets the held object (the runtime's held-object geometry) down on the surface seen at target_pixel, and gives carry, release and retreat poses; the compiler owns support height and release height. A failed check is a status, with no poses.
   *
   * Statuses: ok, unknown_ref, expired_ref, mismatched_refs, outside_image, no_depth, no_points, unreachable, joint_limit, collision, object_too_wide, no_support, no_carry_geometry, outside_workspace, forbidden_zone, not_linear, arm_required, unknown_arm, and those that every operation may give.
   *
   * @example
   * ```ts
   * const plan = await robot.compile_pose({ mode: "grasp", grasp_center_xyz: [0.45, 0.1, 0.02], closing_axis_world: [0, 1, 0] });
   * if (plan.status === "ok" && plan.mode === "grasp") await robot.goto_pose({ pose: plan.approach });
   * ```
   */
  compile_pose(request: CompilePoseRequest): Promise<CompilePoseResult>;

  /**
   * Moves the TCP to a pose, jerk-limited, checked against table, zones, the other arm and the newest observed surfaces. motion "linear" keeps the TCP on a straight line, "joint" takes the straight way in joint space, "auto" goes straight where that fits, and never bends while the arm holds something or touches something. With contact_stop, contact ends the motion with status ok and stop_reason "contact"; any other contact ends it with unexpected_contact.
   *
   * Moves the arm or the gripper. Statuses: ok, unreachable, joint_limit, collision, outside_workspace, forbidden_zone, not_linear, unexpected_contact, not_reached, busy, arm_required, unknown_arm, and those that every operation may give.
   *
   * @example
   * ```ts
   * const moved = await robot.goto_pose({ pose: plan.contact, motion: "linear", speed: 0.3 });
   * ```
   */
  goto_pose(request: GotoPoseRequest): Promise<MotionResult>;

  /**
   * Opens or closes the gripper to an opening. Closing on an object ends with status ok and stop_reason "stalled".
   *
   * Moves the arm or the gripper. Statuses: ok, not_reached, busy, unsupported, arm_required, unknown_arm, and those that every operation may give.
   *
   * @example
   * ```ts
   * const closed = await robot.gripper_goto({ opening_m: 0 });
   * ```
   */
  gripper_goto(request: GripperGotoRequest): Promise<GripperGotoResult>;

  /**
   * Moves the TCP through poses in order, straight between them: strokes, drawers, knobs, wiping. With contact_stop, what was seen within 3 cm of the fingers' way is no obstacle; all else, tables and zones stay checked. With press it keeps a force against the surface, where the backend can.
   *
   * Moves the arm or the gripper. Statuses: ok, unreachable, joint_limit, collision, outside_workspace, forbidden_zone, not_linear, unexpected_contact, not_reached, busy, unsupported, arm_required, unknown_arm, and those that every operation may give.
   *
   * @example
   * ```ts
   * const stroke = await robot.follow_path({ poses: [above, down, along], contact_stop: { force_n: 8 } });
   * ```
   */
  follow_path(request: FollowPathRequest): Promise<FollowPathResult>;

  /**
   * Moves the arm to its home pose, clear of the top-down view.
   *
   * Moves the arm or the gripper. Statuses: ok, collision, joint_limit, not_linear, unexpected_contact, not_reached, busy, arm_required, unknown_arm, and those that every operation may give.
   *
   * @example
   * ```ts
   * await robot.goto_home({});
   * ```
   */
  goto_home(request?: GotoHomeRequest): Promise<GotoHomeResult>;
}

export type OperationName = keyof RobotApi;

/** The request of each operation. */
export interface RobotApiRequests {
  get_topdown_stereo_view: GetTopdownStereoViewRequest;
  get_scene_stereo_view: GetSceneStereoViewRequest;
  get_wrist_stereo_view: GetWristStereoViewRequest;
  get_current_image_path: GetCurrentImagePathRequest;
  get_previous_image_path: GetPreviousImagePathRequest;
  get_foundation_stereo_depth: GetFoundationStereoDepthRequest;
  get_sam_mask_from_box: GetSamMaskFromBoxRequest;
  measure_visible_geometry: MeasureVisibleGeometryRequest;
  get_point_from_pixel: GetPointFromPixelRequest;
  get_robot_state: GetRobotStateRequest;
  get_gripper_state: GetGripperStateRequest;
  get_previous_proposer_state: GetPreviousProposerStateRequest;
  refresh_held_object_state: RefreshHeldObjectStateRequest;
  compile_pose: CompilePoseRequest;
  goto_pose: GotoPoseRequest;
  gripper_goto: GripperGotoRequest;
  follow_path: FollowPathRequest;
  goto_home: GotoHomeRequest;
}

/** What each operation gives. */
export interface RobotApiResults {
  get_topdown_stereo_view: ViewResult;
  get_scene_stereo_view: ViewResult;
  get_wrist_stereo_view: WristViewResult;
  get_current_image_path: string;
  get_previous_image_path: string;
  get_foundation_stereo_depth: DepthResult;
  get_sam_mask_from_box: MaskResult;
  measure_visible_geometry: GeometryResult;
  get_point_from_pixel: PointResult;
  get_robot_state: RobotStateResult;
  get_gripper_state: GripperStateResult;
  get_previous_proposer_state: PreviousProposerStateResult;
  refresh_held_object_state: HeldObjectResult;
  compile_pose: CompilePoseResult;
  goto_pose: MotionResult;
  gripper_goto: GripperGotoResult;
  follow_path: FollowPathResult;
  goto_home: GotoHomeResult;
}
