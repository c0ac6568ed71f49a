import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { EpisodeWorker } from "../../src/evaluation/episode-worker.js";
import { ModelEndpoint } from "./model-endpoint.js";

/** What a test file plays episodes with: a model's endpoint, a worker, and a folder of runs that is gone afterwards. */
export type ModelEpisodes = { endpoint: ModelEndpoint; worker: EpisodeWorker; runs: string };

/** Opens them before the tests of the file that calls this, and closes them after; its fields are there in tests alone. */
export function modelEpisodes(prefix: string): ModelEpisodes {
  const opened = {} as ModelEpisodes;
  beforeAll(async () => {
    opened.runs = mkdtempSync(join(tmpdir(), prefix));
    opened.endpoint = await ModelEndpoint.start();
    opened.worker = new EpisodeWorker({ runsFolder: opened.runs });
  });
  afterAll(async () => {
    await opened.worker.close();
    await opened.endpoint.close();
    rmSync(opened.runs, { recursive: true, force: true });
  });
  return opened;
}
