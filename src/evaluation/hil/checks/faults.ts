import type { HilGroup } from "../check.js";
import { benchFaults } from "./faults-bench.js";
import { cameraFaults } from "./faults-camera.js";
import { controllerFaults } from "./faults-controller.js";
import { gripperFaults } from "./faults-gripper.js";

export const faults: HilGroup = {
  group: "faults",
  about: "each fault of each emulator during a program's motion: what is told, how soon, and whether it is true",
  checks: [...controllerFaults, ...benchFaults, ...gripperFaults, ...cameraFaults],
};
