import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { EpisodeWorker, runPath } from "../src/evaluation/episode-worker.js";
import { EmulatedRigWorld } from "../src/evaluation/rig-world.js";
import { TRACE_FILE } from "../src/runtime/trace/mcap-trace.js";

/** A seed to tune on. */
const SEED = 7;
const folder = mkdtempSync(join(tmpdir(), "s2r-native-episode-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("an episode on the emulated rig", () => {
  it("is played through every real protocol, judged by the bench, and told nothing of the rig", async () => {
    const messages: unknown[] = [];
    const rig: { world: EmulatedRigWorld | null } = { world: null };
    const worker = new EpisodeWorker({
      runsFolder: folder,
      world: () => {
        rig.world = new EmulatedRigWorld();
        return rig.world;
      },
      onMessage: (_, message) => messages.push(message),
    });
    try {
      const result = await worker.play({
        task: "r1",
        seed: SEED,
        proposer: { kind: "library", library: "starter" },
        settings: {
          motion: {},
          perception: {},
          quotas: {},
          budgets: {},
          skills: { paths: [], enable: ["pointing"], disable: [] },
        },
      });
      expect(result.infrastructure).toBeNull();
      expect(result).toMatchObject({ backend: "native", outcome: "finished" });
      // Judged, whichever way: by what the plant is, not by what the program says.
      expect(result.predicates.length).toBeGreaterThan(0);
      const seen = JSON.stringify(messages) + readFileSync(runPath(folder, result.run, TRACE_FILE)).toString("latin1");
      for (const secret of [/127\.\d+\.\d+\.\d+/, /\/pika\b/, /"seed"/, /rig.?seed/i]) expect(seen).not.toMatch(secret);
    } finally {
      await worker.close();
    }
  }, 300_000);
});
