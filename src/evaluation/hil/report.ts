import { readFileSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { Skill2RealError } from "../../contract/errors.js";

export const HIL_OUTCOMES = ["passed", "slow", "failed", "skipped"] as const;
export type HilOutcome = (typeof HIL_OUTCOMES)[number];

const measurementSchema = z.strictObject({
  name: z.string(),
  // JSON has no infinities: a value that is none is a defect of its check.
  value: z.number(),
  unit: z.string(),
  limit: z.number().optional(),
});

const faultRowSchema = z.strictObject({
  fault: z.string(),
  notice_s: z.number().nullable(),
  standstill_s: z.number().nullable(),
  code: z.string(),
  seen: z.string(),
  /** What of it was not so; empty: nothing. */
  false_report: z.string(),
  /** Results of the program's operations, in the order of their ends. */
  program: z
    .array(z.strictObject({ operation: z.string(), status: z.string(), message: z.string(), stop_reason: z.string() }))
    .optional(),
});
/** One line of the table of faults. */
export type FaultRow = z.infer<typeof faultRowSchema>;

const resultSchema = z.strictObject({
  group: z.string(),
  name: z.string(),
  reason: z.string(),
  outcome: z.enum(HIL_OUTCOMES),
  /** What went wrong, what was slow, or why it was skipped. */
  message: z.string(),
  duration_ms: z.number(),
  /** Seconds of the epoch. */
  began_at_s: z.number(),
  measurements: z.array(measurementSchema),
  fault: faultRowSchema.optional(),
  /** Taken over from the report that this run resumed. */
  earlier: z.boolean().optional(),
});
export type HilResult = z.infer<typeof resultSchema>;

export const hilReportSchema = z.strictObject({
  format: z.literal("skill2real-hil"),
  version: z.literal(1),
  rig: z.strictObject({ name: z.string(), emulated: z.boolean(), seed: z.number().optional(), speed: z.number() }),
  machine: z.strictObject({ cpus: z.number(), load_average: z.number(), kernel: z.string() }),
  started_at: z.string(),
  ended_at: z.string(),
  /** "stopped": `not_run` names what was left, and the report can be resumed. */
  state: z.enum(["complete", "stopped"]),
  stopped_because: z.string(),
  notes: z.array(z.string()),
  results: z.array(resultSchema),
  not_run: z.array(z.string()),
});
export type HilReport = z.infer<typeof hilReportSchema>;

export const checkId = ({ group, name }: { group: string; name: string }): string => `${group}: ${name}`;

export type HilCounts = Record<HilOutcome, number>;

export function countOutcomes(results: readonly Pick<HilResult, "outcome">[]): HilCounts {
  const counts: HilCounts = { passed: 0, slow: 0, failed: 0, skipped: 0 };
  for (const { outcome } of results) counts[outcome] += 1;
  return counts;
}

/** Throws `not_found` or `bad_argument` with what is wrong with the file. */
export function readReport(path: string): HilReport {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new Skill2RealError(
      "not_found",
      `the report ${path} cannot be read (${(cause as NodeJS.ErrnoException).code})`,
      {
        cause,
      },
    );
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new Skill2RealError("bad_argument", `${path} is no JSON: give a report that "hil --json" wrote`, { cause });
  }
  const parsed = hilReportSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new Skill2RealError("bad_argument", `${path} is no report of this version: ${z.prettifyError(parsed.error)}`);
}

/** Throws `storage_failed`. */
export function writeText(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (cause) {
    throw new Skill2RealError(
      "storage_failed",
      `${path} cannot be written (${(cause as NodeJS.ErrnoException).code})`,
      {
        cause,
      },
    );
  }
}

/** What of an earlier report counts in a run that goes on from it: everything that did not fail. */
export function resultsToKeep(report: HilReport, rigName: string): HilResult[] {
  if (report.rig.name !== rigName)
    throw new Skill2RealError(
      "bad_argument",
      `the report is of the rig "${report.rig.name}", this is "${rigName}": resume it there`,
    );
  return report.results.filter(({ outcome }) => outcome !== "failed").map((result) => ({ ...result, earlier: true }));
}
