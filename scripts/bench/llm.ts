/**
 * A real, very small language model end to end: it cannot solve the task, and must fail cleanly. Prints the size of its prompt
 * against its context and what happened at each stage. `npm run bench:llm -- [--episodes N] [--check]`
 *
 * @module
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { CASSETTE_FILE } from "../../src/agents/exchanges/cassette.js";
import { modelSettingsSchema } from "../../src/agents/llm/settings.js";
import { ending } from "../../src/agents/llm/stage-messages.js";
import type { StageRecord } from "../../src/agents/proposer.js";
import { packageFile } from "../../src/contract/package-root.js";
import { accountLines } from "../../src/evaluation/episode-result.js";
import { EpisodeWorker, runPath } from "../../src/evaluation/episode-worker.js";
import { Recording } from "../../src/runtime/recording/recording.js";
import { TRACE_FILE } from "../../src/runtime/trace/mcap-trace.js";

const CONTEXT = 16_384;
const { values } = parseArgs({
  options: { episodes: { type: "string", default: "5" }, check: { type: "boolean", default: false } },
});

const shim = spawn(
  process.execPath,
  [packageFile("tests", "support", "llama-shim.mjs"), packageFile(".deps", "llm"), String(CONTEXT)],
  { stdio: ["pipe", "pipe", "inherit"] },
);
const port = await new Promise<number>((resolve, reject) => {
  createInterface({ input: shim.stdout }).once("line", (line) => resolve((JSON.parse(line) as { port: number }).port));
  shim.once("exit", (code) => reject(new Error(`the model's server ended (exit ${code})`)));
});

const runs = mkdtempSync(join(tmpdir(), "s2r-bench-llm-"));
const worker = new EpisodeWorker({ runsFolder: runs });
const model = modelSettingsSchema.parse({
  base_url: `http://127.0.0.1:${port}/v1`,
  model: "SmolLM2-135M-Instruct",
  pack: "minimal",
  images: false,
  tools: "off",
  context_tokens: CONTEXT,
  max_tokens: 160,
  timeout_s: 900,
  idle_s: 200,
  retries: 0,
  budget_calls: 4,
});
let unclean = 0;
let motionless = 0;
try {
  for (let seed = 0; seed < Number(values.episodes); seed += 1) {
    const result = await worker.play({
      task: "r1",
      seed,
      proposer: { kind: "llm", model, task_text: "" },
      settings: {
        motion: {},
        perception: {},
        quotas: {},
        budgets: { max_stages: 2, max_wall_s: 1800 },
        skills: { paths: [], enable: ["pointing"], disable: [] },
      },
    });
    console.log(
      `episode ${seed}: ${result.instruction}\n  ${result.outcome}, claim ${result.claim ?? "none"}, ${result.success ? "success" : "no success"}: ${result.infrastructure ?? result.evidence}`,
    );
    for (const line of accountLines(result)) console.log(`  ${line}`);
    if (result.infrastructure !== null) {
      unclean += 1;
      continue;
    }
    const [, first] = readFileSync(runPath(runs, result.run, CASSETTE_FILE), "utf8").split("\n");
    const usage = first ? (JSON.parse(first) as { usage: { tokens_in: number } }).usage : null;
    if (usage) console.log(`  first prompt ${usage.tokens_in} tokens of ${CONTEXT}`);
    const stages = JSON.parse(readFileSync(runPath(runs, result.run, "stages.json"), "utf8")) as StageRecord[];
    for (const stage of stages.slice(1))
      console.log(`  stage ${stage.stage}: ${ending(stage).split("\n").slice(0, 2).join(" ")}`);
    // What did not pass its check moved nothing: the device's own log says so.
    const refused = stages.slice(1).every(({ end }) => end.kind === "refused");
    const moved = (await Recording.open(runPath(runs, result.run, TRACE_FILE))).exchanges.filter(
      ({ verb }) => verb === "execute",
    ).length;
    if (refused && moved > 0) unclean += 1;
    if (refused && moved === 0) motionless += 1;
  }
} finally {
  await worker.close();
  shim.stdin.end();
  rmSync(runs, { recursive: true, force: true });
}
const met = unclean === 0;
console.log(
  `llm: goal ${met ? "met" : "missed"} (${values.episodes} episodes, ${unclean} that did not fail cleanly; ${motionless} without one program that passed its check, and without motion)`,
);
if (values.check && !met) process.exitCode = 1;
