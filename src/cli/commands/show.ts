import { existsSync, readFileSync } from "node:fs";
import Table from "cli-table3";
import type { Command } from "commander";
import type { StageRecord } from "../../agents/proposer.js";
import { Skill2RealError } from "../../contract/errors.js";
import { contactSheet } from "../../evaluation/contact-sheet.js";
import { accountLines, outcomeWords } from "../../evaluation/episode-result.js";
import { runPath } from "../../evaluation/episode-worker.js";
import { RunsIndex } from "../../evaluation/runs-index.js";
import { type TraceDigest, traceDigest } from "../../evaluation/trace-digest.js";
import { TRACE_FILE } from "../../runtime/trace/mcap-trace.js";
import { endWords } from "../format-stage.js";
import type { Ended } from "../main.js";
import { commandConfig } from "../settings.js";

export function addShow(program: Command, _ended: Ended): void {
  program
    .command("show")
    .description("show one played episode: a table of stages and calls, and a contact sheet")
    .argument("<run>", 'name of a run as "skill2real runs" lists it, or "last"')
    .option("--runs <folder>", "folder of runs")
    .option("--config <file>", "configuration file")
    .option("--programs", "print the programs too", false)
    .option("--json", "print result and stages as JSON", false)
    .action(
      async (
        name: string,
        { programs, json, ...options }: { programs: boolean; json: boolean; runs?: string; config?: string },
      ) => {
        const folder = commandConfig(options).runs.folder;
        const index = RunsIndex.open(folder, { mustExist: true });
        const result = name === "last" ? index.list(1)[0] : index.get(name);
        index.close();
        if (!result)
          throw new Skill2RealError(
            "not_found",
            `there is no run "${name}" in ${folder}: "skill2real runs" lists them`,
          );
        const stagesPath = runPath(folder, result.run, "stages.json");
        const stages = existsSync(stagesPath) ? (JSON.parse(readFileSync(stagesPath, "utf8")) as StageRecord[]) : [];
        const tracePath = runPath(folder, result.run, TRACE_FILE);
        const trace = existsSync(tracePath) ? await digestOf(tracePath) : null;
        if (json) return void process.stdout.write(`${JSON.stringify({ result, stages, trace }, null, 2)}\n`);
        const table = new Table({ head: ["stage", "time s", "call", "status"], style: { head: [], border: [] } });
        for (const stage of stages) {
          for (const call of stage.calls) table.push([stage.stage, call.end_s.toFixed(2), call.operation, call.status]);
          table.push([{ colSpan: 4, content: `stage ${stage.stage}: ${endWords(stage)}` }]);
        }
        process.stdout.write(`${result.run}: ${result.instruction}\n${table.toString()}\n`);
        if (programs)
          for (const stage of stages)
            if (stage.program !== null) process.stdout.write(`\n// stage ${stage.stage}\n${stage.program}\n`);
        process.stdout.write(
          `outcome ${result.outcome}, claim ${result.claim ?? "none"}, result ${outcomeWords(result)}\n`,
        );
        for (const line of accountLines(result)) process.stdout.write(`${line}\n`);
        if (result.resumed)
          process.stdout.write(`resumed        ${result.resumed.run}, at the end of stage ${result.resumed.stage}\n`);
        const sheet = await contactSheet(folder, result.run);
        process.stdout.write(`trace          ${tracePath}\n`);
        if (trace) process.stdout.write(`trace digest   ${traceWords(trace)}\n`);
        if (sheet) process.stdout.write(`contact sheet  ${sheet}\n`);
      },
    );
}

/** A damaged trace hides nothing else of a run. */
async function digestOf(path: string): Promise<TraceDigest | { not_readable: string }> {
  try {
    return await traceDigest(path);
  } catch (error) {
    return { not_readable: error instanceof Error ? error.message : String(error) };
  }
}

const traceWords = (trace: Awaited<ReturnType<typeof digestOf>>): string =>
  "not_readable" in trace
    ? `not readable (${trace.not_readable})`
    : `${trace.digest}${trace.cut ? " (the trace is cut)" : ""}`;
