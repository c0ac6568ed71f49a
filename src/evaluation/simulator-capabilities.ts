import { SimBackend } from "../../backends/sim/launch.js";
import type { Capabilities } from "../contract/generated/device.js";
import { DeviceClient } from "../runtime/device/device-client.js";

/** What the simulator says of itself before any world is loaded: asked of one that is started for it and ended. */
export async function simulatorCapabilities(): Promise<Capabilities> {
  const sim = await SimBackend.spawn({ privileged: false });
  try {
    const client = await DeviceClient.connect({ ...sim.addresses, role: "OBSERVER", client: "skill2real" });
    client.close();
    return client.capabilities;
  } finally {
    await sim.close();
  }
}
