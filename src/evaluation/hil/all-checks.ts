import type { HilGroup } from "./check.js";
import { camera } from "./checks/camera.js";
import { endToEnd } from "./checks/end-to-end.js";
import { faults } from "./checks/faults.js";
import { gripper } from "./checks/gripper.js";
import { limits } from "./checks/limits.js";
import { link } from "./checks/link.js";
import { motion } from "./checks/motion.js";
import { stop } from "./checks/stop.js";
import { timing } from "./checks/timing.js";

/** Every check of the suite, in the order in which they run: what may break the rig comes late. */
export const ALL_HIL_CHECKS: readonly HilGroup[] = [
  link,
  motion,
  stop,
  limits,
  gripper,
  camera,
  timing,
  faults,
  endToEnd,
];
