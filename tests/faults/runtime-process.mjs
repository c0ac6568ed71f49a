/**
 * A runtime in a process of its own, to be killed: takes a backend's addresses on its standard input, becomes its
 * controller, starts a long motion of the last joint, says so, and keeps its lease.
 */
import { createInterface } from "node:readline";
import { DeviceClient } from "../../dist/src/runtime/device/device-client.js";

const [line] = await new Promise((resolve) => {
  createInterface({ input: process.stdin }).once("line", (text) => resolve([text]));
});
const client = await DeviceClient.connect({
  ...JSON.parse(line),
  role: "CONTROLLER",
  client: "to be killed",
  leaseMs: 500,
});
const { arms, stop_epoch } = await client.getState();
const { name, q_rad } = arms[0];
const time_s = Array.from({ length: 501 }, (_, index) => index * 0.02);
// Ten seconds of slow turning; the quadratic start keeps the acceleration small.
const turned = time_s.map((t) => (t < 1 ? 0.05 * t * t : 0.1 * t - 0.05));
const trajectory = {
  arm: name,
  time_s,
  q_rad: turned.flatMap((angle) => q_rad.map((q, joint) => (joint === 5 ? q - angle : q))),
};
await client.execute({ stop_epoch, motions: [{ joint_trajectory: trajectory }] });
process.stdout.write("moving\n");
