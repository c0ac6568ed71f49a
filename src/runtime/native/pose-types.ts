/**
 * Plain data that goes into and comes out of the `pose` addon.
 *
 * Frames: `X_a_b` is the pose of frame b in frame a, 16 numbers row-major (`[r00 r01 r02 tx r10 …]`, last row 0 0 0 1).
 * `world` is gravity-aligned, z up. `tcp` has its origin between the fingertips, +z along the approach, +y along the
 * closing direction (one finger at +y, the other at -y). Metres, radians, seconds throughout.
 */

/** 16 numbers, row-major homogeneous transform. */
export type Transform = readonly number[];
export type Vec3 = readonly [number, number, number];
/** Six joint positions (or rates), base to wrist. */
export type Joints = readonly number[];

/** One row of standard (distal) Denavit-Hartenberg parameters: Rz(q + theta_offset) Tz(d) Tx(a) Rx(alpha). */
export type DhRow = { a_m: number; d_m: number; alpha_rad: number; theta_offset_rad?: number };

/** A swept sphere, in the frame that its owner documents. `p0_m` may equal `p1_m` (a ball). */
export type Capsule = { p0_m: Vec3; p1_m: Vec3; radius_m: number };

/** A capsule fixed in the DH frame of `link`, 0 to 6: 0 is the base, i the frame after joint i, 6 the flange (and with it the gripper's body). */
export type LinkCapsule = Capsule & { link: number };

/** A parallel two-finger gripper. Everything is in the TCP frame, so the body lies at negative z. */
export type GripperModel = {
  /** Palm, camera bracket and whatever else is rigid with the flange, where they are not among the arm's capsules of link 6. */
  capsules: readonly Capsule[];
  max_opening_m: number;
  min_opening_m?: number;
  /**
   * Each finger is a box: `width_m` along x, `thickness_m` along y outwards from its inner face at y = +-opening/2, and
   * from z = `tip_beyond_tcp_m` (how far the finger's end lies beyond the TCP origin, default 0) back over `length_m`. The middle of
   * the pads, where a grasp centre belongs, is `grip_depth_m` behind the ends (default 0.012, at most half the length).
   */
  finger: { length_m: number; width_m: number; thickness_m: number; tip_beyond_tcp_m?: number; grip_depth_m?: number };
};

/** A six-joint arm as a backend describes it: geometry, limits and what it is made of for collision checks. */
export type ArmModel = {
  name: string;
  dh: readonly DhRow[];
  X_world_base: Transform;
  X_flange_tcp: Transform;
  position_min_rad: Joints;
  position_max_rad: Joints;
  velocity_max_rad_s: Joints;
  acceleration_max_rad_s2: Joints;
  jerk_max_rad_s3: Joints;
  capsules: readonly LinkCapsule[];
  gripper: GripperModel;
  /** Links below or at this one are bolted near the table and are not checked against it, the zones or the cloud. Default 1. */
  fixed_links?: number;
  /**
   * Pairs of links that are never checked against each other, beside neighbours and capsules that touch in every configuration, which never are.
   * The gripper's body and fingers count as link 6. Default [[3, 5], [4, 6]].
   */
  self_collision_ignore?: readonly (readonly [number, number])[];
};

/** An oriented box: `X_world_box` is the pose of its centre, `size_m` its full edge lengths. */
export type OrientedBox = { X_world_box: Transform; size_m: Vec3 };

/** What the arm must not touch. An absent part is not checked. */
export type Scene = {
  /** Height of the table's surface; everything below it is solid. */
  table_z_m?: number | null;
  /** Forbidden boxes; `name` comes back in the hit. */
  zones?: readonly (OrientedBox & { name: string })[];
  /** Capsules in world, for example those of another arm. */
  obstacles?: readonly (Capsule & { name: string })[];
  /** Observed surface points, N x 3, world. Points that are not finite are dropped, and so are those at the table's surface. */
  cloud_world_m?: Float32Array | null;
  /** Points of the cloud that belong to something that may be touched: those within `exclude_radius_m` (default 0.006) of one of these are dropped. */
  exclude_points_world_m?: Float32Array | null;
  exclude_radius_m?: number;
  /** Boxes whose points are dropped from the cloud. */
  exclude_boxes?: readonly OrientedBox[];
  /** Points up to this height above `table_z_m` are the table's own surface, not obstacles. Default 0.008. */
  table_tolerance_m?: number;
  /** A point with fewer others within about a centimetre is a stray measurement and dropped; 0 keeps all. Default 2. */
  min_neighbours?: number;
  /** Distance that the arm's links must keep from everything. Default 0.010. */
  arm_clearance_m?: number;
  /** Distance that gripper, fingers and held object must keep from everything, and links from each other. Default 0.002. */
  tool_clearance_m?: number;
};

/** The gripper's state during a motion or check. */
export type ToolState = {
  /** Distance between the fingers' inner faces. Default: the gripper's maximum. */
  opening_m?: number;
  /** What the gripper carries. */
  held?: HeldObject | null;
};

/** Geometry of a carried object: a box rigid with the TCP. */
export type HeldObject = {
  /** Pose of the box's centre in the TCP frame; the box's own +z was up when the object stood on its support. */
  X_tcp_object: Transform;
  /** Full edge lengths along the box's own axes. */
  size_m: Vec3;
  /** True for cylinders and balls, whose yaw is undefined: the footprint is then the inscribed ellipse. Default false. */
  round?: boolean;
};

/**
 * Two bodies nearer to each other than the clearance asked for. `what` is "link 3" (0 to 5), "gripper" (capsules of link 6
 * and of the gripper), "finger +y", "finger -y" or "held object"; `against` is "table", "cloud", "zone NAME", "obstacle NAME" or another `what`.
 */
export type Hit = {
  what: string;
  against: string;
  /** Signed distance of the surfaces; negative is how deep they overlap. */
  distance_m: number;
  /** The point of the cloud that is hit; null for other bodies. */
  point_world_m: Vec3 | null;
};

export type CollisionOptions = { q_rad: Joints; scene: Scene; tool?: ToolState };
export type CollisionResult = {
  /** The worst violation of a clearance, null when free. */
  hit: Hit | null;
  /** The smallest distance found, saturated at 0.05 (farther bodies are not measured); self-collision included. */
  clearance_m: number;
};

/**
 * Why there is no trajectory:
 * `unreachable` the goal pose is outside the arm's reach; `joint_limit` the goal or a point on the way needs a joint beyond its limits;
 * `not_linear` the goal can be reached, but not along this straight line or path in one branch of the inverse kinematics (a singularity lies on it);
 * `collision` something is in the way (`hit` says what).
 */
export type PlanCode = "unreachable" | "joint_limit" | "not_linear" | "collision";

export type PlanFailure = {
  status: PlanCode;
  /** Names the value, the limit and what to try next. */
  reason: string;
  hit: Hit | null;
  /** For paths: index of the pose that cannot be reached, or toward which it fails. */
  pose_index: number | null;
};

/** A timed joint trajectory, at rest at both ends, with N samples every `dt_s`: sample i is at `i * dt_s`, the last is exactly the goal. */
export type Trajectory = {
  status: "ok";
  dt_s: number;
  count: number;
  /** `(count - 1) * dt_s`. */
  duration_s: number;
  /** N x 6, row-major. */
  positions_rad: Float64Array;
  /** N x 6, row-major, consistent with the positions. */
  velocities_rad_s: Float64Array;
  /** Time at which each pose of the path is passed (nearest point where corners are blended); one entry for joint and linear motions. */
  pose_times_s: number[];
  /** "direct", or "detour" when the straight joint motion was blocked and the arm goes over the obstacle. */
  route: "direct" | "detour";
  /** The smallest distance to the scene along the way, saturated at 0.05; null when no scene was given. */
  clearance_m: number | null;
};

export type PlanResult = Trajectory | PlanFailure;

export type PlanCommon = {
  q_start_rad: Joints;
  /** Checked along the whole path at no more than 5 mm or 1 degree between checks; absent: no collision check, self-collision neither. */
  scene?: Scene | null;
  tool?: ToolState;
  /** Sample period, default 0.002. */
  dt_s?: number;
  /** The result lasts at least this long (stretched evenly), so that several arms can move as one group. */
  min_duration_s?: number;
  /** Fractions (0, 1] of the model's joint limits. Defaults 1. */
  velocity_scale?: number;
  acceleration_scale?: number;
  jerk_scale?: number;
};

export type CartesianLimits = {
  /** Speed of the TCP along the path, default 0.25. */
  speed_m_s?: number;
  /** Default 1.2. */
  acceleration_m_s2?: number;
  /** Default 12. */
  jerk_m_s3?: number;
  /** Rotation speed of the TCP, default 1.0. */
  rotation_speed_rad_s?: number;
  /** Default 4. */
  rotation_acceleration_rad_s2?: number;
  /** Default 40. */
  rotation_jerk_rad_s3?: number;
};

/** A straight line in joint space; with a pose as goal, every solution is tried from the nearest on. */
export type PlanJointOptions = PlanCommon &
  ({ q_goal_rad: Joints; X_world_goal?: undefined } | { q_goal_rad?: undefined; X_world_goal: Transform }) & {
    /** When the straight joint motion is blocked: retreat upwards, move, descend. Default true. */
    detour?: boolean;
  };

/** A straight line of the TCP with evenly interpolated rotation (the shorter way), in one branch of the inverse kinematics. */
export type PlanLinearOptions = PlanCommon & CartesianLimits & { X_world_goal: Transform };

/** Straight lines through the poses, in order. */
export type PlanPathOptions = PlanCommon &
  CartesianLimits & {
    poses_world: readonly Transform[];
    /**
     * Corners are rounded from this distance before to this distance after the pose (path length, a radian counts as 0.1 m; never more than
     * 45 % of a leg), leaving the pose by at most 0.375 times it; 0 stops at every pose. Turns of more than 120 degrees always stop, and
     * paths of up to 20 poses stop at every pose where that is quicker than slowing down for the bends. Default 0.005.
     */
    blend_m?: number;
  };

export type CompileChecks = {
  reach: boolean;
  joint_limits: boolean;
  collision: boolean;
  /** The smallest distance between the gripper (with what it holds) and the scene over the compiled poses and the lines between them; saturated at 0.05. */
  clearance_m: number;
};

/** A compiled pose with the joints that reach it; all poses of one result lie in one branch, in order, on straight lines. */
export type CompiledPose = { X_world_tcp: Transform; q_rad: number[] };

/**
 * Why nothing was compiled: `unreachable` and `joint_limit` as for plans; `not_linear` the straight lines between the poses cannot be followed in one branch;
 * `collision` gripper, arm or object would touch something (`hit`); `object_too_wide` the object does not fit between the fingers;
 * `object_too_low` the fingers cannot hold enough of it without touching its support; `no_support` nothing flat enough carries the object there;
 * `bad_axis` closing and approach axis are parallel, or an axis is null.
 */
export type CompileCode =
  | "unreachable"
  | "joint_limit"
  | "not_linear"
  | "collision"
  | "object_too_wide"
  | "object_too_low"
  | "no_support"
  | "bad_axis";

export type CompileFailure = { status: CompileCode; reason: string; hit: Hit | null; checks: CompileChecks };

/** A box that stands upright: `yaw_rad` turns its x axis about world z. */
export type UprightBox = {
  center_world_m: Vec3;
  size_m: Vec3;
  yaw_rad: number;
  /** True where the outline is a circle (or ellipse) inscribed in the box. Default false. */
  round?: boolean;
};

export type CompileGraspOptions = {
  grasp_center_world_m: Vec3;
  /** Direction along which the fingers close; its sign does not matter. Only its part normal to the approach counts. */
  closing_axis_world: Vec3;
  /** Default straight down. */
  approach_axis_world?: Vec3;
  /** What is grasped, as far as it was measured: opening and depth follow from it, and its points are taken out of the cloud. */
  target?: { upright_box?: UprightBox | null; points_world_m?: Float32Array | null } | null;
  scene: Scene;
  q_seed_rad: Joints;
  /** Free space at each finger when open over the object; less, down to 0.004, where neighbours leave no more room. Default 0.012. */
  opening_margin_m?: number;
  /** Default: the gripper's maximum. */
  max_opening_m?: number;
  /** Distance of the fingertips from the support at contact. Default 0.004. */
  fingertip_clearance_m?: number;
  /** Distance of the approach pose before contact. Default 0.10; shortened to no less than 0.06 where only that fits. */
  approach_distance_m?: number;
  /** Height of the lift pose over contact. Default 0.12; shortened to no less than 0.06 where only that fits. */
  lift_height_m?: number;
};

export type CompileGraspResult =
  | {
      status: "ok";
      approach: CompiledPose;
      contact: CompiledPose;
      /** Above contact along world z. */
      lift: CompiledPose;
      /** Opening for the approach. */
      opening_m: number;
      /** Width of the object between the fingers as measured; null when no target was given. */
      object_width_m: number | null;
      /**
       * How far the TCP was drawn back along the approach from the grasp centre: negative puts the pads' middle on the centre; less of that, or more than
       * zero, keeps fingertips off the support and the palm off the object.
       */
      raised_m: number;
      checks: CompileChecks;
    }
  | CompileFailure;

export type CompilePlaceOptions = {
  held: HeldObject;
  /** Where the object's anchor goes (x and y); z tells roughly which surface is meant, the compiler measures its height. */
  target_point_world_m: Vec3;
  /** World direction for the object's own x axis (either sense); only its horizontal part counts. Absent: the yaw is free. */
  object_axis_world?: Vec3;
  /** The point of the object, in its box frame, that goes over the target. Default its centre. */
  anchor_on_object_m?: Vec3;
  scene: Scene;
  /** Points for measuring the support, N x 3, world, with floors and table in it, where the scene's cloud was thinned of them. Default the scene's cloud. */
  support_cloud_world_m?: Float32Array | null;
  q_seed_rad: Joints;
  /** Opening of the gripper while it holds. Default: the object's extent along the closing direction. */
  held_opening_m?: number;
  /** Opening on release. Default: the gripper's maximum. Where walls leave no room for it less is taken, at least 0.010 more than while it holds. */
  release_opening_m?: number;
  /** Height of the object's underside over the support at release. Default 0.004. */
  release_height_m?: number;
  /** Height of the carry pose over release, and of the retreat pose. Default 0.12; shortened to no less than 0.06 where only that fits. */
  carry_height_m?: number;
};

export type CompilePlaceResult =
  | {
      status: "ok";
      /** Above the release pose, object held. */
      carry: CompiledPose;
      release: CompiledPose;
      /** Drawn back with the gripper open. */
      retreat: CompiledPose;
      opening_m: number;
      support_z_m: number;
      /**
       * Share of the footprint in which the support was seen; the rest is assumed level with it. 1 where the support is the table, or where nothing was
       * seen and the target lies within 20 mm of the table, so that its own height was taken.
       */
      support_seen: number;
      /** Yaw of the object's x axis in world. */
      object_yaw_rad: number;
      /**
       * The support's surface under the object's foot. Its points are to be excluded (`Scene.exclude_boxes`) from the check of the
       * motion to `release`: with the noise of the depth some of them reach into the object.
       */
      may_touch: OrientedBox;
      checks: CompileChecks;
    }
  | CompileFailure;
