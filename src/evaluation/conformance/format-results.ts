import Table from "cli-table3";
import pc from "picocolors";
import type { CheckResult } from "./run-conformance.js";

export type ResultCounts = { passed: number; failed: number; skipped: number };

export function countResults(results: readonly CheckResult[]): ResultCounts {
  const count = (outcome: CheckResult["outcome"]) => results.filter((result) => result.outcome === outcome).length;
  return { passed: count("passed"), failed: count("failed"), skipped: count("skipped") };
}

const MARKS: Record<CheckResult["outcome"], string> = {
  passed: pc.green("passed"),
  failed: pc.red("FAILED"),
  skipped: pc.yellow("skipped"),
};

/** The results as a table for a terminal of the given width, and a line of counts below it. */
export function formatResults(results: readonly CheckResult[], width = 140): string {
  const name_width = 52;
  const table = new Table({
    head: ["check", "result", "ms", "why it matters, or what happened"],
    colWidths: [name_width, 10, 8, Math.max(30, width - name_width - 10 - 8 - 5)],
    colAligns: ["left", "left", "right", "left"],
    wordWrap: true,
    style: { head: [], border: [], compact: true },
  });
  let group = "";
  for (const result of results) {
    if (result.group !== group) {
      group = result.group;
      table.push([{ colSpan: 4, content: pc.bold(group) }]);
    }
    const said =
      result.outcome === "passed"
        ? result.reason
        : `${result.message}${result.outcome === "failed" ? ` (${result.reason})` : ""}`;
    table.push([`  ${result.name}`, MARKS[result.outcome], result.duration_ms.toFixed(0), said]);
  }
  const { passed, failed, skipped } = countResults(results);
  return `${table.toString()}\n${passed} passed, ${failed} failed, ${skipped} skipped`;
}
