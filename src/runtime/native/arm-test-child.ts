/**
 * A process for tests of how an arm's driver ends: opens the arm at `argv[2]`, starts a long motion, tells its parent
 * (`{"moving":…}` on standard output), and then ends, or stops working, in the way that `argv[3]` names.
 *
 * @module
 */
import { readSync } from "node:fs";
import { isMainThread, Worker, workerData } from "node:worker_threads";
import { ArmDriver, type ArmDriverOptions } from "./arm.js";
import { swing, testArmOptions } from "./arm-test-rig.js";

type Way = "exit" | "throw" | "spin" | "wait" | "collect" | "terminate" | "natural";

async function startMotion(host: string, more: Partial<ArmDriverOptions>): Promise<ArmDriver> {
  const arm = await ArmDriver.open(testArmOptions(host, more));
  const state = arm.state();
  arm.execute(1, state.stop_epoch, swing(state.q_rad, 2.4, 4));
  return arm;
}

/** The driver goes out of reach with this call. */
async function startUnreferenced(host: string, more: Partial<ArmDriverOptions>): Promise<string> {
  return (await startMotion(host, more)).info.stop_address;
}

function say(message: object): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

function spin(): never {
  for (;;);
}

async function main(host: string, way: Way, more: Partial<ArmDriverOptions>): Promise<void> {
  if (way === "terminate") {
    const worker = new Worker(new URL(import.meta.url), { workerData: { host, more } });
    worker.once("message", (message: object) => {
      say(message);
      setTimeout(() => {
        void worker.terminate().then(() => {
          say({ terminated: true });
          setTimeout(() => process.exit(0), 200);
        });
      }, 1500);
    });
    return;
  }
  if (way === "collect") {
    say({ moving: true, stop_address: await startUnreferenced(host, more) });
    const collect = (globalThis as { gc?: () => void }).gc;
    setTimeout(() => setInterval(() => collect?.(), 20), 1500);
    setTimeout(() => process.exit(0), 5000);
    return;
  }
  const arm = await startMotion(host, more);
  if (more.exit_on_lease_lapse === true) arm.renewLease(1500);
  say({ moving: true, stop_address: arm.info.stop_address });
  setTimeout(() => {
    if (way === "exit") process.exit(3);
    if (way === "throw") throw new Error("nobody catches this");
    if (way === "spin") {
      say({ spinning: true });
      spin();
    }
    if (way === "natural") return;
    // "wait": until standard input ends, asleep in a system call.
    readSync(0, Buffer.alloc(1));
    process.exit(0);
  }, 1500);
}

if (isMainThread) {
  const [host = "", way = "exit", more = "{}"] = process.argv.slice(2);
  await main(host, way as Way, JSON.parse(more) as Partial<ArmDriverOptions>);
} else {
  const { host, more } = workerData as { host: string; more: Partial<ArmDriverOptions> };
  const { parentPort } = await import("node:worker_threads");
  const arm = await startMotion(host, more);
  parentPort?.postMessage({ moving: true, stop_address: arm.info.stop_address });
  setInterval(() => arm.state(), 100);
}
