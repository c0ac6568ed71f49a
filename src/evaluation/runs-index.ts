import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { Skill2RealError } from "../contract/errors.js";
import type { EpisodeResult } from "./episode-result.js";
import { evaluatorFolder } from "./run-folder.js";

const FILE = "index.sqlite";
const BUSY_TIMEOUT_MS = 5_000;

/** The index of runs: one SQLite file in the evaluator's folder, readable by its owner alone (it names seeds). */
export class RunsIndex {
  readonly #db: Database.Database;

  private constructor(db: Database.Database) {
    this.#db = db;
  }

  /** Throws `storage_failed` where it cannot be made or opened, `not_found` where it should exist and does not. */
  static open(folder: string, options: { mustExist?: boolean } = {}): RunsIndex {
    const path = join(evaluatorFolder(folder), FILE);
    if (options.mustExist && !existsSync(path))
      throw new Skill2RealError(
        "not_found",
        `there are no runs in ${folder}: play one with "skill2real run", or name another folder with --runs`,
      );
    try {
      mkdirSync(evaluatorFolder(folder), { recursive: true, mode: 0o700 });
      const db = new Database(path, { timeout: BUSY_TIMEOUT_MS });
      chmodSync(path, 0o600);
      db.pragma("journal_mode = WAL");
      db.exec(`CREATE TABLE IF NOT EXISTS runs (
        run TEXT PRIMARY KEY, started_at TEXT NOT NULL, task TEXT, seed INTEGER, proposer TEXT NOT NULL, backend TEXT NOT NULL,
        campaign TEXT, result TEXT NOT NULL) STRICT;
        CREATE INDEX IF NOT EXISTS runs_by_campaign ON runs (campaign, seed);`);
      return new RunsIndex(db);
    } catch (cause) {
      throw new Skill2RealError(
        "storage_failed",
        `the index of runs ${path} cannot be opened (${(cause as Error).message}): check that the folder is writable and the disk has space`,
        { cause },
      );
    }
  }

  /** Adds a result; `campaign` joins the episodes of one evaluation. */
  add(result: EpisodeResult, campaign: string | null = null): void {
    try {
      this.#db
        .prepare(
          "INSERT INTO runs (run, started_at, task, seed, proposer, backend, campaign, result) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        )
        .run(
          result.run,
          result.started_at,
          result.task,
          result.seed,
          result.proposer,
          result.backend,
          campaign,
          JSON.stringify(result),
        );
    } catch (cause) {
      throw new Skill2RealError(
        "storage_failed",
        `the result of ${result.run} cannot be written to the index (${(cause as Error).message}): free space, then run it again`,
        { cause },
      );
    }
  }

  get(run: string): EpisodeResult | null {
    const row = this.#db.prepare("SELECT result FROM runs WHERE run = ?").get(run) as { result: string } | undefined;
    return row ? (JSON.parse(row.result) as EpisodeResult) : null;
  }

  /** Newest first. */
  list(limit: number): EpisodeResult[] {
    const rows = this.#db.prepare("SELECT result FROM runs ORDER BY started_at DESC, run DESC LIMIT ?").all(limit) as {
      result: string;
    }[];
    return rows.map((row) => JSON.parse(row.result) as EpisodeResult);
  }

  /** The results of a campaign, by seed; of a seed played twice (after a lost backend) the newest. */
  campaign(campaign: string): Map<number, EpisodeResult> {
    const rows = this.#db
      .prepare("SELECT seed, result FROM runs WHERE campaign = ? ORDER BY started_at")
      .all(campaign) as { seed: number; result: string }[];
    return new Map(rows.map((row) => [row.seed, JSON.parse(row.result) as EpisodeResult]));
  }

  close(): void {
    this.#db.close();
  }
}
