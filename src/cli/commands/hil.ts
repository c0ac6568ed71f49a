import { createInterface } from "node:readline/promises";
import Table from "cli-table3";
import { type Command, Option } from "commander";
import { Skill2RealError } from "../../contract/errors.js";
import { ALL_HIL_CHECKS } from "../../evaluation/hil/all-checks.js";
import { type ChosenCheck, chooseChecks } from "../../evaluation/hil/choose-checks.js";
import { countsLine, formatFaultsPage, formatReport } from "../../evaluation/hil/format-report.js";
import { formatJunit } from "../../evaluation/hil/junit.js";
import { HilMcap } from "../../evaluation/hil/mcap-report.js";
import { countOutcomes, readReport, writeText } from "../../evaluation/hil/report.js";
import { runHil, type StepAnswer } from "../../evaluation/hil/run-hil.js";
import { EXIT } from "../exit-codes.js";
import { onInterrupt } from "../interrupt.js";
import type { Ended } from "../main.js";
import { confirmMotion, type RigOptions, rigOf, speedOf } from "../rigs.js";

type HilCommandOptions = RigOptions & {
  seed: number;
  only?: string[];
  list: boolean;
  step: boolean;
  strictTiming: boolean;
  resume?: string;
  json?: string;
  mcap?: string;
  junit?: string;
  faults?: string;
};

const WIDTH = 140;

function list(only: readonly string[] | undefined): string {
  const chosen = chooseChecks(ALL_HIL_CHECKS, only);
  const table = new Table({
    head: ["check", "", "why"],
    colWidths: [56, 18, 66],
    wordWrap: true,
    style: { head: [], border: [], compact: true },
  });
  for (const { group, check } of chosen) {
    const marks = [check.moves ? "moves" : "", check.needs?.includes("emulated") ? "emulated" : ""].filter(
      (mark) => mark !== "",
    );
    table.push([`${group}: ${check.name}`, marks.join(", "), check.reason]);
  }
  return `${table.toString()}\n${chosen.length} checks`;
}

/** The command as one would type it again for the same table. */
const commandOf = ({ rig, seed, only, faults }: HilCommandOptions): string =>
  [
    "skill2real hil",
    ...(rig === undefined ? [] : [`--rig ${rig}`]),
    ...(seed === 1 ? [] : [`--seed ${seed}`]),
    ...(only === undefined ? [] : [`--only ${only.map((one) => (/^\w+$/.test(one) ? one : `"${one}"`)).join(" ")}`]),
    `--faults ${faults}`,
  ].join(" ");

/** Asks the person at the bench before each check that moves something. */
async function askStep({ group, check }: ChosenCheck): Promise<StepAnswer> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const typed = await lines.question(
      `\n${group}: ${check.name} (${check.reason})\nEnter runs it, s skips it, q ends here: `,
    );
    const word = typed.trim().toLowerCase();
    return word === "q" ? "stop" : word === "s" ? "skip" : "run";
  } finally {
    lines.close();
  }
}

export function addHil(program: Command, ended: Ended): void {
  program
    .command("hil")
    .description(
      "check a rig, hardware in the loop: link, motion, stop, limits, gripper, camera, timing, faults, end-to-end",
    )
    .option(
      "--rig <rig>",
      "emulated (starts by itself), a name of the configuration, or FILE.toml (default: as configured, else emulated)",
    )
    .option("--list", "list the checks and leave", false)
    .option("--only <patterns...>", 'only checks whose "group: name" holds one of these; * stands for anything')
    .option("--step", "ask before each check that moves something", false)
    .option("--resume <report>", "go on from a report that --json wrote: what did not fail there is taken over")
    .option("--json <file>", "write the report as JSON")
    .option("--mcap <file>", "record joint states, events and results as MCAP, while they happen")
    .option("--junit <file>", "write the report as JUnit XML")
    .option("--faults <file>", "write the table of faults as a page of Markdown")
    .option("--strict-timing", "timings beyond their limits fail, in place of being reported as slow", false)
    .option("--speed <fraction>", "real rig: fraction of its speeds (default: its speed_cap)", Number)
    .option("--config <file>", "configuration file")
    .addOption(new Option("--seed <number>", "emulated rig: which hidden errors it has").argParser(Number).default(1))
    .action(async (options: HilCommandOptions) => {
      if (options.list) {
        process.stdout.write(`${list(options.only)}\n`);
        return;
      }
      const named = rigOf(options);
      const speed = speedOf(named, options);
      const chosen = chooseChecks(ALL_HIL_CHECKS, options.only);
      const resume = options.resume === undefined ? undefined : readReport(options.resume);
      if (options.step && !process.stdin.isTTY)
        throw new Skill2RealError("usage", "--step asks a person at a terminal: run it by hand");
      if (chosen.some(({ check }) => check.moves)) await confirmMotion(named, speed, "This suite");
      const record = options.mcap === undefined ? undefined : await HilMcap.create(options.mcap);
      const aborter = new AbortController();
      const interrupt = onInterrupt(async () => aborter.abort());
      const tty = process.stderr.isTTY;
      try {
        const report = await runHil({
          named,
          speed,
          seed: options.seed,
          strictTiming: options.strictTiming,
          signal: aborter.signal,
          ...(options.only ? { only: options.only } : {}),
          ...(resume ? { resume } : {}),
          ...(options.step ? { step: askStep } : {}),
          ...(record ? { record } : {}),
          onResult: ({ group, name, outcome, duration_ms, message }) =>
            process.stderr.write(
              `${outcome.padEnd(8)}${(duration_ms / 1e3).toFixed(1).padStart(6)} s  ${group}: ${name}${message === "" || tty ? "" : ` (${message})`}\n`,
            ),
        });
        process.stdout.write(`${formatReport(report, process.stdout.columns ?? WIDTH)}\n`);
        // Each file is written where it can be, whatever became of the others.
        const written = await Promise.allSettled([
          record?.close(report),
          (async () => options.json && writeText(options.json, `${JSON.stringify(report, null, 2)}\n`))(),
          (async () => options.junit && writeText(options.junit, formatJunit(report)))(),
          (async () => options.faults && writeText(options.faults, formatFaultsPage(report, commandOf(options))))(),
        ]);
        const lost = written.find((one) => one.status === "rejected");
        if (lost) throw lost.reason;
        if (report.state === "stopped") {
          process.stderr.write(
            `${countsLine(report).split("\n").at(-1)}${options.json ? `; "hil --resume ${options.json}" goes on` : ""}\n`,
          );
          ended(EXIT.interrupted);
        } else if (countOutcomes(report.results).failed > 0) ended(EXIT.failed);
      } finally {
        interrupt.dispose();
      }
    });
}
