import { setTimeout as sleep } from "node:timers/promises";
import { CheckFailed } from "./check.js";
import { askDashboard } from "./rtde-observer.js";

const REPAIR_MS = 20_000;
const LOOK_MS = 300;

/**
 * What a person does at the pendant of an emulated controller after a check that broke it: unlocks a protective stop, powers
 * the arm, releases its brakes, and waits until it says that all is well. Never used on a real rig.
 */
export async function repairController(host: string): Promise<void> {
  const give_up_ms = performance.now() + REPAIR_MS;
  for (;;) {
    const safety = await askDashboard(host, "safetystatus");
    const mode = await askDashboard(host, "robotmode");
    if (/NORMAL/.test(safety) && /RUNNING/.test(mode)) return;
    if (performance.now() > give_up_ms)
      throw new CheckFailed(`the controller stays in "${safety}", "${mode}" after ${REPAIR_MS / 1e3} s`);
    if (/PROTECTIVE/.test(safety)) await askDashboard(host, "unlock protective stop");
    else if (!/NORMAL/.test(safety)) await askDashboard(host, "close safety popup");
    else if (/POWER_OFF/.test(mode)) await askDashboard(host, "power on");
    else if (/IDLE/.test(mode)) await askDashboard(host, "brake release");
    await sleep(LOOK_MS);
  }
}
