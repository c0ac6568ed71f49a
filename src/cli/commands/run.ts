import { existsSync, readFileSync } from "node:fs";
import type { Command } from "commander";
import type { OperatorAddress } from "../../../backends/native/operator.js";
import { CASSETTE_FILE, cassetteHeader, isTorn } from "../../agents/exchanges/cassette.js";
import type { EpisodeRequest } from "../../agents/host/messages.js";
import { TOOLS_SKILL } from "../../agents/optional-skills.js";
import { vlmRoles } from "../../agents/services/settings.js";
import type { Config } from "../../config/index.js";
import { type Lock, parseLock } from "../../config/lock/lock.js";
import { Skill2RealError } from "../../contract/errors.js";
import { contactSheet } from "../../evaluation/contact-sheet.js";
import { accountLines, type EpisodeResult, endedByItself, outcomeWords } from "../../evaluation/episode-result.js";
import { type EpisodeSpec, EpisodeWorker, runPath } from "../../evaluation/episode-worker.js";
import { KeptRun } from "../../evaluation/kept-stages.js";
import { RunsIndex } from "../../evaluation/runs-index.js";
import { TRACE_FILE } from "../../runtime/trace/mcap-trace.js";
import { EXIT } from "../exit-codes.js";
import { formatStage } from "../format-stage.js";
import { onInterrupt } from "../interrupt.js";
import { noteBackend } from "../live-backends.js";
import type { Ended } from "../main.js";
import { noteOperator } from "../operator-notes.js";
import { resumedRun } from "../resumed-run.js";
import { addRigOptions, chooseNative, type NativeChoice, type RigOptions, rigOf, slowed } from "../rigs.js";
import { commandConfig, probedSettings, proposerOf, seedRange, taskOf } from "../settings.js";

type RunOptions = RigOptions & {
  task?: string;
  seed?: string;
  instruction?: string;
  watch: boolean;
  json: boolean;
  proposer?: string;
  locked?: string;
  replay?: string;
  strict: boolean;
  resume?: string;
};

/** The exit code of a played episode. */
function codeOf(result: EpisodeResult, interrupted: boolean): number {
  if (interrupted || result.outcome === "stopped") return EXIT.interrupted;
  if (result.infrastructure !== null)
    return result.infrastructure.startsWith("storage_failed") ? EXIT.storage : EXIT.infrastructure;
  if (result.success === null) return result.claim === "supported" ? EXIT.ok : EXIT.failed;
  return result.success ? EXIT.ok : EXIT.failed;
}

function readLock(file: string): Lock {
  if (!existsSync(file)) throw new Skill2RealError("not_found", `there is no lock ${file}`);
  return parseLock(readFileSync(file, "utf8"), file);
}

/** The cassette of an earlier run that answers in place of models and services, where one is named. */
function cassetteOf(
  proposer: EpisodeRequest["proposer"],
  { services, skills }: Config,
  { replay, strict }: Pick<RunOptions, "replay" | "strict">,
  folder: string,
): Pick<EpisodeSpec, "replay" | "refKey"> {
  if (replay === undefined) return {};
  if (proposer.kind !== "llm" && vlmRoles(services).length === 0 && !skills.enable.includes(TOOLS_SKILL))
    throw new Skill2RealError(
      "usage",
      `--replay answers in place of models, and neither is the proposer ("${proposer.kind}") one nor is a service: give --proposer llm`,
    );
  const inRuns = runPath(folder, replay, CASSETTE_FILE);
  const path = existsSync(inRuns) ? inRuns : replay;
  if (!existsSync(path))
    throw new Skill2RealError("not_found", `there is no cassette of a run "${replay}" in ${folder}, and no such file`);
  const cassette = readFileSync(path, "utf8");
  return { replay: { cassette, strict }, refKey: cassetteHeader(cassette).episode_key };
}

export function addRun(program: Command, ended: Ended): void {
  addRigOptions(program.command("run"))
    .description("play one episode: a task with a seed, which is judged, or an instruction in your own words")
    .option("--task <name>", "task family (r1)")
    .option("--seed <number>", "seed of the task's world (default: 7)")
    .option("--instruction <words>", "what to do, in words; nobody judges it")
    .option("--proposer <kind>", "library, library:FOLDER, script:FILE or llm (default: as configured)")
    .option("--realtime <rate>", "simulated seconds per second of wall time; 0: as fast as it can", Number)
    .option("--watch", "play in real time and print each call as it ends", false)
    .option("--locked <file>", "refuse to start where anything differs from this lock")
    .option("--replay <run>", "answer from the cassette of a run in place of the model")
    .option("--strict", "with --replay: compare the pixels of images too", false)
    .option("--resume <run>", 'go on with an interrupted run at the end of its newest whole stage (or "last")')
    .option("--runs <folder>", "folder of runs")
    .option("--config <file>", "configuration file (default: skill2real.toml here, if there is one)")
    .option("--json", "print the result as one JSON object", false)
    .action(async (options: RunOptions) => {
      if (options.resume === undefined && options.task === undefined && options.instruction === undefined)
        throw new Skill2RealError(
          "usage",
          "say what to play: --task r1 --seed N, --instruction WORDS, or --resume RUN",
        );
      if (options.task !== undefined && options.instruction !== undefined)
        throw new Skill2RealError("usage", "--task brings its own instruction: give one of --task and --instruction");
      const config = commandConfig({
        ...options,
        ...(options.watch && options.realtime === undefined ? { realtime: 1 } : {}),
      });
      const folder = config.runs.folder;
      const say = (line: string): void => void process.stderr.write(`${line}\n`);
      const resumed = options.resume === undefined ? null : await resumedRun(options.resume, options, config);
      for (const line of resumed?.words ?? []) say(line);
      const task = resumed ? resumed.task : options.task;
      const native = config.backend.kind === "native" ? await nativeOf({ ...options, task }, folder) : null;
      if (config.backend.kind === "replay")
        throw new Skill2RealError("usage", 'a recorded episode is played with "skill2real replay RUN"');
      const named = options.proposer ?? resumed?.proposer ?? null;
      const proposer = proposerOf(named ?? undefined, config);
      const recorded = cassetteOf(proposer, config, options, folder);
      if (recorded.replay && isTorn(recorded.replay.cassette))
        say("the last line of the cassette was not written to its end and is left out");
      const settings = await probedSettings(
        native ? { ...config, motion: slowed(config.motion, native.speed) } : config,
        recorded.replay && cassetteHeader(recorded.replay.cassette),
      );
      const spec: EpisodeSpec = {
        task: taskOf(options.task ?? "r1"),
        seed: seedRange(options.seed ?? "7").from,
        ...(options.instruction ? { instruction: options.instruction } : {}),
        keep: { proposer: named },
        ...resumed?.spec,
        proposer,
        ...recorded,
        ...(options.locked ? { locked: readLock(options.locked) } : {}),
        settings,
      };
      const forget: (() => void)[] = [];
      const worker = new EpisodeWorker({
        runsFolder: folder,
        realtime: config.backend.realtime,
        ...(native ? { world: native.world } : {}),
        onBackend: (addresses, world) => {
          for (const remove of forget.splice(0)) remove();
          forget.push(noteBackend(addresses));
          if (native && "operator" in world && world.operator)
            forget.push(noteOperator(folder, native.named.name, world.operator as OperatorAddress));
        },
        onRun: (run) => say(`run ${run}`),
        onStage: (stage) => say(formatStage(stage)),
        ...(options.watch
          ? {
              onCall: (call) =>
                say(`    ${call.end_s.toFixed(2).padStart(7)} s  ${call.operation.padEnd(28)} ${call.status}`),
            }
          : {}),
      });
      const interrupt = onInterrupt((reason) => worker.stop(reason));
      try {
        const index = RunsIndex.open(folder);
        await worker.start();
        for (const note of worker.isolationNotes) say(`note: ${note}`);
        const result = await worker.play(spec);
        index.add(result);
        index.close();
        if (endedByItself(result))
          await dropKept(folder, result.run).catch((error: Error) => say(`note: ${error.message}`));
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

const dropKept = async (folder: string, run: string): Promise<void> => (await KeptRun.open(folder, run)).drop();

/** The rig to play on. A real one holds no task's world: it is given words, and a person's agreement. */
async function nativeOf(options: Pick<RunOptions, "task"> & RigOptions, runsFolder: string): Promise<NativeChoice> {
  const { emulated, name } = rigOf(options);
  if (!emulated && options.task !== undefined)
    throw new Skill2RealError(
      "usage",
      `the rig "${name}" is real: nobody puts a task's world on it or judges it. Say what to do with --instruction WORDS`,
    );
  return chooseNative(options, "This episode", { runsFolder });
}

function printResult(result: EpisodeResult, folder: string, sheet: string | null): void {
  process.stdout.write(
    [
      `instruction    ${result.instruction}`,
      ...(result.resumed ? [`resumed        ${result.resumed.run}, at the end of stage ${result.resumed.stage}`] : []),
      `result         ${outcomeWords(result)}`,
      `claim          ${result.claim ?? "none"}${result.evidence ? `: ${result.evidence}` : ""}`,
      ...result.predicates.map(
        ({ name, holds, measure, unit, limit }) =>
          `  ${holds ? "holds " : "FAILS "} ${name.padEnd(24)} ${measure.toFixed(4)} ${unit} (limit ${limit})`,
      ),
      ...accountLines(result),
      `time           ${result.device_time_s.toFixed(1)} s of robot time in ${result.wall_s.toFixed(1)} s, ${result.stages} stages, ${result.calls} calls`,
      ...(existsSync(runPath(folder, result.run, TRACE_FILE))
        ? [`trace          ${runPath(folder, result.run, TRACE_FILE)}`]
        : []),
      ...(sheet ? [`contact sheet  ${sheet}`] : []),
      "",
    ].join("\n"),
  );
}
