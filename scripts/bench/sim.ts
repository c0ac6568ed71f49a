/**
 * The simulator: control steps per second without pixels, milliseconds per view, and what the bridge adds to the motions of
 * pick-and-place, beside the same world stepped inside one process in the same run, round by round in turns.
 * `npm run bench:sim -- [--seed N] [--check]`
 *
 * @module
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline/promises";
import { parseArgs } from "node:util";
import { SimBackend } from "../../backends/sim/launch.js";
import type { Motion } from "../../src/contract/generated/device.js";
import { packageFile } from "../../src/contract/package-root.js";
import { requestCodec } from "../../src/contract/wire/device-codec.js";
import { PrivilegedClient } from "../../src/evaluation/privileged-client.js";
import { DeviceClient } from "../../src/runtime/device/device-client.js";
import { loadOperations } from "../../src/runtime/required-skills.js";
import { playOracle } from "./r1-oracle.js";

const GOALS = { steps_per_s: 1000, bridge_percent: 5 } as const;
const STEPS = 5_000;
const ROUNDS = 10;

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** The Execute groups of one oracle episode, as they went over the wire. */
async function recordGroups(sim: SimBackend, privileged: PrivilegedClient, seed: number): Promise<Motion[][]> {
  const groups: Motion[][] = [];
  const result = await playOracle(sim, privileged, await loadOperations(), seed, ({ verb, request }) => {
    if (verb === "execute") groups.push(requestCodec.decode(request).execute?.motions ?? []);
  });
  if (!result.success)
    throw new Error(`the oracle failed on seed ${seed} (${result.failure_kind}): choose another seed`);
  return groups;
}

/** Wall seconds that the groups take over the bridge: from each Execute to the Advance that saw it end. */
async function playBridged(
  sim: SimBackend,
  privileged: PrivilegedClient,
  seed: number,
  groups: readonly Motion[][],
): Promise<number> {
  await privileged.reset({ task: "r1", seed });
  const device = await DeviceClient.connect({ ...sim.addresses, role: "CONTROLLER", client: "bench/sim" });
  let total_ms = 0;
  for (const motions of groups) {
    const began = performance.now();
    const { group } = await device.execute({ stop_epoch: device.stopEpoch, motions });
    for (let active = true; active; ) {
      const { state } = await device.advance({ until_s: device.time_s + 0.5 });
      active = state?.groups.find((entry) => entry.group === group)?.active ?? false;
    }
    total_ms += performance.now() - began;
  }
  await device.bye();
  return total_ms / 1e3;
}

type Figures = {
  steps_per_s: { holding: number; moving: number };
  view_ms: Record<string, number>;
  renderer: string;
};

/** The same world in a process of its own, without a bridge. */
function startAlone(seed: number, groups: readonly Motion[][]) {
  const child = spawn(
    packageFile(".venvs", "twin", "bin", "python"),
    [packageFile("scripts", "bench", "sim_inprocess.py")],
    {
      env: { ...process.env, PYTHONPATH: packageFile("backends", "sim", "server") },
      stdio: ["pipe", "pipe", "inherit"],
    },
  );
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  child.stdin.write(`${JSON.stringify({ seed, groups, steps: STEPS })}\n`);
  const ask = async (word: "play" | "measure"): Promise<unknown> => {
    child.stdin.write(`${word}\n`);
    const { value, done } = await lines.next();
    if (done) throw new Error("the world in one process ended; its words are above");
    return JSON.parse(value);
  };
  return {
    play: () => ask("play") as Promise<number>,
    measure: () => ask("measure") as Promise<Figures>,
    end: () => child.stdin.end(),
  };
}

const { values } = parseArgs({
  options: { seed: { type: "string", default: "3" }, check: { type: "boolean", default: false } },
});
const seed = Number(values.seed);
const sim = await SimBackend.spawn({ privileged: true });
const privileged = await PrivilegedClient.connect(sim.privileged!);
try {
  const groups = await recordGroups(sim, privileged, seed);
  const alone = startAlone(seed, groups);
  const [alone_walls, bridged_walls]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    alone_walls.push(await alone.play());
    bridged_walls.push(await playBridged(sim, privileged, seed, groups));
  }
  const figures = await alone.measure();
  alone.end();
  const [alone_s, bridged_s] = [median(alone_walls), median(bridged_walls)];
  const cost = 100 * (bridged_s / alone_s - 1);
  console.log(
    `control steps of 20 ms per second, one core, no pixels: ${figures.steps_per_s.holding.toFixed(0)} holding, ${figures.steps_per_s.moving.toFixed(0)} moving`,
  );
  console.log(
    `milliseconds per 640x480 stereo view (${figures.renderer}): ${Object.entries(figures.view_ms)
      .map(([view, ms]) => `${view} ${ms.toFixed(1)}`)
      .join(", ")}`,
  );
  console.log(
    `${groups.length} Execute groups of seed ${seed}: ${alone_s.toFixed(3)} s in one process, ${bridged_s.toFixed(3)} s over the bridge (${cost >= 0 ? "+" : ""}${cost.toFixed(1)} %)`,
  );
  const slowest = Math.min(figures.steps_per_s.holding, figures.steps_per_s.moving);
  const met = slowest >= GOALS.steps_per_s && cost <= GOALS.bridge_percent;
  console.log(
    `sim: goal ${met ? "met" : "missed"} (${slowest.toFixed(0)} steps/s of ${GOALS.steps_per_s}, bridge ${cost.toFixed(1)} % of at most ${GOALS.bridge_percent} %)`,
  );
  if (values.check && !met) process.exitCode = 1;
} finally {
  privileged.close();
  await sim.close();
}
