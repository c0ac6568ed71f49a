// Generated from src/contract/device.proto by scripts/generate-wire-types.mjs. Edit the .proto, then run "npm run generate".

export type Verb =
  | "VERB_UNSPECIFIED"
  | "HELLO"
  | "GET_STATE"
  | "GET_FRAMES"
  | "EXECUTE"
  | "ADVANCE"
  | "RENEW"
  | "BYE"
  | "RESUME";

export interface DeviceRequest {
  /** 1 */
  protocol_major: number;
  /** 0; a server accepts any minor and answers with its own */
  protocol_minor: number;
  /** from the Hello reply; empty in Hello */
  session: string;
  /** unique per request, 1 to 64 characters; a retry repeats it and every other byte */
  request_id: string;
  /** 0 for Hello, then 1, 2, … */
  sequence: number;
  /** 1 to 600000 */
  deadline_ms: number;
  hello?: Hello;
  get_state?: GetState;
  get_frames?: GetFrames;
  execute?: Execute;
  advance?: Advance;
  renew?: Renew;
  bye?: Bye;
  resume?: Resume;
  /** Names the one of hello, get_state, get_frames, execute, advance, renew, bye, resume that is set. */
  body?: "hello" | "get_state" | "get_frames" | "execute" | "advance" | "renew" | "bye" | "resume";
}

export interface DeviceReply {
  protocol_major: number;
  protocol_minor: number;
  /** of the request; empty where it could not be read */
  request_id: string;
  /** device time when the reply was made */
  time_s: number;
  /** current epoch; rises by one with each latched stop */
  stop_epoch: number;
  /** set: nothing was done */
  error: DeviceError | null;
  /** how many raw parts follow this one */
  raw_parts: number;
  hello?: HelloReply;
  state?: StateReply;
  frames?: FramesReply;
  execute?: ExecuteReply;
  advance?: AdvanceReply;
  renew?: RenewReply;
  bye?: ByeReply;
  resume?: ResumeReply;
  /** Names the one of hello, state, frames, execute, advance, renew, bye, resume that is set. */
  body?: "hello" | "state" | "frames" | "execute" | "advance" | "renew" | "bye" | "resume";
}

export interface DeviceError {
  code: DeviceErrorCode;
  /** names the value, the limit and what to do */
  message: string;
}

export type DeviceErrorCode =
  | "ERROR_UNSPECIFIED"
  /** bytes that are not a Request, or a body is missing */
  | "ERROR_MALFORMED"
  /** a part above the limit */
  | "ERROR_TOO_LARGE"
  /** another major version */
  | "ERROR_PROTOCOL_VERSION"
  /** no such session in this process */
  | "ERROR_UNKNOWN_SESSION"
  /** the request id was used with other bytes */
  | "ERROR_DUPLICATE_ID"
  /** the id is known, its reply is no longer kept */
  | "ERROR_EXPIRED_ID"
  /** sequence is not the next one */
  | "ERROR_SEQUENCE"
  /** not begun before the deadline */
  | "ERROR_DEADLINE"
  /** the session's role may not do this */
  | "ERROR_ROLE"
  /** another session is the controller (to Hello, and to a controller that lapsed) */
  | "ERROR_CONTROLLER_TAKEN"
  /** a value out of range, NaN, or an unknown name */
  | "ERROR_BAD_ARGUMENT"
  /** Execute carries an older stop epoch, or a stop is latched */
  | "ERROR_STOP_EPOCH"
  /** the arm or gripper is moving already */
  | "ERROR_BUSY"
  /** Advance on a wall clock */
  | "ERROR_CLOCK"
  /** a fault is latched (protective stop…): Resume needs a person */
  | "ERROR_FAULT"
  /** Resume without a valid token */
  | "ERROR_RESUME_TOKEN"
  /** no world is loaded yet (a simulator before its first reset) */
  | "ERROR_NOT_READY"
  /** the backend does not have this feature */
  | "ERROR_UNSUPPORTED"
  /** the camera gave no frame, or none that is late enough before the deadline */
  | "ERROR_CAMERA"
  /** a defect of the backend */
  | "ERROR_INTERNAL"
  /** a trajectory does not start where the arm is */
  | "ERROR_NOT_START"
  /** a replay: the recording does not hold this request at this point */
  | "ERROR_DIVERGED";

export type Role =
  | "ROLE_UNSPECIFIED"
  /** one at a time: may Execute, Advance, Resume; holds the lease */
  | "CONTROLLER"
  /** GetState, GetFrames */
  | "OBSERVER"
  /** GetState; may send StopRequest (as may anybody who reaches the stop socket) */
  | "STOPPER";

export interface Hello {
  role: Role;
  /** name and version, for the log */
  client: string;
  /** controller only: 100 to 60000 */
  lease_ms: number;
}

export type Clock =
  | "CLOCK_UNSPECIFIED"
  /** time moves only by Advance (and nothing else) */
  | "SIM"
  /** time moves by itself */
  | "WALL";

export interface HelloReply {
  session: string;
  capabilities: Capabilities | null;
  /** as granted */
  lease_ms: number;
}

export interface Capabilities {
  /** for example "sim", "native", "replay" */
  backend: string;
  /** "robot" */
  embodiment: string;
  /** the backend's own */
  version: string;
  clock: Clock;
  arms: Arm[];
  grippers: Gripper[];
  cameras: Camera[];
  views: View[];
  /** of: "joint_trajectory", "tcp_path", "gripper", "contact_guard", "measured_gripper", "press", "step_limit" */
  features: string[];
  /** 0: none; else GetState counts steps_left down */
  step_limit: number;
  /** period at which guards and stops are decided */
  control_period_s: number;
  workspace: Workspace | null;
}

/** Where the work surface is; facts that a calibrated bench knows. */
export interface Workspace {
  /** height of the table top in world */
  table_z_m: number;
  /** box that the TCP may be commanded in */
  min_xyz_m: number[];
  max_xyz_m: number[];
}

/** Kinematic model of one arm. Joint i rotates about z of frame i-1 (standard Denavit-Hartenberg). */
export interface Arm {
  name: string;
  /** "UR5e" */
  model: string;
  /** one per joint */
  dh: DhRow[];
  X_world_base: number[];
  /** TCP: between the fingertips, +z approach, +y closing direction */
  X_flange_tcp: number[];
  limits: JointLimit[];
  /** collision model, in DH frames (link 0 is the base) */
  capsules: Capsule[];
  /** where goto_home goes */
  home_q_rad: number[];
  /** "nominal" or "calibrated" */
  kinematics_source: string;
  /** guard of a motion that names none */
  contact_force_default_n: number;
  contact_torque_default_nm: number;
}

export interface DhRow {
  a_m: number;
  d_m: number;
  alpha_rad: number;
  theta_offset_rad: number;
}

export interface JointLimit {
  position_min_rad: number;
  position_max_rad: number;
  velocity_rad_s: number;
  acceleration_rad_s2: number;
  jerk_rad_s3: number;
  torque_nm: number;
}

export interface Capsule {
  /** 0 base … n: after joint n (n is the flange); the gripper's body rides on link n */
  link: number;
  /** ends of the axis, in that link's DH frame */
  p0_m: number[];
  p1_m: number[];
  radius_m: number;
  name: string;
}

export interface Gripper {
  arm: string;
  /** "width", "binary" or "none" */
  control: string;
  /** opening_m is a measurement */
  measured: boolean;
  /** usable */
  max_opening_m: number;
  stroke_m: number;
  max_force_n: number;
  max_speed_m_s: number;
  /** Fingers as boxes at full closure, in the TCP frame: length back along -z, width along x, thickness along y. */
  finger_length_m: number;
  finger_width_m: number;
  finger_thickness_m: number;
}

export interface Camera {
  /** "topdown_left" */
  name: string;
  /** "world", or "tcp:<arm>" for one that rides on the arm */
  parent: string;
  width: number;
  height: number;
  fx_px: number;
  fy_px: number;
  cx_px: number;
  cy_px: number;
  X_parent_camera: number[];
  /** "rgb8", or "depth_f32" (metres, NaN unknown) */
  format: string;
}

/** A public view: what an operation of the contract shows. */
export interface View {
  /** "topdown", "scene", "wrist" */
  role: string;
  /** that carries the camera: of the wrist view, and of a view with look_q_rad */
  arm: string;
  /** camera names */
  left: string;
  /** of a stereo pair; empty for an RGB-D view */
  right: string;
  /** camera whose depth is registered to left; empty for a stereo pair */
  depth: string;
  baseline_m: number;
  /**
   * Set where a camera that rides on the arm shows this view from one pose only: the joints of `arm` there. With the arm
   * elsewhere the runtime gives no such view (view_unavailable). It should be the arm's home, so that goto_home brings it back.
   */
  look_q_rad: number[];
}

export type GetState = Record<never, never>;

export type ArmMode =
  | "ARM_MODE_UNSPECIFIED"
  | "IDLE"
  | "MOVING"
  /** a stop is latched */
  | "STOPPED"
  /** contact above the arm's limits; a person must look */
  | "PROTECTIVE_STOP"
  | "FAULT"
  | "DISCONNECTED";

export interface ArmState {
  name: string;
  q_rad: number[];
  qd_rad_s: number[];
  X_world_tcp: number[];
  /** fx fy fz [N], tx ty tz [Nm] that the world exerts on the TCP, in world axes, gravity compensated */
  tcp_wrench: number[];
  mode: ArmMode;
  /** when this was measured */
  time_s: number;
}

export interface GripperState {
  arm: string;
  opening_m: number;
  target_opening_m: number;
  /** closing force, estimated or measured */
  force_n: number;
  moving: boolean;
  /** it stopped before its target, against something */
  stalled: boolean;
  time_s: number;
}

export interface StateReply {
  arms: ArmState[];
  grippers: GripperState[];
  stop_latched: boolean;
  /** of the latched stop */
  stop_reason: string;
  /** where the backend has a step limit */
  steps_left: number;
  /** the active groups and the last 16 ended ones, active ones last */
  groups: GroupStatus[];
}

export interface GetFrames {
  /** 1 to 16, each once */
  cameras: string[];
  /**
   * An exposure before this device time is never returned. On a wall clock a request that is early waits; on a simulated
   * one, which only Advance moves, it gets ERROR_CAMERA.
   */
  not_before_s: number;
}

export interface Frame {
  camera: string;
  width: number;
  height: number;
  /** "rgb8" or "depth_f32" */
  format: string;
  /** index of its raw part */
  part: number;
  /** device time */
  exposure_time_s: number;
  fx_px: number;
  fy_px: number;
  cx_px: number;
  cy_px: number;
  parent: string;
  X_parent_camera: number[];
  /** with the arm where it was at exposure */
  X_world_camera: number[];
  arms_at_exposure: ArmState[];
}

export interface FramesReply {
  /**
   * In the order asked for. The cameras of one view are exposed at the same device time; on a simulated clock all of one
   * call are.
   */
  frames: Frame[];
}

/** Contact guard of one motion, decided by the backend each control period, relative to the wrench at its start. */
export interface Guard {
  /** 0: the arm's default */
  force_n: number;
  /** 0: the arm's default */
  torque_nm: number;
  /** empty: any direction; else only force that the world exerts against this direction */
  direction_world: number[];
  /** true: contact ends with END_CONTACT; false: END_UNEXPECTED_CONTACT */
  contact_expected: boolean;
}

/**
 * Joint positions at 2 to 100000 rising times, first at 0, last at most 600; the backend interpolates linearly at its own rate, so points must be
 * dense (at most 20 ms apart where the path curves). The first point must be the arm's commanded position within 0.02 rad.
 */
export interface JointTrajectory {
  arm: string;
  time_s: number[];
  /** 6 numbers a point */
  q_rad: number[];
  guard: Guard | null;
}

/** For backends with a Cartesian controller of their own (feature "tcp_path"). */
export interface TcpPath {
  arm: string;
  time_s: number[];
  /** 16 numbers a point */
  X_world_tcp: number[];
  guard: Guard | null;
}

export interface GripperMove {
  arm: string;
  opening_m: number;
  /** 0: the gripper's default */
  force_n: number;
  /** 0: the gripper's default */
  speed_m_s: number;
}

export interface Motion {
  joint_trajectory?: JointTrajectory;
  tcp_path?: TcpPath;
  gripper_move?: GripperMove;
  /** Names the one of joint_trajectory, tcp_path, gripper_move that is set. */
  kind?: "joint_trajectory" | "tcp_path" | "gripper_move";
}

/**
 * One group of motions that start together; the first contact, stall of an arm, or stop ends them all. A gripper that
 * stalls against something ends only its own motion.
 */
export interface Execute {
  /** the epoch in which the plan was made */
  stop_epoch: number;
  /** 1 to 4, at most one per arm and gripper */
  motions: Motion[];
}

export interface ExecuteReply {
  /** accepted; names it in events and states */
  group: number;
  start_time_s: number;
  expected_end_time_s: number;
}

export type EndReason =
  | "END_UNSPECIFIED"
  /** trajectory played; gripper at its target */
  | "END_COMPLETED"
  /** asked-for contact */
  | "END_CONTACT"
  | "END_UNEXPECTED_CONTACT"
  /** gripper: stopped by something between the fingers */
  | "END_STALLED"
  /** a stop was latched */
  | "END_STOPPED"
  | "END_PROTECTIVE_STOP"
  | "END_FAULT"
  /** another motion of the group ended it */
  | "END_GROUP"
  /** did not reach its target in the time it should have */
  | "END_TIMEOUT";

export interface MotionStatus {
  /** in Execute.motions */
  index: number;
  /** unspecified while active */
  end_reason: EndReason;
  end_time_s: number;
  /** of its duration, 0 to 1 */
  fraction_done: number;
  /** x y z in world, relative to the start, where contact ended it */
  contact_force_n: number[];
  /** index of the last trajectory point passed */
  reached_point: number;
  /** mean relative force over the motion */
  mean_force_n: number;
}

export interface GroupStatus {
  group: number;
  active: boolean;
  motions: MotionStatus[];
}

/** Simulated clock only. Runs until the earliest of: the end of any active motion, an event (stop, fault), until_s. */
export interface Advance {
  /** device time; at most 60 s ahead, and not in the past by more than a control period */
  until_s: number;
  /** true: only faults and stops end it early */
  through_motion_ends: boolean;
}

export interface AdvanceReply {
  state: StateReply | null;
  /** that happened during the call, oldest first (also published) */
  events: DeviceEvent[];
}

/** Whatever arrives on the stop socket is a stop, also bytes that cannot be read; each one begins a new epoch. */
export interface StopRequest {
  /** a stop is honoured whatever is written here */
  protocol_major: number;
  /** for the log; a stop from an unknown session is honoured too */
  session: string;
  reason: string;
}

export interface StopReply {
  /** the new epoch; motion of older epochs never starts */
  stop_epoch: number;
  /** device time at which the arm began to decelerate */
  time_s: number;
}

/**
 * Clears a latched stop. After an ordinary stop `token` may be empty; after a fault or protective stop it must be the
 * single-use token that a person gets on the backend's side (a simulator gives it on its privileged plane). A protective
 * stop or fault latches a stop too: it begins a new epoch, and publishes Fault and then Stopped. With nothing latched
 * Resume of the current epoch does nothing and is no error; another epoch is ERROR_STOP_EPOCH.
 */
export interface Resume {
  /** the epoch being cleared; must be the current one */
  stop_epoch: number;
  token: string;
}

export type ResumeReply = Record<never, never>;

export type Renew = Record<never, never>;

export interface RenewReply {
  lease_ms: number;
}

export type Bye = Record<never, never>;

export type ByeReply = Record<never, never>;

export interface DeviceEvent {
  /** rises by one per event of this process */
  number: number;
  time_s: number;
  group_started?: GroupStatus;
  /** at most 10 per second of device time */
  group_progress?: GroupStatus;
  motion_ended?: GroupStatus;
  stopped?: Stopped;
  fault?: Fault;
  resumed?: Resumed;
  /** a simulator was reset or restored: sessions' cached state is void */
  world_changed?: WorldChanged;
  /** the process is about to end */
  ending?: Ending;
  /** Names the one of group_started, group_progress, motion_ended, stopped, fault, resumed, world_changed, ending that is set. */
  kind?: "group_started" | "group_progress" | "motion_ended" | "stopped" | "fault" | "resumed" | "world_changed" | "ending";
}

export interface Stopped {
  stop_epoch: number;
  reason: string;
}

export interface Fault {
  /** "protective_stop", "lease_lapsed", … */
  code: string;
  /** with what an operator does next */
  message: string;
  arm: string;
}

export interface Resumed {
  stop_epoch: number;
}

export interface WorldChanged {
  world_epoch: number;
}

export interface Ending {
  reason: string;
}
