import Table from "cli-table3";
import type { Command } from "commander";
import { RunsIndex } from "../../evaluation/runs-index.js";
import type { Ended } from "../main.js";
import { commandConfig } from "../settings.js";

export function addRuns(program: Command, _ended: Ended): void {
  program
    .command("runs")
    .description("list played episodes, newest first")
    .option("--runs <folder>", "folder of runs")
    .option("--config <file>", "configuration file")
    .option("-n, --limit <count>", "how many", Number, 20)
    .option("--json", "print JSON", false)
    .action(({ limit, json, ...options }: { limit: number; json: boolean; runs?: string; config?: string }) => {
      const index = RunsIndex.open(commandConfig(options).runs.folder, { mustExist: true });
      const results = index.list(limit);
      index.close();
      if (json) return void process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
      const table = new Table({
        head: ["run", "task", "seed", "proposer", "outcome", "claim", "success", "stages", "wall s"],
        style: { head: [], border: [] },
      });
      for (const result of results) {
        const success = result.infrastructure
          ? `- (${result.infrastructure.split(":")[0]})`
          : result.success === null
            ? "-"
            : result.success
              ? "yes"
              : `no (${result.failure_kind})`;
        table.push([
          result.run,
          result.task ?? "-",
          result.seed ?? "-",
          result.proposer,
          result.outcome,
          result.claim ?? "-",
          success,
          result.stages,
          result.wall_s.toFixed(1),
        ]);
      }
      process.stdout.write(`${table.toString()}\n`);
    });
}
