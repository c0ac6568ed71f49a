/**
 * Pick-and-place in real time through every real protocol: the library Proposer on the native backend, over the emulated rig.
 * `npm run bench:hil -- [--seeds A..B] [--json FILE] [--check]`
 *
 * Goal: at least 90 % of the seeds. An episode that the infrastructure failed (the backend was lost, a process died) is played
 * once more and counted apart. Each failure is explained by what the episode said and by the last words of the rig's parts.
 * The last line says whether the goal is met; with --check the exit code does too.
 *
 * @module
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { seedRange } from "../../src/cli/settings.js";
import { type EpisodeResult, isFalseClaim } from "../../src/evaluation/episode-result.js";
import { EpisodeWorker } from "../../src/evaluation/episode-worker.js";
import { EmulatedRigWorld } from "../../src/evaluation/rig-world.js";
import { wilson95 } from "../../src/evaluation/wilson.js";
import { benchSettings } from "./bench-settings.js";

const GOAL = 0.9;
/** A machine that was too busy for a moment says nothing about the rig; one that always is does. */
const TRIES = 2;
const WORDS_KEPT = 6;

type Played = { result: EpisodeResult; tries: number; load: number; words: string[] };

/** What the rig's parts say that is no failure. */
const IDLE_WORDS = /the plant was reset|listening|ready/;

function explained({ result, words }: Played): string {
  const cause = result.infrastructure ?? result.failure_kind ?? result.outcome;
  const broken = result.predicates.filter(({ holds }) => !holds);
  const measures = broken.map(({ name, measure, unit, limit }) => `${name} ${measure.toFixed(4)} ${unit} (${limit})`);
  const said = words.filter((line) => !IDLE_WORDS.test(line)).slice(-WORDS_KEPT);
  return [cause, ...measures, `claimed ${result.claim ?? "nothing"}: ${result.evidence}`, ...said]
    .map((line) => line.replaceAll("\n", " ").slice(0, 300))
    .join("\n      ");
}

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "2000..2019" },
    json: { type: "string" },
    check: { type: "boolean", default: false },
  },
});
const seeds = seedRange(values.seeds);
const folder = mkdtempSync(join(tmpdir(), "bench-hil-"));
let words: string[] = [];
const worker = new EpisodeWorker({
  runsFolder: folder,
  world: () =>
    new EmulatedRigWorld({ flightFolder: join(folder, "flight"), onLog: (line) => void words.push(line.trimEnd()) }),
});

async function play(seed: number): Promise<Played> {
  for (let tries = 1; ; tries += 1) {
    words = [];
    const result = await worker.play({
      task: "r1",
      seed,
      proposer: { kind: "library", library: "starter" },
      settings: benchSettings(),
    });
    const played = { result, tries, load: loadavg()[0] ?? Number.NaN, words };
    if (result.infrastructure === null || tries === TRIES) return played;
    console.log(`  seed ${seed}, played again: ${explained(played)}`);
  }
}

const all: Played[] = [];
try {
  console.log("   seed  result     robot time  wall time  load");
  for (let seed = seeds.from; seed <= seeds.to; seed += 1) {
    const played = await play(seed);
    all.push(played);
    const { result, load } = played;
    const name = result.infrastructure !== null ? "not played" : result.success ? "success" : "failure";
    console.log(
      `${String(seed).padStart(7)}  ${name.padEnd(10)} ${result.device_time_s.toFixed(1).padStart(8)} s ${result.wall_s.toFixed(1).padStart(8)} s ${load.toFixed(1).padStart(5)}`,
    );
    if (result.success !== true) console.log(`      ${explained(played)}`);
  }
} finally {
  await worker.close();
  rmSync(folder, { recursive: true, force: true });
}
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(all, null, 1)}\n`);

const judged = all.filter(({ result }) => result.infrastructure === null);
const count = judged.filter(({ result }) => result.success === true).length;
const again = all.reduce((sum, { tries }) => sum + tries - 1, 0);
const false_claims = judged.filter(({ result }) => isFalseClaim(result)).length;
const [low, high] = wilson95(count, judged.length);
const rate = judged.length === 0 ? 0 : count / judged.length;
const figures = [
  `${count} of ${judged.length} seeds, ${(100 * rate).toFixed(1)} %, 95 % interval ${(100 * low).toFixed(1)} to ${(100 * high).toFixed(1)}, at least ${100 * GOAL} % asked`,
  `${false_claims} false claims`,
  `${all.length - judged.length} seeds failed by the infrastructure twice, ${again} episodes played again`,
];
const met = rate >= GOAL && judged.length === all.length;
console.log(`hil: goal ${met ? "met" : "missed"} (${figures.join("; ")})`);
process.exit(values.check && !met ? 1 : 0);
