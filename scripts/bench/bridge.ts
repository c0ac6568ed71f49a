/**
 * What a request to a simulator costs beyond its work, over the device protocol, and beside it the same content through
 * a websocket + msgpack server in the same run:
 *
 *   npm run bench:bridge [-- --check] [--requests 3000]
 *
 * Goals: a state request p50 <= 150 us, an already rendered 640x480 RGB pair p50 <= 1 ms, on ipc. Rounds of the two
 * alternate, so that a busy machine is busy for both. The last line says whether the goals are met; with --check the
 * exit code does too.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { parseArgs } from "node:util";
import { decode, encode } from "@msgpack/msgpack";
import WebSocket from "ws";
import { SimBackend } from "../../backends/sim/launch.js";
import { packageFile } from "../../src/contract/package-root.js";
import { PrivilegedClient } from "../../src/evaluation/privileged-client.js";
import { DeviceClient } from "../../src/runtime/device/device-client.js";

const STATE_GOAL_US = 150;
const PAIR_GOAL_US = 1000;
const ROUNDS = 10;
const WARM_UP = 200;

const { values } = parseArgs({
  options: { check: { type: "boolean", default: false }, requests: { type: "string", default: "3000" } },
});
const requests = Number(values.requests);
if (!Number.isInteger(requests) || requests < 100 || requests > 1_000_000) {
  console.error(`--requests is ${values.requests}; give a whole number from 100 to 1000000`);
  process.exit(2);
}

type Series = { name: string; times_us: number[]; ask: () => Promise<unknown> };

const quantile = (sorted: readonly number[], q: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;

async function measure(series: Series, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const begun_ms = performance.now();
    await series.ask();
    series.times_us.push((performance.now() - begun_ms) * 1000);
  }
}

/** Asks one message at a time over a websocket. */
class WebsocketPeer {
  readonly #socket: WebSocket;
  readonly #process: ChildProcess;

  static async start(replies: Record<string, unknown>): Promise<WebsocketPeer> {
    const python = packageFile(".venvs", "twin", "bin", "python");
    const child = spawn(python, [packageFile("scripts", "bench", "ws_peer.py")], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const [line] = (await once(createInterface({ input: child.stdout as Readable }), "line")) as [string];
    const { port } = JSON.parse(line) as { port: number };
    const socket = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false, maxPayload: 1 << 28 });
    await once(socket, "open");
    const peer = new WebsocketPeer(socket, child);
    await peer.ask(replies);
    return peer;
  }

  private constructor(socket: WebSocket, child: ChildProcess) {
    this.#socket = socket;
    this.#process = child;
  }

  ask(message: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#socket.once("message", (data) => resolve(decode(data as Buffer)));
      this.#socket.once("error", reject);
      this.#socket.send(encode(message), () => this.#socket.off("error", reject));
    });
  }

  close(): void {
    this.#socket.close();
    this.#process.stdin?.end();
  }
}

const simulator = await SimBackend.spawn({ privileged: true });
const evaluator = await PrivilegedClient.connect(simulator.privileged!);
await evaluator.reset({ task: "r1", seed: 1 });
const client = await DeviceClient.connect({ ...simulator.addresses, role: "CONTROLLER", client: "bench bridge" });

const view = client.capabilities.views.find((candidate) => candidate.role === "scene");
if (!view?.right) throw new Error("the simulator has no stereo scene view");
const cameras = [view.left, view.right];
const state = await client.getState();
const frames = await client.getFrames(cameras);
const megapixels = frames.map((frame) => `${frame.width}x${frame.height}`).join(" and ");
const peer = await WebsocketPeer.start({ state, pair: frames });

const ours_state: Series = { name: "state, device protocol", times_us: [], ask: () => client.getState() };
const ours_pair: Series = { name: "pair, device protocol", times_us: [], ask: () => client.getFrames(cameras) };
const ws_state: Series = { name: "state, websocket + msgpack", times_us: [], ask: () => peer.ask({ verb: "state" }) };
const ws_pair: Series = { name: "pair, websocket + msgpack", times_us: [], ask: () => peer.ask({ verb: "pair" }) };
const all = [ours_state, ws_state, ours_pair, ws_pair];

for (const series of all) {
  await measure(series, WARM_UP);
  series.times_us.length = 0;
}
for (let round = 0; round < ROUNDS; round += 1) {
  for (const series of [ours_state, ws_state]) await measure(series, Math.ceil(requests / ROUNDS));
  for (const series of [ours_pair, ws_pair]) await measure(series, Math.ceil(requests / ROUNDS / 3));
}

peer.close();
await client.bye();
evaluator.close();
await simulator.close();

console.log(`one request at a time, ipc, pictures ${megapixels} RGB, already rendered`);
console.log(`${"".padEnd(30)}${["p50", "p90", "p99"].map((head) => head.padStart(10)).join("")}   requests`);
const p50 = new Map<Series, number>();
for (const series of all) {
  const sorted = series.times_us.sort((a, b) => a - b);
  p50.set(series, quantile(sorted, 0.5));
  const figures = [0.5, 0.9, 0.99].map((q) => `${quantile(sorted, q).toFixed(0)} us`.padStart(10)).join("");
  console.log(`${series.name.padEnd(30)}${figures}   ${sorted.length}`);
}
const [state_us, pair_us] = [p50.get(ours_state)!, p50.get(ours_pair)!];
const state_ratio = p50.get(ws_state)! / state_us;
const pair_ratio = p50.get(ws_pair)! / pair_us;
const met = state_us <= STATE_GOAL_US && pair_us <= PAIR_GOAL_US;
const figures = [
  `state p50 ${state_us.toFixed(0)} us of ${STATE_GOAL_US} us, websocket + msgpack takes ${state_ratio.toFixed(1)} times as long`,
  `pair p50 ${(pair_us / 1000).toFixed(2)} ms of ${(PAIR_GOAL_US / 1000).toFixed(2)} ms, websocket + msgpack takes ${pair_ratio.toFixed(1)} times as long`,
];
console.log(`bridge: goal ${met ? "met" : "missed"} (${figures.join("; ")})`);
process.exit(values.check && !met ? 1 : 0);
