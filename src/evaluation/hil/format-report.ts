import Table from "cli-table3";
import pc from "picocolors";
import { countOutcomes, type FaultRow, type HilOutcome, type HilReport, type HilResult } from "./report.js";

const MARKS: Record<HilOutcome, string> = {
  passed: pc.green("passed"),
  slow: pc.yellow("slow"),
  failed: pc.red("FAILED"),
  skipped: pc.yellow("skipped"),
};

const figure = (value: number): string =>
  Math.abs(value) >= 100 ? value.toFixed(0) : Number(value.toPrecision(3)).toString();

const measured = ({ measurements }: HilResult): string =>
  measurements
    .map(
      ({ name, value, unit, limit }) =>
        `${name} ${figure(value)} ${unit}${limit === undefined ? "" : ` (limit ${figure(limit)})`}`,
    )
    .join("; ");

function saying(result: HilResult): string {
  const values = measured(result);
  const words =
    result.outcome === "passed"
      ? result.reason
      : `${result.message}${result.outcome === "failed" ? ` (${result.reason})` : ""}`;
  return [words, values].filter((part) => part !== "").join(" | ");
}

/** The results as a table for a terminal of the given width, the table of faults, and a line of counts. */
export function formatReport(report: HilReport, width = 140): string {
  const name_width = 48;
  const table = new Table({
    head: ["check", "result", "ms", "why it matters, or what happened | what was measured"],
    colWidths: [name_width, 10, 8, Math.max(30, width - name_width - 10 - 8 - 5)],
    colAligns: ["left", "left", "right", "left"],
    wordWrap: true,
    style: { head: [], border: [], compact: true },
  });
  let group = "";
  for (const result of report.results) {
    if (result.group !== group) {
      group = result.group;
      table.push([{ colSpan: 4, content: pc.bold(group) }]);
    }
    table.push([
      `  ${result.name}`,
      MARKS[result.outcome] + (result.earlier ? "*" : ""),
      result.duration_ms.toFixed(0),
      saying(result),
    ]);
  }
  const faults = report.results.flatMap(({ fault }) => (fault ? [fault] : []));
  return [table.toString(), ...(faults.length > 0 ? [formatFaults(faults, width)] : []), countsLine(report)].join("\n");
}

const seconds = (value: number | null): string => (value === null ? "-" : `${value.toFixed(3)} s`);

/** What each fault did: how soon it was noticed, how soon the arm stood, under which code, what the program was told. */
export function formatFaults(rows: readonly FaultRow[], width = 140): string {
  const fixed = 34 + 11 + 11 + 26 + 16;
  const table = new Table({
    head: ["fault, during a motion", "noticed", "stood", "code", "the program saw", "told falsely"],
    colWidths: [34, 11, 11, 26, Math.max(20, width - fixed - 7), 16],
    wordWrap: true,
    style: { head: [], border: [], compact: true },
  });
  for (const { fault, notice_s, standstill_s, code, seen, false_report } of rows)
    table.push([fault, seconds(notice_s), seconds(standstill_s), code, seen, false_report || "nothing"]);
  return table.toString();
}

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll(/\s+/g, " ").trim();

/** The table of faults as a Markdown page, with where it comes from: rig, machine, its load, and the command. */
export function formatFaultsPage(report: HilReport, command: string): string {
  const rows = report.results.flatMap(({ fault, outcome }) => (fault ? [{ ...fault, outcome }] : []));
  const untrue = rows.filter(({ false_report }) => false_report !== "").length;
  const failed = rows.filter(({ outcome }) => outcome === "failed").length;
  const { cpus, load_average, kernel } = report.machine;
  const lines = rows.map(({ fault, notice_s, standstill_s, code, seen, false_report, outcome }) =>
    [
      `${cell(fault)}${outcome === "failed" ? " (**check failed**)" : ""}`,
      seconds(notice_s),
      seconds(standstill_s),
      code === "" ? "-" : `\`${cell(code)}\``,
      cell(seen),
      cell(false_report) || "nothing",
    ].join(" | "),
  );
  return `# What does each fault of a device do to a program?

Written by \`${command}\` on ${report.started_at.slice(0, 10)}, rig ${report.rig.name}${report.rig.seed === undefined ? "" : ` (seed ${report.rig.seed})`}, on ${cpus} processors
(Linux ${kernel}, load average ${load_average.toFixed(1)} at its end). ${rows.length} faults: ${failed} checks failed, ${untrue} told something falsely.

Each was given while a program's \`goto_pose\` was in the middle of its way. "Noticed" and "stood" are seconds from the order that broke something to the first
word of it at the runtime, and to the arm's standstill by the plant's own joints; "-": not noticed, because it must be borne, or not stopped by it. "Told falsely"
compares every result of the program with the plant: "ok" with the true pose and opening, poses and openings with the true ones, a grip with a table that is empty, and a picture's time with
when the bench took it. With "bench: freeze" and "bench: kill" the arm itself stands still or is gone at once: "stood" is then after its end, or not to be seen.
"get_robot_state ok (mode faulted)" is a measured state that says of itself what is wrong; it is compared too.

| fault | noticed | stood | code | the program saw | told falsely |
| --- | --- | --- | --- | --- | --- |
${lines.map((line) => `| ${line} |`).join("\n")}
`;
}

export function countsLine({ results, not_run, state, stopped_because }: HilReport): string {
  const { passed, slow, failed, skipped } = countOutcomes(results);
  const earlier = results.some((result) => result.earlier) ? " (* from the report that was resumed)" : "";
  const left = state === "stopped" ? `\nstopped: ${stopped_because}; ${not_run.length} checks were not run` : "";
  return `${passed} passed, ${slow} slow, ${failed} failed, ${skipped} skipped${earlier}${left}`;
}
