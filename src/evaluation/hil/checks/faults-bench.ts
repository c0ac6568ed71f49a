import type { HilCheck } from "../check.js";
import { faultCheck } from "./fault-check.js";

export const benchFaults: HilCheck[] = [
  faultCheck("arm_does_not_follow", "an arm that stands while its setpoints move is held by something", {
    part: "bench",
    during: "arm",
    order: { fault: "freeze", seconds: 3 },
    codes: ["protective_stop", "gate_distance", "controller_frozen", "program_stopped"],
  }),
  faultCheck("the_world_is_gone", "the arm itself does not answer its controller any more", {
    part: "bench",
    during: "arm",
    order: { fault: "kill" },
    codes: ["protective_stop", "gate_distance", "controller_frozen", "program_stopped", "link_lost", "link_reset"],
  }),
];
