/**
 * Settings that the runtime takes; `src/config` fills them from a file, the environment and flags.
 */
export type ZoneSettings = { name: string; min_xyz: readonly number[]; max_xyz: readonly number[] };

export type MotionSettings = {
  /** TCP speed of straight motions [m/s], and its acceleration and jerk. */
  speed_m_s: number;
  acceleration_m_s2: number;
  jerk_m_s3: number;
  rotation_speed_rad_s: number;
  rotation_acceleration_rad_s2: number;
  /** Fractions of the arm's own joint limits. */
  joint_velocity_scale: number;
  joint_acceleration_scale: number;
  /** Box that the TCP may be commanded in, world [m]; left out: the backend's. Where both say, the smaller counts. */
  workspace_min_xyz?: readonly number[];
  workspace_max_xyz?: readonly number[];
  /** Boxes in world that arm, gripper and load may not enter. */
  zones: readonly ZoneSettings[];
};

export const DEFAULT_MOTION_SETTINGS: MotionSettings = {
  speed_m_s: 0.5,
  acceleration_m_s2: 1.5,
  jerk_m_s3: 15,
  rotation_speed_rad_s: 1.6,
  rotation_acceleration_rad_s2: 6,
  joint_velocity_scale: 0.6,
  joint_acceleration_scale: 0.6,
  zones: [],
};

export type PerceptionSettings = {
  /** Depth range that stereo searches [m]. */
  near_m: number;
  far_m: number;
  /** Nearest depth that stereo searches in the wrist's view [m]. */
  wrist_near_m: number;
  /** Worker threads of one stereo match. */
  threads: number;
};

export const DEFAULT_PERCEPTION_SETTINGS: PerceptionSettings = {
  near_m: 0.45,
  far_m: 2,
  wrist_near_m: 0.12,
  threads: 2,
};
