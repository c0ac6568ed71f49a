import type { CheckGroup } from "./check.js";
import { advance } from "./checks/advance.js";
import { capabilities } from "./checks/capabilities.js";
import { contact } from "./checks/contact.js";
import { events } from "./checks/events.js";
import { exactlyOnce } from "./checks/exactly-once.js";
import { execute } from "./checks/execute.js";
import { frames } from "./checks/frames.js";
import { gripper } from "./checks/gripper.js";
import { hello } from "./checks/hello.js";
import { lease } from "./checks/lease.js";
import { privileged } from "./checks/privileged.js";
import { robustness } from "./checks/robustness.js";
import { sequence } from "./checks/sequence.js";
import { state } from "./checks/state.js";
import { stop } from "./checks/stop.js";

/** Every check of the suite, in the order in which they run. */
export const ALL_CHECKS: readonly CheckGroup[] = [
  hello,
  capabilities,
  exactlyOnce,
  sequence,
  state,
  frames,
  advance,
  execute,
  gripper,
  contact,
  stop,
  lease,
  events,
  privileged,
  robustness,
];
