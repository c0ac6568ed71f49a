import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { curveKeyPair } from "zeromq";
import { SimBackend } from "../../backends/sim/launch.js";
import { runConformance } from "../../src/evaluation/conformance/run-conformance.js";
import { PrivilegedClient } from "../../src/evaluation/privileged-client.js";
import type { CurveKeys } from "../../src/runtime/device/device.js";
import { DeviceClient } from "../../src/runtime/device/device-client.js";

/** The server core over its test world, which is all that the transport needs. */
let sim: SimBackend;
beforeAll(async () => {
  sim = await SimBackend.spawn({
    world: "fake",
    module: "skill2real_sim.core.testing",
    privileged: true,
    tcpHost: "127.0.0.1",
  });
  const evaluator = await PrivilegedClient.connect(sim.privileged!);
  await evaluator.reset({ task: "r1", seed: 1 });
  evaluator.close();
});
afterAll(() => sim.close());

const connect = (curve: CurveKeys | undefined) =>
  DeviceClient.connect({
    ...sim.addresses,
    role: "OBSERVER",
    client: "tcp",
    connectTimeoutMs: 1500,
    ...(curve ? { curve } : {}),
  });

describe("a backend on tcp with keys", () => {
  it("listens on the host that was named, each socket on a port of its own; the privileged one stays on this machine", () => {
    const addresses = Object.values(sim.addresses);
    for (const address of addresses) expect(address).toMatch(/^tcp:\/\/127\.0\.0\.1:\d+$/);
    expect(new Set(addresses).size).toBe(3);
    expect(sim.privileged!.address).toMatch(/^ipc:/);
  });

  it("serves a client that has the run's keys, events and stops too", async () => {
    const client = await connect(sim.curve);
    const heard = new Promise<string>((resolve) =>
      client.onEvent((event) => resolve(event.stopped?.reason ?? "another event")),
    );
    const { stop_latched } = await client.getState();
    expect(stop_latched).toBe(false);
    await client.stop("over tcp");
    expect(await heard).toBe("over tcp");
    await client.bye();
  });

  it("does not answer a client without keys, with the wrong server key, or with a key of its own making", async () => {
    const { publicKey, secretKey } = curveKeyPair();
    const stranger = { ...sim.curve!, publicKey, secretKey };
    const misled = { ...sim.curve!, serverPublicKey: publicKey };
    for (const keys of [undefined, stranger, misled])
      await expect(connect(keys)).rejects.toMatchObject({ code: "backend_unreachable" });
  });

  it("conforms over tcp as it does on ipc", async () => {
    const target = { addresses: sim.addresses, curve: sim.curve!, privileged: sim.privileged!, allowMotion: false };
    const results = await runConformance({ target, filter: ["hello", "sequence", "robustness"] });
    expect(results.filter(({ outcome }) => outcome === "failed")).toEqual([]);
    expect(results.filter(({ outcome }) => outcome === "passed").length).toBeGreaterThan(25);
  });
});
