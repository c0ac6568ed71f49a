import { z } from "zod";
import { Skill2RealError } from "../../contract/errors.js";
import { suggest } from "../../contract/suggest.js";

/** An object that refuses unknown keys and names the known key that was probably meant. */
function record<S extends z.ZodRawShape>(shape: S) {
  const known = Object.keys(shape);
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `unknown key "${issue.keys.join('", "')}".${suggest(issue.keys[0] ?? "", known)}`
        : undefined,
  });
}

const finite = z.number();
const positive = finite.positive();
const notNegative = finite.nonnegative();
const fraction = positive.max(1);

/** Largest departure of a rotation from orthonormal that rounding of its numbers explains. */
const ROTATION_TOLERANCE = 1e-3;

function isRigid(X: readonly number[]): boolean {
  if (X[12] !== 0 || X[13] !== 0 || X[14] !== 0 || X[15] !== 1) return false;
  const at = (row: number, column: number): number => X[row * 4 + column] ?? Number.NaN;
  for (let i = 0; i < 3; i++) {
    for (let j = i; j < 3; j++) {
      const dot = at(i, 0) * at(j, 0) + at(i, 1) * at(j, 1) + at(i, 2) * at(j, 2);
      if (!(Math.abs(dot - (i === j ? 1 : 0)) <= ROTATION_TOLERANCE)) return false;
    }
  }
  const determinant =
    at(0, 0) * (at(1, 1) * at(2, 2) - at(1, 2) * at(2, 1)) -
    at(0, 1) * (at(1, 0) * at(2, 2) - at(1, 2) * at(2, 0)) +
    at(0, 2) * (at(1, 0) * at(2, 1) - at(1, 1) * at(2, 0));
  return determinant > 0;
}

export const transform = z
  .array(finite)
  .length(16)
  .refine(isRigid, "not a rigid transform: rows 0-2 must hold a rotation, row 3 must be 0 0 0 1 (row-major)");
export const joints = z.array(finite).length(6);
const vec3 = z.tuple([finite, finite, finite]);
const size = z.tuple([positive, positive, positive]);
const cloud = z
  .instanceof(Float32Array)
  .refine((points) => points.length % 3 === 0, "a cloud has 3 numbers a point")
  .nullish();

const capsule = { p0_m: vec3, p1_m: vec3, radius_m: positive };
const orientedBox = { X_world_box: transform, size_m: size };
const link = z.number().int().min(0).max(6);

const gripper = record({
  capsules: z.array(record(capsule)).readonly(),
  max_opening_m: positive,
  min_opening_m: notNegative.optional(),
  finger: record({
    length_m: positive,
    width_m: positive,
    thickness_m: positive,
    tip_beyond_tcp_m: finite.optional(),
    grip_depth_m: notNegative.optional(),
  }),
}).refine((g) => (g.min_opening_m ?? 0) < g.max_opening_m, "min_opening_m must be less than max_opening_m");

export const armModel = record({
  name: z.string().min(1),
  dh: z
    .array(record({ a_m: finite, d_m: finite, alpha_rad: finite, theta_offset_rad: finite.optional() }))
    .length(6)
    .readonly(),
  X_world_base: transform,
  X_flange_tcp: transform,
  position_min_rad: joints,
  position_max_rad: joints,
  velocity_max_rad_s: z.array(positive).length(6),
  acceleration_max_rad_s2: z.array(positive).length(6),
  jerk_max_rad_s3: z.array(positive).length(6),
  capsules: z.array(record({ ...capsule, link })).readonly(),
  gripper,
  fixed_links: link.optional(),
  self_collision_ignore: z
    .array(z.tuple([link, link]))
    .readonly()
    .optional(),
}).refine(
  (arm) => arm.position_min_rad.every((low, i) => low < (arm.position_max_rad[i] ?? Number.NEGATIVE_INFINITY)),
  "position_min_rad must be less than position_max_rad at every joint",
);

export const inverseOptions = record({ within_limits: z.boolean().optional(), full_turns: z.boolean().optional() });

const scene = record({
  table_z_m: finite.nullish(),
  zones: z
    .array(record({ ...orientedBox, name: z.string() }))
    .readonly()
    .optional(),
  obstacles: z
    .array(record({ ...capsule, name: z.string() }))
    .readonly()
    .optional(),
  cloud_world_m: cloud,
  exclude_points_world_m: cloud,
  exclude_radius_m: positive.optional(),
  exclude_boxes: z.array(record(orientedBox)).readonly().optional(),
  table_tolerance_m: notNegative.optional(),
  min_neighbours: z.number().int().nonnegative().optional(),
  arm_clearance_m: notNegative.optional(),
  tool_clearance_m: notNegative.optional(),
});

const held = record({ X_tcp_object: transform, size_m: size, round: z.boolean().optional() });
const tool = record({ opening_m: notNegative.optional(), held: held.nullish() });

export const collisionOptions = record({ q_rad: joints, scene, tool: tool.optional() });

const planCommon = {
  q_start_rad: joints,
  scene: scene.nullish(),
  tool: tool.optional(),
  dt_s: positive.min(0.0005).max(0.1).optional(),
  min_duration_s: notNegative.max(600).optional(),
  velocity_scale: fraction.optional(),
  acceleration_scale: fraction.optional(),
  jerk_scale: fraction.optional(),
};
const cartesianLimits = {
  speed_m_s: positive.max(5).optional(),
  acceleration_m_s2: positive.optional(),
  jerk_m_s3: positive.optional(),
  rotation_speed_rad_s: positive.max(20).optional(),
  rotation_acceleration_rad_s2: positive.optional(),
  rotation_jerk_rad_s3: positive.optional(),
};

export const planJointOptions = record({
  ...planCommon,
  q_goal_rad: joints.optional(),
  X_world_goal: transform.optional(),
  detour: z.boolean().optional(),
}).refine(
  (o) => (o.q_goal_rad === undefined) !== (o.X_world_goal === undefined),
  "give either q_goal_rad or X_world_goal",
);
export const planLinearOptions = record({ ...planCommon, ...cartesianLimits, X_world_goal: transform });

/** Poses of one path; more is a mistake of the caller. */
const MAX_PATH_POSES = 10_000;
export const planPathOptions = record({
  ...planCommon,
  ...cartesianLimits,
  poses_world: z.array(transform).min(1).max(MAX_PATH_POSES).readonly(),
  blend_m: notNegative.max(1).optional(),
});

const uprightBox = record({ center_world_m: vec3, size_m: size, yaw_rad: finite, round: z.boolean().optional() });

export const compileGraspOptions = record({
  grasp_center_world_m: vec3,
  closing_axis_world: vec3,
  approach_axis_world: vec3.optional(),
  target: record({ upright_box: uprightBox.nullish(), points_world_m: cloud }).nullish(),
  scene,
  q_seed_rad: joints,
  opening_margin_m: notNegative.optional(),
  max_opening_m: positive.optional(),
  fingertip_clearance_m: notNegative.optional(),
  approach_distance_m: positive.max(0.5).optional(),
  lift_height_m: positive.max(0.5).optional(),
});

export const compilePlaceOptions = record({
  held,
  target_point_world_m: vec3,
  object_axis_world: vec3.optional(),
  anchor_on_object_m: vec3.optional(),
  scene,
  support_cloud_world_m: cloud,
  q_seed_rad: joints,
  held_opening_m: notNegative.optional(),
  release_opening_m: notNegative.optional(),
  release_height_m: notNegative.optional(),
  carry_height_m: positive.max(0.5).optional(),
});

/** The checked value; throws `bad_argument` that names the path, the rule broken and, for a misspelled key, the likely one. */
export function parse<S extends z.ZodType>(schema: S, value: unknown, what: string): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const words = result.error.issues.map((issue) => {
    const path = issue.path.map(String).join(".");
    return path ? `${path}: ${issue.message}` : issue.message;
  });
  throw new Skill2RealError("bad_argument", `${what}: ${words.slice(0, 5).join("; ")}`);
}
