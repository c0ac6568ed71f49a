import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readTrace } from "../../runtime/trace/read-trace.js";
import { formatFaultsPage, formatReport } from "./format-report.js";
import { formatJunit, xmlText } from "./junit.js";
import { HilMcap } from "./mcap-report.js";
import { type HilReport, type HilResult, readReport, resultsToKeep, writeText } from "./report.js";

const result = (name: string, more: Partial<HilResult> = {}): HilResult => ({
  group: "motion",
  name,
  reason: "because",
  outcome: "passed",
  message: "",
  duration_ms: 12,
  began_at_s: 1,
  measurements: [],
  ...more,
});

const report = (results: HilResult[], more: Partial<HilReport> = {}): HilReport => ({
  format: "skill2real-hil",
  version: 1,
  rig: { name: "bench", emulated: false, speed: 0.25 },
  machine: { cpus: 2, load_average: 1, kernel: "6" },
  started_at: "2026-01-01T00:00:00.000Z",
  ended_at: "2026-01-01T00:01:00.000Z",
  state: "complete",
  stopped_because: "",
  notes: [],
  results,
  not_run: [],
  ...more,
});

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "s2r-hil-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("a report", () => {
  it("comes back from its file as it was", () => {
    const path = join(folder, "r.json");
    const original = report([
      result("one", { measurements: [{ name: "late", value: 3, unit: "ms", limit: 10 }] }),
      result("two", {
        fault: { fault: "x", notice_s: 0.1, standstill_s: null, code: "c", seen: "s", false_report: "" },
      }),
    ]);
    writeText(path, JSON.stringify(original));
    expect(readReport(path)).toEqual(original);
  });

  it("is refused with a reason where it is none", () => {
    const path = join(folder, "r.json");
    expect(() => readReport(path)).toThrow(expect.objectContaining({ code: "not_found" }));
    for (const text of [
      "",
      "[]",
      JSON.stringify({ ...report([]), version: 2 }),
      JSON.stringify({ ...report([]), more: 1 }),
    ]) {
      writeFileSync(path, text);
      expect(() => readReport(path)).toThrow(expect.objectContaining({ code: "bad_argument" }));
    }
    expect(() => writeText(join(folder, "no", "r.json"), "")).toThrow(
      expect.objectContaining({ code: "storage_failed" }),
    );
  });

  it("gives to a run that goes on everything but what failed, and only on the same rig", () => {
    const earlier = report([result("a"), result("b", { outcome: "failed" }), result("c", { outcome: "slow" })]);
    expect(resultsToKeep(earlier, "bench").map(({ name, earlier: mark }) => [name, mark])).toEqual([
      ["a", true],
      ["c", true],
    ]);
    expect(() => resultsToKeep(earlier, "other")).toThrow(/is of the rig "bench"/);
  });

  it("gives its faults as a page that says where its numbers are from, and counts what was false", () => {
    const fault = {
      notice_s: 0.0123,
      standstill_s: null,
      code: "link_reset",
      seen: "goto_pose | ended",
      false_report: "",
    };
    const page = formatFaultsPage(
      report([
        result("one", { fault: { ...fault, fault: "controller: rst" } }),
        result("two", {
          outcome: "failed",
          fault: { ...fault, fault: "gripper: stuck", false_report: '"ok", 9 mm off' },
        }),
        result("three"),
      ]),
      "skill2real hil --only faults --faults page.md",
    );
    expect(page).toContain("`skill2real hil --only faults --faults page.md` on 2026-01-01, rig bench");
    expect(page).toContain("load average 1.0");
    expect(page).toContain("2 faults: 1 checks failed, 1 told something falsely");
    expect(page).toContain("| controller: rst | 0.012 s | - | `link_reset` | goto_pose \\| ended | nothing |");
    expect(page).toMatch(/gripper: stuck \(\*\*check failed\*\*\) .*"ok", 9 mm off \|$/m);
    expect(page.split("\n").filter((line) => line.startsWith("| "))).toHaveLength(4);
  });

  it("shows results, measurements, faults and what was left", () => {
    const text = formatReport(
      report(
        [
          result("one", {
            outcome: "slow",
            message: "late is 30 ms",
            measurements: [{ name: "late", value: 30, unit: "ms", limit: 10 }],
          }),
          result("two", { outcome: "failed", message: "it fell" }),
          result("three", {
            fault: {
              fault: "link: rst",
              notice_s: 0.0451,
              standstill_s: null,
              code: "link_reset",
              seen: "an end",
              false_report: "",
            },
          }),
        ],
        { state: "stopped", stopped_because: "interrupted", not_run: ["motion: four"] },
      ),
      200,
    );
    for (const part of [
      "late 30 ms (limit 10)",
      "it fell (because)",
      "0.045 s",
      "link_reset",
      "nothing",
      "1 passed, 1 slow, 1 failed, 0 skipped",
      "1 checks were not run",
    ])
      expect(text).toContain(part);
  });
});

describe("JUnit XML", () => {
  it("holds each check once, failures and skips as such, what was not reached as skipped", () => {
    const xml = formatJunit(
      report(
        [
          result("ok"),
          result("bad", { outcome: "failed", message: 'a < b & "c"' }),
          result("not", { group: "stop", outcome: "skipped", message: "no" }),
        ],
        { not_run: ["stop: later"], state: "stopped", stopped_because: "q" },
      ),
    );
    expect(xml.match(/<testcase /g)).toHaveLength(4);
    expect(xml).toContain('<testsuite name="hil.motion" tests="2" failures="1" errors="0" skipped="0"');
    expect(xml).toContain('<testsuite name="hil.stop" tests="2" failures="0" errors="0" skipped="2"');
    expect(xml).toContain('message="a &lt; b &amp; &quot;c&quot;"');
    expect(xml).toContain('message="not reached: q"');
  });

  it("never holds a character that XML cannot", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for
        expect(xmlText(text)).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff<>]/);
      }),
    );
  });
});

describe("the MCAP record", () => {
  it("holds joint states, events, and each result; refuses to write over a file", async () => {
    const path = join(folder, "r.mcap");
    const record = await HilMcap.create(path);
    record.begins("motion: one");
    record.state({
      arms: [
        {
          name: "arm",
          q_rad: [1, 2, 3, 4, 5, 6],
          qd_rad_s: [0, 0, 0, 0, 0, 0],
          X_world_tcp: [],
          tcp_wrench: [],
          mode: "IDLE",
          time_s: 5,
        },
      ],
      grippers: [
        { arm: "arm", opening_m: 0.04, target_opening_m: 0.04, force_n: 0, moving: false, stalled: false, time_s: 5 },
      ],
      stop_latched: false,
      stop_reason: "",
      steps_left: 0,
      groups: [],
    });
    record.event({ number: 1, time_s: 5, kind: "stopped", stopped: { stop_epoch: 2, reason: "hand" } });
    record.result(result("one", { outcome: "failed", message: "it fell" }));
    await record.close(report([result("one")]));
    const bytes = readFileSync(path);
    expect(bytes.subarray(1, 5).toString()).toBe("MCAP");
    const topics: string[] = [];
    let head: ReadonlyMap<string, string> | undefined;
    for await (const { topic } of readTrace(path, {
      onMetadata: (name, entries) => {
        if (name === "skill2real.hil") head = entries;
      },
    }))
      topics.push(topic);
    expect(topics).toEqual(["/hil/log", "/joint_states", "/events", "/hil/log", "/hil/results"]);
    expect(head?.get("state")).toBe("complete");
    await expect(HilMcap.create(path)).rejects.toMatchObject({ code: "storage_failed" });
  });
});
