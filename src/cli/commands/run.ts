import { existsSync } from "node:fs";
import type { Command } from "commander";
import { Skill2RealError } from "../../contract/errors.js";
import { contactSheet } from "../../evaluation/contact-sheet.js";
import { type EpisodeResult, outcomeWords } from "../../evaluation/episode-result.js";
import { EpisodeWorker, runPath } from "../../evaluation/episode-worker.js";
import { RunsIndex } from "../../evaluation/runs-index.js";
import { TRACE_FILE } from "../../runtime/trace/mcap-trace.js";
import { EXIT } from "../exit-codes.js";
import { formatStage } from "../format-stage.js";
import { onInterrupt } from "../interrupt.js";
import { noteBackend } from "../live-backends.js";
import type { Ended } from "../main.js";
import { type CommonOptions, commandConfig, episodeSettings, proposerOf, seedRange, taskOf } from "../settings.js";

type RunOptions = CommonOptions & {
  task?: string;
  seed: string;
  instruction?: string;
  watch: boolean;
  json: boolean;
  proposer: string;
};

/** The exit code of a played episode. */
function codeOf(result: EpisodeResult, interrupted: boolean): number {
  if (interrupted || result.outcome === "stopped") return EXIT.interrupted;
  if (result.infrastructure !== null)
    return result.infrastructure.startsWith("storage_failed") ? EXIT.storage : EXIT.infrastructure;
  if (result.success === null) return result.claim === "supported" ? EXIT.ok : EXIT.failed;
  return result.success ? EXIT.ok : EXIT.failed;
}

export function addRun(program: Command, ended: Ended): void {
  program
    .command("run")
    .description("play one episode: a task with a seed, which is judged, or an instruction in your own words")
    .option("--task <name>", "task family (r1)")
    .option("--seed <number>", "seed of the task's world", "7")
    .option("--instruction <words>", "what to do, in words; nobody judges it")
    .option("--proposer <kind>", "library, library:FOLDER or script:FILE", "library")
    .option("--backend <kind>", "sim", "sim")
    .option("--realtime <rate>", "simulated seconds per second of wall time; 0: as fast as it can", Number)
    .option("--watch", "play in real time and print each call as it ends", false)
    .option("--runs <folder>", "folder of runs")
    .option("--config <file>", "configuration file (default: skill2real.toml here, if there is one)")
    .option("--json", "print the result as one JSON object", false)
    .action(async (options: RunOptions) => {
      if (options.task === undefined && options.instruction === undefined)
        throw new Skill2RealError("usage", "say what to play: --task r1 --seed N, or --instruction WORDS");
      if (options.task !== undefined && options.instruction !== undefined)
        throw new Skill2RealError("usage", "--task brings its own instruction: give one of --task and --instruction");
      const config = commandConfig({
        ...options,
        ...(options.watch && options.realtime === undefined ? { realtime: 1 } : {}),
      });
      if (config.backend.kind !== "sim")
        throw new Skill2RealError(
          "usage",
          `backend "${config.backend.kind}" cannot be run from here; "sim" can, and "skill2real replay RUN" plays a recorded episode`,
        );
      const spec = {
        task: taskOf(options.task ?? "r1"),
        seed: seedRange(options.seed).from,
        ...(options.instruction ? { instruction: options.instruction } : {}),
        proposer: proposerOf(options.proposer),
        settings: episodeSettings(config),
      };
      const folder = config.runs.folder;
      const say = (line: string): void => void process.stderr.write(`${line}\n`);
      const worker = new EpisodeWorker({
        runsFolder: folder,
        realtime: config.backend.realtime,
        onStage: (stage) => say(formatStage(stage)),
        ...(options.watch
          ? {
              onCall: (call) =>
                say(`    ${call.end_s.toFixed(2).padStart(7)} s  ${call.operation.padEnd(28)} ${call.status}`),
            }
          : {}),
      });
      const interrupt = onInterrupt((reason) => worker.stop(reason));
      const forget: (() => void)[] = [];
      try {
        const index = RunsIndex.open(folder);
        await worker.start();
        for (const note of worker.isolationNotes) say(`note: ${note}`);
        if (worker.addresses) forget.push(noteBackend(worker.addresses));
        const result = await worker.play(spec);
        index.add(result);
        index.close();
        const sheet = await contactSheet(folder, result.run);
        if (options.json) process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
        else printResult(result, folder, sheet);
        ended(codeOf(result, interrupt.interrupted()));
      } finally {
        for (const remove of forget) remove();
        interrupt.dispose();
        await worker.close();
      }
    });
}

function printResult(result: EpisodeResult, folder: string, sheet: string | null): void {
  process.stdout.write(
    [
      `instruction    ${result.instruction}`,
      `result         ${outcomeWords(result)}`,
      `claim          ${result.claim ?? "none"}${result.evidence ? `: ${result.evidence}` : ""}`,
      ...result.predicates.map(
        ({ name, holds, measure, unit, limit }) =>
          `  ${holds ? "holds " : "FAILS "} ${name.padEnd(24)} ${measure.toFixed(4)} ${unit} (limit ${limit})`,
      ),
      `time           ${result.device_time_s.toFixed(1)} s of robot time in ${result.wall_s.toFixed(1)} s, ${result.stages} stages, ${result.calls} calls`,
      ...(existsSync(runPath(folder, result.run, TRACE_FILE))
        ? [`trace          ${runPath(folder, result.run, TRACE_FILE)}`]
        : []),
      ...(sheet ? [`contact sheet  ${sheet}`] : []),
      "",
    ].join("\n"),
  );
}
