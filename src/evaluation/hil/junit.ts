import { countOutcomes, type HilReport, type HilResult } from "./report.js";

const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };

/** Text for XML 1.0: special characters escaped, those that XML cannot hold replaced. */
export const xmlText = (text: string): string =>
  [...text]
    .map((one) => {
      const code = one.codePointAt(0)!;
      const allowed =
        code === 9 ||
        code === 10 ||
        code === 13 ||
        (code >= 0x20 && (code < 0xd800 || code > 0xdfff) && code !== 0xfffe && code !== 0xffff);
      return allowed ? (ESCAPES[one] ?? one) : "\ufffd";
    })
    .join("");

const attributes = (values: Record<string, string | number>): string =>
  Object.entries(values)
    .map(([key, value]) => ` ${key}="${xmlText(String(value)).replaceAll("\n", "&#10;")}"`)
    .join("");

function testcase(result: HilResult): string {
  const { group, name, outcome, message, reason, duration_ms, measurements } = result;
  const head = attributes({ classname: `hil.${group}`, name, time: (duration_ms / 1e3).toFixed(3) });
  const parts: string[] = [];
  if (outcome === "failed") parts.push(`<failure${attributes({ message })}>${xmlText(reason)}</failure>`);
  if (outcome === "skipped") parts.push(`<skipped${attributes({ message })}/>`);
  const said = measurements.map(
    (one) => `${one.name} = ${one.value} ${one.unit}${one.limit === undefined ? "" : ` (limit ${one.limit})`}`,
  );
  if (outcome === "slow") said.unshift(`slow: ${message}`);
  if (said.length > 0) parts.push(`<system-out>${xmlText(said.join("\n"))}</system-out>`);
  return parts.length === 0 ? `    <testcase${head}/>` : `    <testcase${head}>${parts.join("")}</testcase>`;
}

/** A report as JUnit XML: one suite a group; checks that were not reached count as skipped. */
export function formatJunit(report: HilReport): string {
  const groups = new Map<string, HilResult[]>();
  for (const result of report.results) groups.set(result.group, [...(groups.get(result.group) ?? []), result]);
  for (const id of report.not_run) {
    const [group = "", name = ""] = id.split(": ");
    const result: HilResult = {
      group,
      name,
      reason: "",
      outcome: "skipped",
      message: `not reached: ${report.stopped_because}`,
      duration_ms: 0,
      began_at_s: 0,
      measurements: [],
    };
    groups.set(group, [...(groups.get(group) ?? []), result]);
  }
  const suites = [...groups].map(([group, results]) => {
    const { failed, skipped } = countOutcomes(results);
    const time = (results.reduce((sum, { duration_ms }) => sum + duration_ms, 0) / 1e3).toFixed(3);
    const head = attributes({
      name: `hil.${group}`,
      tests: results.length,
      failures: failed,
      errors: 0,
      skipped,
      time,
      timestamp: report.started_at.replace(/\.\d+Z$/, ""),
    });
    return `  <testsuite${head}>\n${results.map(testcase).join("\n")}\n  </testsuite>`;
  });
  const all = [...groups.values()].flat();
  const totals = countOutcomes(all);
  const head = attributes({
    name: `skill2real hil, rig ${report.rig.name}`,
    tests: all.length,
    failures: totals.failed,
    skipped: totals.skipped,
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites${head}>\n${suites.join("\n")}\n</testsuites>\n`;
}
