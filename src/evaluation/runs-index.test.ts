import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RunsIndex } from "./runs-index.js";
import { episodeResult as result } from "./testing.js";

describe("RunsIndex", () => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "runs-index-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("keeps results and lists the newest first", () => {
    const index = RunsIndex.open(folder);
    index.add(result({ run: "a", started_at: "2026-01-01T00:00:00Z" }));
    index.add(result({ run: "b", started_at: "2026-01-02T00:00:00Z", success: false, failure_kind: "dropped" }));
    index.close();
    const again = RunsIndex.open(folder, { mustExist: true });
    expect(again.list(10).map((entry) => entry.run)).toEqual(["b", "a"]);
    expect(again.get("b")?.failure_kind).toBe("dropped");
    expect(again.get("c")).toBeNull();
    again.close();
  });

  it("gives the newest result of each seed of a campaign, and no other campaign's", () => {
    const index = RunsIndex.open(folder);
    index.add(result({ run: "a", seed: 5, started_at: "2026-01-01T00:00:00Z", infrastructure: "lost: x" }), "one");
    index.add(result({ run: "b", seed: 5, started_at: "2026-01-02T00:00:00Z" }), "one");
    index.add(result({ run: "c", seed: 6 }), "other");
    expect([...index.campaign("one")].map(([seed, entry]) => [seed, entry.run])).toEqual([[5, "b"]]);
    index.close();
  });

  it("is readable by its owner alone", () => {
    RunsIndex.open(folder).close();
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".sqlite"));
    expect(files).toHaveLength(1);
    for (const name of files) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  });

  it("says not_found for a folder without runs, and storage_failed where it cannot be made", () => {
    expect(() => RunsIndex.open(folder, { mustExist: true })).toThrowError(
      expect.objectContaining({ code: "not_found" }),
    );
    const file = join(folder, "file");
    writeFileSync(file, "");
    expect(() => RunsIndex.open(file)).toThrowError(expect.objectContaining({ code: "storage_failed" }));
  });

  it("refuses the same run twice rather than overwrite it", () => {
    const index = RunsIndex.open(folder);
    index.add(result({ run: "a" }));
    expect(() => index.add(result({ run: "a" }))).toThrowError(expect.objectContaining({ code: "storage_failed" }));
    index.close();
  });
});
