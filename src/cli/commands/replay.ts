import { existsSync } from "node:fs";
import type { Command } from "commander";
import { Skill2RealError } from "../../contract/errors.js";
import { runPath } from "../../evaluation/episode-worker.js";
import { replayEpisode } from "../../evaluation/replay-episode.js";
import { RunsIndex } from "../../evaluation/runs-index.js";
import { TRACE_FILE } from "../../runtime/trace/mcap-trace.js";
import { EXIT } from "../exit-codes.js";
import { formatStage } from "../format-stage.js";
import { onInterrupt } from "../interrupt.js";
import type { Ended } from "../main.js";
import { commandConfig } from "../settings.js";

type ReplayOptions = { runs?: string; config?: string; json: boolean };

/** The recording that is meant: a run by its name, the newest one, or a file. */
function recordingOf(name: string, options: ReplayOptions): string {
  if (name.endsWith(".mcap")) return name;
  const folder = commandConfig(options).runs.folder;
  const direct = runPath(folder, name, TRACE_FILE);
  if (/^[A-Za-z0-9._-]+$/.test(name) && name !== "last" && existsSync(direct)) return direct;
  const index = RunsIndex.open(folder, { mustExist: true });
  const run = (name === "last" ? index.list(1)[0] : index.get(name))?.run;
  index.close();
  if (run === undefined)
    throw new Skill2RealError("not_found", `there is no run "${name}" in ${folder}: "skill2real runs" lists them`);
  return runPath(folder, run, TRACE_FILE);
}

export function addReplay(program: Command, ended: Ended): void {
  program
    .command("replay")
    .description(
      "play a recorded episode's programs again on what its backend answered, and say where anything differs",
    )
    .argument("<run>", 'name of a run as "skill2real runs" lists it, "last", or an .mcap file')
    .option("--runs <folder>", "folder of runs")
    .option("--config <file>", "configuration file")
    .option("--json", "print the result as one JSON object", false)
    .action(async (name: string, options: ReplayOptions) => {
      const recording = recordingOf(name, options);
      const aborter = new AbortController();
      const interrupt = onInterrupt(async () => aborter.abort());
      try {
        const result = await replayEpisode({
          recording,
          onStage: (stage) => process.stderr.write(`${formatStage(stage)}\n`),
          signal: aborter.signal,
        });
        if (interrupt.interrupted()) return ended(EXIT.interrupted);
        const { divergence, stages, calls, images, ends_early } = result;
        const counts = `${stages} stages, ${calls} calls, ${images} pictures`;
        const words =
          divergence === null
            ? `identical: ${counts}${ends_early ? ", up to where the recording ends" : ""}`
            : `diverged after ${counts}: ${divergence}`;
        process.stdout.write(options.json ? `${JSON.stringify({ recording, ...result }, null, 2)}\n` : `${words}\n`);
        if (divergence !== null) ended(EXIT.failed);
      } finally {
        interrupt.dispose();
      }
    });
}
