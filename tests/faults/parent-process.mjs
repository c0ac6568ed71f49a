/** A launcher in a process of its own, to be killed: starts a simulator, tells its process id and folder, and waits. */
import { dirname } from "node:path";
import { SimBackend } from "../../dist/backends/sim/launch.js";

const simulator = await SimBackend.spawn({ world: "twin", privileged: true, realtime: 1 });
const folder = dirname(simulator.addresses.device.slice("ipc://".length));
process.stdout.write(`${JSON.stringify({ pid: simulator.pid, folder })}\n`);
setInterval(() => {}, 1000);
