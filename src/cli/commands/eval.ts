import cliProgress from "cli-progress";
import Table from "cli-table3";
import type { Command } from "commander";
import { Skill2RealError } from "../../contract/errors.js";
import { IMPLEMENTATION_DIGEST } from "../../contract/generated/implementation-digest.js";
import { proposerName } from "../../evaluation/episode-result.js";
import { type EvalSummary, type ModelTotals, summarize } from "../../evaluation/eval-summary.js";
import { campaignName, evaluateSeeds } from "../../evaluation/evaluate.js";
import { EXIT } from "../exit-codes.js";
import { onInterrupt } from "../interrupt.js";
import type { Ended } from "../main.js";
import { nativeWorld, rigOf } from "../rigs.js";
import { type CommonOptions, commandConfig, probedSettings, proposerOf, seedRange, taskOf } from "../settings.js";

type EvalOptions = CommonOptions & {
  task: string;
  seeds: string;
  workers: number;
  campaign?: string;
  again: boolean;
  json: boolean;
  proposer?: string;
};

export function addEval(program: Command, ended: Ended): void {
  program
    .command("eval")
    .description(
      "play a range of seeds and count: success with its Wilson interval, failures by kind, infrastructure apart",
    )
    .requiredOption("--task <name>", "task family (r1)")
    .requiredOption("--seeds <A..B>", "first and last seed")
    .option("--workers <count>", "episodes at a time, each with a simulator of its own", Number, 1)
    .option("--proposer <kind>", "library, library:FOLDER, script:FILE or llm (default: as configured)")
    .option("--backend <kind>", "sim, or native: the emulated rig, in real time")
    .option(
      "--campaign <name>",
      "name under which results are kept; the same name goes on where it was left (default: from what is played)",
    )
    .option("--again", "play every seed again", false)
    .option("--runs <folder>", "folder of runs")
    .option("--config <file>", "configuration file")
    .option("--json", "print one JSON object", false)
    .action(async (options: EvalOptions) => {
      if (!Number.isInteger(options.workers) || options.workers < 1 || options.workers > 64)
        throw new Skill2RealError("usage", `--workers ${options.workers}: give a whole number from 1 to 64`);
      const config = commandConfig(options);
      const seeds = seedRange(options.seeds);
      const spec = {
        task: taskOf(options.task),
        proposer: proposerOf(options.proposer, config),
        settings: await probedSettings(config),
      };
      if (config.backend.kind === "replay")
        throw new Skill2RealError("usage", 'a recorded episode is played with "skill2real replay RUN"');
      const named = config.backend.kind === "native" ? rigOf(options) : null;
      if (named && !named.emulated)
        throw new Skill2RealError(
          "usage",
          `the rig "${named.name}" is real: nobody puts seeds on it or judges it. Evaluations run on --rig emulated`,
        );
      const campaign =
        options.campaign ?? campaignName(spec, named ? "native" : config.backend.realtime, IMPLEMENTATION_DIGEST);
      const aborter = new AbortController();
      const interrupt = onInterrupt(async () => aborter.abort());
      const total = seeds.to - seeds.from + 1;
      const bar = process.stderr.isTTY
        ? new cliProgress.SingleBar({
            stream: process.stderr,
            format: "{bar} {value}/{total}  {good} succeeded  {eta_formatted} left",
          })
        : null;
      bar?.start(total, 0, { good: 0 });
      let good = 0;
      try {
        const results = await evaluateSeeds({
          spec,
          seeds,
          campaign,
          workers: options.workers,
          again: options.again,
          runsFolder: config.runs.folder,
          realtime: config.backend.realtime,
          ...(named ? { world: nativeWorld(named, 1, { runsFolder: config.runs.folder }) } : {}),
          signal: aborter.signal,
          onResult: (result, done) => {
            if (result.success) good += 1;
            if (bar) bar.update(done, { good });
            else
              process.stderr.write(
                `seed ${result.seed}: ${result.infrastructure ?? (result.success ? "success" : `failure (${result.failure_kind ?? result.outcome})`)} in ${result.wall_s.toFixed(1)} s (${done}/${total}, ${good} succeeded)\n`,
              );
          },
        });
        bar?.stop();
        const summary = summarize(options.task, config.backend.kind, proposerName(spec.proposer), seeds, results);
        process.stdout.write(options.json ? `${JSON.stringify(summary, null, 2)}\n` : `${formatSummary(summary)}\n`);
        if (interrupt.interrupted()) {
          process.stderr.write("interrupted: the same command goes on where this one stopped\n");
          ended(EXIT.interrupted);
        } else if (summary.infrastructure.count > 0) ended(EXIT.infrastructure);
      } finally {
        bar?.stop();
        interrupt.dispose();
      }
    });
}

function totalWords({ calls, tokens_in, tokens_out, cost, troubles }: ModelTotals): string {
  const kinds = Object.entries(troubles).map(([code, times]) => `\n${code}: ${times}`);
  return `${calls} replies, ${tokens_in} tokens read and ${tokens_out} written${cost === null ? "" : `, cost ${cost.toFixed(4)}`}${kinds.join("")}`;
}

function formatSummary(summary: EvalSummary): string {
  const { success, seeds, wall_s, failures, infrastructure, false_claims } = summary;
  const percent = (value: number): string => `${(100 * value).toFixed(1)} %`;
  const table = new Table({ style: { head: [], border: [] } });
  table.push(
    ["task, backend, proposer", `${summary.task}, ${summary.backend}, ${summary.proposer}`],
    ["seeds", `${seeds.from}..${seeds.to}, ${seeds.count} judged`],
    [
      "success",
      `${success.count}/${seeds.count} = ${percent(success.rate)} (95 % Wilson ${percent(success.wilson95[0])} to ${percent(success.wilson95[1])})`,
    ],
    ["false claims", String(false_claims)],
    [
      "failures",
      Object.entries(failures)
        .map(([kind, count]) => `${kind}: ${count}`)
        .join("\n") || "none",
    ],
    [
      "infrastructure failures",
      infrastructure.count === 0
        ? "none"
        : Object.entries(infrastructure.kinds)
            .map(([kind, count]) => `${kind}: ${count}`)
            .join("\n"),
    ],
    ["wall time per episode", `mean ${wall_s.mean.toFixed(2)} s, p95 ${wall_s.p95.toFixed(2)} s`],
  );
  if (summary.model) table.push(["model", totalWords(summary.model)]);
  if (summary.services) table.push(["vision model of services", totalWords(summary.services)]);
  return table.toString();
}
