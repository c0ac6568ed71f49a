import type { Capabilities } from "../../contract/generated/device.js";

/** Features of a robot connection that a prompt may ask for. */
export const PROMPT_FEATURES = ["measured_gripper", "step_limit", "press", "several_arms", "sensor_depth"] as const;

/** Those that a backend with these capabilities has. */
export function promptFeatures(capabilities: Capabilities): Set<string> {
  const has = new Set<string>();
  if (capabilities.grippers.length > 0 && capabilities.grippers.every((gripper) => gripper.measured))
    has.add("measured_gripper");
  if (capabilities.step_limit > 0) has.add("step_limit");
  if (capabilities.features.includes("press")) has.add("press");
  if (capabilities.arms.length > 1) has.add("several_arms");
  if (capabilities.views.length > 0 && capabilities.views.every((view) => view.depth !== "")) has.add("sensor_depth");
  return has;
}

const mm = (metres: number): string => `${Math.round(metres * 1000)} mm`;
const metres = (value: number): string => value.toFixed(2);
const ranges = (least: readonly number[], most: readonly number[]): string =>
  ["x", "y", "z"].map((axis, at) => `${axis} ${metres(least[at] ?? 0)} to ${metres(most[at] ?? 0)}`).join(", ");

/**
 * Facts that `{{name}}` may give in a prompt. All of them come from what the backend says of itself, so that a prompt holds
 * for every body; nothing of them is a secret of a simulator, for a calibrated bench knows the same.
 */
export function capabilityFacts(capabilities: Capabilities): Map<string, string> {
  const { arms, grippers, workspace, cameras, views } = capabilities;
  const gripper = grippers[0];
  const sizes = [...new Set(cameras.map(({ width, height }) => `${width} x ${height}`))];
  const facts: [string, string][] = [
    ["arm_models", [...new Set(arms.map(({ model }) => model))].join(" and ")],
    ["arm_names", arms.map(({ name }) => `"${name}"`).join(", ")],
    [
      "views",
      views.map(({ role, arm }) => (role === "wrist" && arms.length > 1 ? `${role} of ${arm}` : role)).join(", "),
    ],
    ["image_size", sizes.join(" or ")],
    ["workspace", workspace ? ranges(workspace.min_xyz_m, workspace.max_xyz_m) : "as get_robot_state says"],
    ["table_z", workspace ? metres(workspace.table_z_m) : "as get_robot_state says"],
    ["max_opening", gripper ? mm(gripper.max_opening_m) : "none"],
    ["finger_length", gripper ? mm(gripper.finger_length_m) : "none"],
    ["finger_width", gripper ? mm(gripper.finger_width_m) : "none"],
    ["finger_thickness", gripper ? mm(gripper.finger_thickness_m) : "none"],
    ["max_grip_force", gripper ? `${gripper.max_force_n.toFixed(0)} N` : "none"],
    ["contact_force", `${(arms[0]?.contact_force_default_n ?? 0).toFixed(0)} N`],
    ["step_limit", String(capabilities.step_limit)],
  ];
  return new Map(facts);
}
