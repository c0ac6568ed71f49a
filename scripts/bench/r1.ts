/**
 * Pick-and-place over seeds: the library Proposer, beside an oracle that reads the true state and a program that never looks.
 * `npm run bench:r1 -- [--seeds A..B]... [--oracle A..B] [--blind A..B] [--check]`
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { SimBackend } from "../../backends/sim/launch.js";
import { packageFile } from "../../src/contract/package-root.js";
import type { EpisodeSpec } from "../../src/evaluation/episode-worker.js";
import { type EvalSummary, summarize } from "../../src/evaluation/eval-summary.js";
import { evaluateSeeds } from "../../src/evaluation/evaluate.js";
import { PrivilegedClient } from "../../src/evaluation/privileged-client.js";
import { wilson95 } from "../../src/evaluation/wilson.js";
import { loadOperations } from "../../src/runtime/required-skills.js";
import { benchSettings } from "./bench-settings.js";
import { playOracle } from "./r1-oracle.js";

const GOALS = { library: 0.95, oracle: 0.99, blind: 0.05, wall_s: 8 } as const;

type Range = { from: number; to: number };
function range(words: string): Range {
  const match = /^(\d+)\.\.(\d+)$/.exec(words);
  if (!match) throw new Error(`seeds "${words}": give a range A..B`);
  return { from: Number(match[1]), to: Number(match[2]) };
}

/** All of the bench, its children included, on one processor, as the goal is stated. */
function onOneCore(): void {
  const mask = spawnSync("taskset", ["-cp", "0", String(process.pid)]);
  if (mask.status !== 0) console.log("taskset is not to be had: episodes may use more than one processor");
}

const words = (summary: EvalSummary): string =>
  `${summary.success.count}/${summary.seeds.count} (${(100 * summary.success.rate).toFixed(1)} %, 95 % ${(100 * summary.success.wilson95[0]).toFixed(1)} to ${(100 * summary.success.wilson95[1]).toFixed(1)}), ${summary.false_claims} false claims, ${summary.infrastructure.count} infrastructure, mean ${summary.wall_s.mean.toFixed(2)} s, p95 ${summary.wall_s.p95.toFixed(2)} s, failures ${JSON.stringify(summary.failures)}`;

async function play(
  name: string,
  proposer: EpisodeSpec["proposer"],
  seeds: Range,
  folder: string,
): Promise<EvalSummary> {
  const spec = {
    task: "r1",
    proposer,
    settings: benchSettings(),
  };
  const results = await evaluateSeeds({
    spec,
    seeds,
    campaign: `${name}-${seeds.from}`,
    workers: 1,
    runsFolder: folder,
    onResult: (result, done, total) => {
      if (result.success !== true)
        console.log(
          `  ${name} seed ${result.seed}: ${result.infrastructure ?? result.failure_kind} (claimed ${result.claim}; ${result.evidence.slice(0, 160)})`,
        );
      if (done % 10 === 0) console.log(`  ${name} ${done}/${total}`);
    },
  });
  const summary = summarize("r1", "sim", name, seeds, results);
  console.log(`${name} ${seeds.from}..${seeds.to}: ${words(summary)}`);
  return summary;
}

async function oracle(seeds: Range): Promise<{ count: number; total: number }> {
  const sim = await SimBackend.spawn({ privileged: true });
  const privileged = await PrivilegedClient.connect(sim.privileged!);
  const operations = await loadOperations();
  const total = seeds.to - seeds.from + 1;
  let count = 0;
  try {
    for (let seed = seeds.from; seed <= seeds.to; seed++) {
      const result = await playOracle(sim, privileged, operations, seed);
      if (result.success) count += 1;
      else console.log(`  oracle seed ${seed}: ${result.failure_kind}`);
    }
  } finally {
    privileged.close();
    await sim.close();
  }
  const [low, high] = wilson95(count, total);
  console.log(
    `oracle ${seeds.from}..${seeds.to}: ${count}/${total} (95 % ${(100 * low).toFixed(1)} to ${(100 * high).toFixed(1)})`,
  );
  return { count, total };
}

const { values } = parseArgs({
  options: {
    seeds: { type: "string", multiple: true, default: ["1000..1099"] },
    oracle: { type: "string", default: "1000..1099" },
    blind: { type: "string", default: "1000..1019" },
    check: { type: "boolean", default: false },
  },
});
onOneCore();
const folder = mkdtempSync(join(tmpdir(), "bench-r1-"));
try {
  const library: EvalSummary[] = [];
  for (const seeds of values.seeds)
    library.push(await play("library", { kind: "library", library: "starter" }, range(seeds), folder));
  const known = await oracle(range(values.oracle));
  const source = readFileSync(packageFile("scripts", "bench", "r1-blind.program.ts"), "utf8");
  const blind = await play(
    "blind",
    { kind: "script", source, fileName: "r1-blind.program.ts" },
    range(values.blind),
    folder,
  );
  const met =
    library.every(
      (summary) =>
        summary.success.rate >= GOALS.library &&
        summary.wall_s.mean <= GOALS.wall_s &&
        summary.infrastructure.count === 0,
    ) &&
    known.count / known.total >= GOALS.oracle &&
    blind.success.rate <= GOALS.blind;
  const figures = [
    ...library.map(
      (summary) => `library ${(100 * summary.success.rate).toFixed(1)} % in ${summary.wall_s.mean.toFixed(2)} s`,
    ),
    `oracle ${((100 * known.count) / known.total).toFixed(1)} %`,
    `blind ${(100 * blind.success.rate).toFixed(1)} %`,
  ];
  console.log(`r1: goal ${met ? "met" : "missed"} (${figures.join(", ")})`);
  if (values.check && !met) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
