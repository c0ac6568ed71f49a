import type { HilCheck } from "../check.js";
import { faultCheck } from "./fault-check.js";

const LINE = ["gripper_unplugged", "gripper_silent", "gripper_stale"] as const;
const gripper = { part: "gripper", during: "gripper" } as const;

export const gripperFaults: HilCheck[] = [
  faultCheck("gripper_firmware_freezes", "an old opening must not be told as the present one", {
    ...gripper,
    order: { fault: "freeze", seconds: 3 },
    codes: LINE,
  }),
  faultCheck("gripper_is_unplugged", "the cable goes", {
    ...gripper,
    order: { fault: "unplug", seconds: 2 },
    codes: LINE,
  }),
  faultCheck("gripper_comes_back_under_another_name", "after a replug the line has another number", {
    ...gripper,
    order: { fault: "replug_other_name", seconds: 0.5 },
    codes: LINE,
  }),
  faultCheck("gripper_dies", "the adapter goes", { ...gripper, order: { fault: "kill" }, codes: LINE }),
  faultCheck("gripper_telemetry_is_late", "50 ms are within what may be borne: the present is a little older", {
    ...gripper,
    order: { fault: "delay", ms: 50 },
    codes: [],
  }),
  faultCheck("gripper_telemetry_is_too_late", "an opening from 300 ms ago is not the present one", {
    ...gripper,
    order: { fault: "delay", ms: 300 },
    codes: LINE,
  }),
  faultCheck("gripper_loses_commands", "a command that did not arrive is no motion that was made", {
    ...gripper,
    during: "then_gripper",
    order: { fault: "drop", share: 1 },
    codes: ["gripper_ignored"],
  }),
  faultCheck("gripper_telemetry_is_cut", "half a report is none, and no number of it counts", {
    ...gripper,
    order: { fault: "half_frames", share: 0.3 },
    codes: [],
  }),
  faultCheck("gripper_line_is_noisy", "foreign bytes between reports are skipped", {
    ...gripper,
    order: { fault: "noise", share: 0.2 },
    codes: [],
  }),
  faultCheck("gripper_reports_a_fault", "a hot or failed driver says so in its status", {
    ...gripper,
    order: { fault: "status", bits: 0x20 },
    codes: ["gripper_device_fault", "gripper_disabled"],
  }),
  faultCheck("gripper_loses_power", "the motor is off and nothing says why", {
    ...gripper,
    order: { fault: "power_off" },
    codes: ["gripper_disabled"],
  }),
  faultCheck("gripper_restarts", "its settings are gone, its zero perhaps too", {
    ...gripper,
    order: { fault: "reset" },
    codes: ["gripper_disabled", "gripper_bad_zero", ...LINE],
  }),
  faultCheck("gripper_restarts_when_its_line_is_opened", "an adapter that resets the board with each opening", {
    ...gripper,
    before: { fault: "reset_on_open" },
    order: { fault: "unplug", seconds: 0.5 },
    codes: LINE,
  }),
  faultCheck("gripper_loses_its_zero", "every opening is then another than the told one", {
    ...gripper,
    order: { fault: "bad_zero", rad: 0.8 },
    codes: ["gripper_bad_zero"],
  }),
  faultCheck("stuck_fingers_are_no_grip", "fingers that do not move at all hold nothing", {
    ...gripper,
    during: "then_gripper",
    order: { fault: "stuck" },
    codes: [],
    jaw: "not ok",
  }),
];
