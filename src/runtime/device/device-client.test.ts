import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeBackend } from "../../../tests/support/fake-backend.js";
import type { DeviceEvent } from "../../contract/generated/device.js";
import type { DeviceConnectOptions, DeviceExchange } from "./device.js";
import { DeviceClient } from "./device-client.js";
import { deviceCodeOf } from "./refusal.js";

let fake: FakeBackend;
const clients: DeviceClient[] = [];

beforeEach(async () => {
  fake = await FakeBackend.start();
});
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
  fake.close();
});

async function connect(extra: Partial<DeviceConnectOptions> = {}): Promise<DeviceClient> {
  const client = await DeviceClient.connect({ ...fake.addresses, role: "CONTROLLER", client: "test", ...extra });
  clients.push(client);
  return client;
}

/** Waits for something that other tasks of this process bring about. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe("DeviceClient", () => {
  it("opens a session with Hello and numbers its requests from there", async () => {
    const client = await connect();
    expect(client.session).toBe("s1");
    expect(client.capabilities.backend).toBe("fake");
    await client.getState();
    await client.getState();
    const [hello, ...rest] = fake.received.map(({ request }) => request).filter((request) => !request.renew);
    expect(hello).toMatchObject({
      session: "",
      sequence: 0,
      hello: { role: "CONTROLLER", client: "test", lease_ms: 1500 },
    });
    expect(rest.map((request) => [request.session, request.sequence, request.request_id])).toEqual([
      ["s1", 1, "q1"],
      ["s1", 2, "q2"],
    ]);
  });

  it("refuses options that the protocol does not know", async () => {
    const options = { ...fake.addresses, role: "CONTROLLER", client: "test", leaseMs: 50 } as const;
    await expect(DeviceClient.connect(options)).rejects.toMatchObject({ code: "bad_argument" });
  });

  it("says that nobody is there", async () => {
    const nowhere = { device: "ipc:///tmp/s2r-none-d", stop: "ipc:///tmp/s2r-none-s", events: "ipc:///tmp/s2r-none-e" };
    const options = { ...nowhere, role: "OBSERVER", client: "test", connectTimeoutMs: 100 } as const;
    await expect(DeviceClient.connect(options)).rejects.toMatchObject({ code: "backend_unreachable" });
  });

  it("passes a refusal on with the protocol's code, and stays usable", async () => {
    const client = await connect();
    fake.answer = (request) =>
      request.execute ? { reply: { error: { code: "ERROR_BUSY", message: "left is moving" } } } : undefined;
    const error = await client.execute({ stop_epoch: 0, motions: [] }).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: "backend_refused" });
    expect(deviceCodeOf(error)).toBe("ERROR_BUSY");
    await client.getState();
    expect(client.lost).toBe(false);
  });

  it("sends the very same bytes again when no answer comes, and takes the first answer", async () => {
    const client = await connect({ lostAfterMs: 600 });
    let seen = 0;
    fake.answer = (request) => {
      if (!request.execute) return undefined;
      seen += 1;
      return seen === 1 ? "silence" : { reply: { execute: { group: 7 } } };
    };
    const reply = await client.execute({ stop_epoch: 0, motions: [] });
    expect(reply.group).toBe(7);
    const [first, second] = fake.received.filter(({ request }) => request.execute);
    expect(Buffer.compare(first!.bytes, second!.bytes)).toBe(0);
  });

  it("is lost when a request is never answered: pending and later calls fail, listeners hear it once", async () => {
    const client = await connect({ lostAfterMs: 400 });
    let heard = 0;
    client.onLost(() => {
      heard += 1;
    });
    fake.answer = () => "silence";
    const pending = [client.getState(), client.getState()];
    for (const call of pending) await expect(call).rejects.toMatchObject({ code: "backend_lost" });
    await expect(client.getState()).rejects.toMatchObject({ code: "backend_lost" });
    expect(client.lost).toBe(true);
    expect(heard).toBe(1);
    let late = 0;
    client.onLost(() => {
      late += 1;
    });
    expect(late).toBe(1);
  });

  it("tries to stop a backend that it lost, and still passes on stops", async () => {
    const client = await connect({ lostAfterMs: 400 });
    fake.answer = () => "silence";
    await new Promise<void>((resolve) => client.onLost(() => resolve()));
    await until(() => fake.stops.length === 1);
    await client.stop("again");
    expect(fake.stops).toEqual(["the session lost its backend", "again"]);
    client.close();
    await expect(client.stop("late")).rejects.toMatchObject({ code: "backend_lost" });
  });

  it("notices a backend that goes silent while nothing is asked", async () => {
    const client = await connect({ lostAfterMs: 400 });
    fake.answer = () => "silence";
    await new Promise<void>((resolve) => client.onLost(() => resolve()));
  });

  it("is lost at once when the peer hangs up", async () => {
    const client = await connect({ lostAfterMs: 60_000 });
    const lost = new Promise<Error>((resolve) => client.onLost(resolve));
    fake.close();
    expect((await lost).message).toContain("hung up");
  });

  it("keeps the lease while nothing is asked", async () => {
    await connect({ leaseMs: 300 });
    await until(() => fake.received.filter(({ request }) => request.renew).length >= 3);
  });

  it("takes an unknown session for a backend that was started anew", async () => {
    const client = await connect();
    fake.answer = (request) =>
      request.get_state ? { reply: { error: { code: "ERROR_UNKNOWN_SESSION", message: "no session s1" } } } : undefined;
    await expect(client.getState()).rejects.toMatchObject({ code: "backend_lost" });
    expect(client.lost).toBe(true);
  });

  it("stops on a socket of its own while a request is pending", async () => {
    const client = await connect();
    fake.answer = (request) => (request.advance ? "silence" : undefined);
    const pending = client.advance({ until_s: 1 });
    pending.catch(() => {});
    expect(await client.stop("enough")).toMatchObject({ stop_epoch: 1 });
    expect(fake.stops).toEqual(["enough"]);
    expect(client.stopEpoch).toBe(1);
  });

  it("asks for a stop twice before it gives up", async () => {
    const client = await connect({ lostAfterMs: 400 });
    fake.answersStops = false;
    await expect(client.stop("enough")).rejects.toMatchObject({ code: "backend_lost" });
    expect(fake.stops).toEqual(["enough", "enough"]);
    fake.answersStops = true;
    expect((await client.stop("again")).stop_epoch).toBe(1);
  });

  it("lets several stops run side by side", async () => {
    const client = await connect();
    const epochs = await Promise.all([client.stop("a"), client.stop("b"), client.stop("c")]);
    expect(epochs.map((reply) => reply.stop_epoch).sort()).toEqual([1, 2, 3]);
  });

  it("joins frames with their raw parts", async () => {
    const client = await connect();
    const rgb = Buffer.from([1, 2, 3, 4, 5, 6]);
    const depth = Buffer.from(new Float32Array([0.5, Number.NaN]).buffer);
    fake.answer = (request) =>
      request.get_frames
        ? {
            reply: {
              frames: {
                frames: [
                  { camera: "left", width: 2, height: 1, format: "rgb8", part: 0 },
                  { camera: "depth", width: 2, height: 1, format: "depth_f32", part: 1 },
                ],
              },
            },
            parts: [rgb, depth],
          }
        : undefined;
    const [left, right] = await client.getFrames(["left", "depth"], { not_before_s: 0.1 });
    expect([...left!.pixels]).toEqual([1, 2, 3, 4, 5, 6]);
    expect(right!.pixels).toBeInstanceOf(Float32Array);
    expect(right!.pixels[0]).toBe(0.5);
    expect(right!.pixels[1]).toBeNaN();
  });

  it("refuses frames whose parts do not fit", async () => {
    const client = await connect();
    const frame = { camera: "left", width: 2, height: 1, format: "rgb8", part: 0 };
    fake.answer = (request) =>
      request.get_frames ? { reply: { frames: { frames: [frame] } }, parts: [Buffer.alloc(5)] } : undefined;
    await expect(client.getFrames(["left"])).rejects.toMatchObject({ code: "protocol_mismatch" });
    fake.answer = (request) =>
      request.get_frames ? { reply: { frames: { frames: [] }, raw_parts: 2 }, parts: [rgbPart()] } : undefined;
    await expect(client.getFrames(["left"])).rejects.toMatchObject({ code: "protocol_mismatch" });
  });

  it("refuses a reply with another verb's body", async () => {
    const client = await connect();
    fake.answer = (request) => (request.get_state ? { reply: { renew: {} } } : undefined);
    await expect(client.getState()).rejects.toMatchObject({ code: "protocol_mismatch" });
  });

  it("shows every exchange as bytes, in order", async () => {
    const exchanges: DeviceExchange[] = [];
    const client = await connect({ onExchange: (exchange) => exchanges.push(exchange) });
    await client.getState();
    await client.bye();
    const seen = exchanges.filter((exchange) => exchange.verb !== "renew");
    expect(seen.map((exchange) => exchange.verb)).toEqual(["hello", "get_state", "bye"]);
    expect(Buffer.compare(Buffer.from(seen[1]!.request), fake.received[1]!.bytes)).toBe(0);
  });

  it("hears events through listeners and iterators, and both end with the session", async () => {
    const client = await connect();
    const heard: DeviceEvent[] = [];
    const remove = client.onEvent((event) => heard.push(event));
    const iterated: number[] = [];
    const iterator = (async () => {
      for await (const event of client.events()) iterated.push(event.number);
    })();
    await fake.publish({ stopped: { stop_epoch: 4, reason: "x" } });
    await until(() => heard.length === 1);
    expect(client.stopEpoch).toBe(4);
    remove();
    await fake.publish({ resumed: { stop_epoch: 4 } });
    await until(() => iterated.length === 2);
    expect(heard.length).toBe(1);
    await client.bye();
    await iterator;
    await expect(client.getState()).rejects.toMatchObject({ code: "session_closed" });
  });

  it("counts device time anew after a reset", async () => {
    const client = await connect();
    fake.time_s = 9;
    await client.getState();
    expect(client.time_s).toBe(9);
    fake.time_s = 0;
    await fake.publish({ world_changed: { world_epoch: 2 } });
    await until(() => client.time_s === 0);
  });
});

const rgbPart = (): Buffer => Buffer.alloc(6);
