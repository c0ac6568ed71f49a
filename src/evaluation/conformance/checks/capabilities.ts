import type { Capabilities } from "../../../contract/generated/device.js";
import { multiply } from "../../../runtime/transforms.js";
import { type CheckGroup, CheckSkipped, ensure, ensureNear } from "../check.js";
import { rigidityError } from "../transforms.js";

const unique = (names: readonly string[]): boolean => new Set(names).size === names.length;

const KNOWN_FEATURES = [
  "joint_trajectory",
  "tcp_path",
  "gripper",
  "contact_guard",
  "measured_gripper",
  "press",
  "step_limit",
];

const cameraNamed = (capabilities: Capabilities, name: string) =>
  capabilities.cameras.find((camera) => camera.name === name);

/** Inverse of a rigid transform. */
function inverse(x: readonly number[]): number[] {
  const r = (row: number, column: number): number => x[4 * row + column]!;
  const out: number[] = [];
  for (let row = 0; row < 3; row += 1) {
    out.push(r(0, row), r(1, row), r(2, row));
    out.push(-(r(0, row) * r(0, 3) + r(1, row) * r(1, 3) + r(2, row) * r(2, 3)));
  }
  return [...out, 0, 0, 0, 1];
}

export const capabilities: CheckGroup = {
  group: "capabilities",
  checks: [
    {
      name: "capabilities_name_backend_clock_and_period",
      reason:
        "the runtime decides by the clock whether time is its own to move, and by the period how soon a stop acts",
      run: async ({ capabilities: c }) => {
        ensure(c.backend !== "" && c.version !== "" && c.embodiment !== "", "backend, version or embodiment is empty");
        ensure(c.clock === "SIM" || c.clock === "WALL", `the clock is ${c.clock}`);
        ensure(c.control_period_s > 0 && c.control_period_s <= 0.1, `the control period is ${c.control_period_s} s`);
      },
    },
    {
      name: "features_are_known_and_kept",
      reason: "an operation is offered or refused by the features, so they must say what is there",
      run: async ({ capabilities: c }) => {
        ensure(unique(c.features), `features repeat: ${c.features.join(", ")}`);
        for (const feature of c.features)
          ensure(KNOWN_FEATURES.includes(feature), `the feature "${feature}" is unknown`);
        ensure(
          c.features.includes("gripper") === c.grippers.length > 0,
          "the feature gripper and the list of grippers disagree",
        );
        ensure(
          c.features.includes("step_limit") === c.step_limit > 0,
          "the feature step_limit and the step limit disagree",
        );
        const measured = c.grippers.some((gripper) => gripper.measured);
        ensure(
          c.features.includes("measured_gripper") === measured,
          "the feature measured_gripper and the grippers disagree",
        );
      },
    },
    {
      name: "arms_have_a_whole_kinematic_model",
      reason: "the runtime plans with the backend's own geometry; one missing row makes every pose wrong",
      run: async ({ capabilities: c }) => {
        ensure(unique(c.arms.map((arm) => arm.name)), "two arms have one name");
        for (const arm of c.arms) {
          const joints = arm.dh.length;
          ensure(joints >= 1, `${arm.name} has no joints`);
          ensure(arm.limits.length === joints, `${arm.name} has ${joints} joints and ${arm.limits.length} limits`);
          ensure(arm.home_q_rad.length === joints, `${arm.name}'s home has ${arm.home_q_rad.length} numbers`);
          ensure(rigidityError(arm.X_world_base) < 1e-6, `${arm.name}'s X_world_base is not a rigid transform`);
          ensure(rigidityError(arm.X_flange_tcp) < 1e-6, `${arm.name}'s X_flange_tcp is not a rigid transform`);
          ensure(
            ["nominal", "calibrated"].includes(arm.kinematics_source),
            `${arm.name}'s kinematics are "${arm.kinematics_source}"`,
          );
        }
      },
    },
    {
      name: "joint_limits_hold_home",
      reason: "goto_home must be a motion that the arm accepts",
      run: async ({ capabilities: c }) => {
        for (const arm of c.arms)
          for (const [joint, limit] of arm.limits.entries()) {
            const home = arm.home_q_rad[joint]!;
            ensure(
              limit.position_min_rad < limit.position_max_rad,
              `limits of joint ${joint} of ${arm.name} are reversed`,
            );
            ensure(
              home >= limit.position_min_rad && home <= limit.position_max_rad,
              `home of joint ${joint} of ${arm.name} is ${home}`,
            );
            ensure(limit.velocity_rad_s > 0, `joint ${joint} of ${arm.name} has no velocity limit`);
          }
      },
    },
    {
      name: "collision_model_fits_the_arm",
      reason: "a capsule on a link that does not exist protects nothing",
      run: async ({ capabilities: c }) => {
        const capsules = c.arms.flatMap((arm) => arm.capsules.map((capsule) => ({ arm, capsule })));
        if (capsules.length === 0) throw new CheckSkipped("the backend gives no collision model");
        for (const { arm, capsule } of capsules) {
          ensure(
            capsule.link <= arm.dh.length,
            `capsule ${capsule.name} is on link ${capsule.link} of ${arm.dh.length}`,
          );
          ensure(
            capsule.radius_m > 0 && capsule.radius_m < 0.5,
            `capsule ${capsule.name} has radius ${capsule.radius_m} m`,
          );
          ensure(
            capsule.p0_m.length === 3 && capsule.p1_m.length === 3,
            `capsule ${capsule.name} has ends of wrong length`,
          );
        }
      },
    },
    {
      name: "grippers_belong_to_arms",
      reason: "an opening is commanded by its arm's name, in metres of a known range",
      needs: ["gripper"],
      run: async ({ capabilities: c }) => {
        ensure(unique(c.grippers.map((gripper) => gripper.arm)), "two grippers are on one arm");
        for (const gripper of c.grippers) {
          ensure(
            c.arms.some((arm) => arm.name === gripper.arm),
            `the gripper's arm "${gripper.arm}" does not exist`,
          );
          ensure(
            ["width", "binary", "none"].includes(gripper.control),
            `the gripper's control is "${gripper.control}"`,
          );
          ensure(gripper.max_opening_m > 0, `the gripper opens ${gripper.max_opening_m} m`);
          ensure(
            gripper.stroke_m === 0 || gripper.stroke_m >= gripper.max_opening_m,
            "the usable opening exceeds the stroke",
          );
        }
      },
    },
    {
      name: "cameras_are_calibrated",
      reason: "every measurement in metres goes through the intrinsics and the mount",
      needs: ["cameras"],
      run: async ({ capabilities: c }) => {
        ensure(unique(c.cameras.map((camera) => camera.name)), "two cameras have one name");
        for (const camera of c.cameras) {
          ensure(camera.width > 0 && camera.height > 0, `${camera.name} is ${camera.width} x ${camera.height}`);
          ensure(
            camera.fx_px > 0 && camera.fy_px > 0,
            `${camera.name} has focal lengths ${camera.fx_px}, ${camera.fy_px}`,
          );
          ensure(camera.cx_px > 0 && camera.cx_px < camera.width, `${camera.name} has cx ${camera.cx_px}`);
          ensure(camera.cy_px > 0 && camera.cy_px < camera.height, `${camera.name} has cy ${camera.cy_px}`);
          ensure(rigidityError(camera.X_parent_camera) < 1e-6, `${camera.name}'s mount is not a rigid transform`);
          const arm = camera.parent.startsWith("tcp:") ? camera.parent.slice(4) : undefined;
          ensure(
            camera.parent === "world" || c.arms.some(({ name }) => name === arm),
            `${camera.name} rides on "${camera.parent}"`,
          );
          ensure(["rgb8", "depth_f32"].includes(camera.format), `${camera.name} has the format "${camera.format}"`);
        }
      },
    },
    {
      name: "views_name_existing_cameras",
      reason: "the operations ask for views by role, and must find their cameras",
      needs: ["cameras"],
      run: async ({ capabilities: c }) => {
        ensure(c.views.length > 0, "there are cameras but no view");
        ensure(unique(c.views.map((view) => `${view.role} ${view.arm}`)), "two views have one role");
        for (const view of c.views) {
          for (const name of [view.left, view.right, view.depth].filter((given) => given !== ""))
            ensure(cameraNamed(c, name), `the ${view.role} view names the camera "${name}", which does not exist`);
          ensure(
            (view.right === "") !== (view.depth === ""),
            `the ${view.role} view must have a right camera or a depth camera`,
          );
          if (view.look_q_rad.length === 0) continue;
          const carrier = c.arms.find(({ name }) => name === view.arm);
          ensure(carrier, `the ${view.role} view needs a pose of the arm "${view.arm}", which does not exist`);
          ensure(
            view.look_q_rad.length === carrier.dh.length,
            `the pose of the ${view.role} view has ${view.look_q_rad.length} joints`,
          );
          ensure(
            view.look_q_rad.every((q, joint) => Math.abs(q - carrier.home_q_rad[joint]!) < 1e-6),
            `the pose of the ${view.role} view is not the arm's home, so that goto_home does not bring it back`,
          );
        }
      },
    },
    {
      name: "stereo_pairs_are_rectified",
      reason: "depth is the baseline times the focal length over the disparity, which holds for rectified pairs only",
      needs: ["stereo"],
      run: async ({ capabilities: c }) => {
        for (const view of c.views.filter((candidate) => candidate.right !== "")) {
          const [left, right] = [cameraNamed(c, view.left)!, cameraNamed(c, view.right)!];
          for (const field of ["width", "height", "fx_px", "fy_px", "cy_px", "parent"] as const)
            ensure(left[field] === right[field], `${field} of ${left.name} and ${right.name} differ`);
          // The right camera in the left one's frame: moved along +x by the baseline, and turned not at all.
          const X_left_right = multiply(inverse(left.X_parent_camera), right.X_parent_camera);
          const expected = [1, 0, 0, view.baseline_m, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
          ensure(view.baseline_m > 0, `the baseline of the ${view.role} view is ${view.baseline_m} m`);
          for (const [index, value] of X_left_right.entries())
            ensureNear(value, expected[index]!, 1e-6, `element ${index} of X_left_right of the ${view.role} view`);
        }
      },
    },
    {
      name: "workspace_is_a_box",
      reason: "commanded poses are kept inside it",
      run: async ({ capabilities: c }) => {
        if (!c.workspace) throw new CheckSkipped("the backend tells no workspace");
        const { min_xyz_m, max_xyz_m, table_z_m } = c.workspace;
        ensure(min_xyz_m.length === 3 && max_xyz_m.length === 3, "the workspace's corners are not 3 numbers each");
        for (let axis = 0; axis < 3; axis += 1)
          ensure(min_xyz_m[axis]! < max_xyz_m[axis]!, `the workspace is empty along axis ${axis}`);
        ensure(Number.isFinite(table_z_m), `the table is at ${table_z_m} m`);
      },
    },
  ],
};
