import type { HilCheck } from "../check.js";
import { faultCheck } from "./fault-check.js";

/** A camera's trouble: its pictures fail with a code or are late, and the arm's motion at the same time goes on to its end. */
const camera = (
  name: string,
  reason: string,
  order: Record<string, unknown>,
  picture: "refused" | "given",
  which = "wrist",
): HilCheck =>
  faultCheck(name, reason, {
    part: "bench",
    during: "view",
    order: { ...order, camera: which },
    camera: which,
    picture,
    codes: [],
  });

export const cameraFaults: HilCheck[] = [
  camera("camera_is_unplugged", "a camera that is gone is told, and the arm goes on", { fault: "unplug" }, "refused"),
  camera(
    "camera_freezes",
    "a camera that hangs must not hang anybody else",
    { fault: "freeze", seconds: 20 },
    "refused",
  ),
  camera("camera_repeats_an_old_picture", "the same exposure again is no new picture", { fault: "stuck" }, "refused"),
  camera("camera_sends_half_pictures", "half a picture is none", { fault: "half_frames" }, "refused", "scene"),
  camera("camera_loses_requests", "a picture that never comes is told so", { fault: "drop", share: 1 }, "refused"),
  camera("camera_dies", "its process is gone", { fault: "kill" }, "refused"),
  camera(
    "another_camera_answers",
    "a camera of another serial number stands elsewhere",
    { fault: "replug_other_name" },
    "refused",
    "scene",
  ),
  camera("camera_is_late", "a picture that is late is still of its own time", { fault: "delay", ms: 800 }, "given"),
  camera("camera_is_noisy", "a bad cable is seen in the picture and nowhere else", { fault: "noise" }, "given"),
];
