import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commandConfig } from "../../src/cli/settings.js";
import { episodeSettings } from "../../src/evaluation/episode-settings.js";
import type { EpisodeSpec, EpisodeWorkerOptions } from "../../src/evaluation/episode-worker.js";
import { differences, type PublicTraffic, playRecorded } from "../support/public-traffic.js";

const TIMEOUT_MS = 240_000;
const SALTS = ["salt one", "salt two"] as const;
const LOOKING = `
const state = await robot.get_robot_state({});
const view = await robot.get_topdown_stereo_view({});
return { state, view };
`;

let runsFolder: string;
beforeAll(() => {
  runsFolder = mkdtempSync(join(tmpdir(), "s2r-test-"));
});
afterAll(() => rmSync(runsFolder, { recursive: true, force: true }));

/** The same episode in worlds that differ in what is hidden alone. */
async function withBothSalts(
  proposer: EpisodeSpec["proposer"],
  simulator: EpisodeWorkerOptions["simulator"] = {},
): Promise<[PublicTraffic, PublicTraffic]> {
  const settings = episodeSettings(commandConfig({}));
  const play = (hidden_salt: string): Promise<PublicTraffic> =>
    playRecorded(
      { runsFolder, simulator },
      { task: "r1", seed: 7, proposer, settings, hidden_salt, refKey: "the key of the refs, the same in both" },
    );
  return [await play(SALTS[0]), await play(SALTS[1])];
}

const names = ({ result }: PublicTraffic): string[] => result.predicates.map(({ name }) => name);

describe("what is hidden does not show", () => {
  it(
    "an episode of the library is the same to the byte in worlds of other hidden names, ids and predicates",
    async () => {
      const [one, other] = await withBothSalts({ kind: "library", library: "starter" });
      // The worlds do differ, where only the evaluator looks; and the verdict on both is one.
      expect(names(one).length).toBeGreaterThan(3);
      expect(names(one).filter((name) => names(other).includes(name))).toEqual([]);
      for (const { result } of [one, other])
        expect(result).toMatchObject({ outcome: "finished", infrastructure: null });
      expect(other.result.success).toBe(one.result.success);
      // And a lot was compared: motions, pictures, calls, events, messages, files.
      const kinds = [
        "(execute)",
        "(get_frames)",
        "(advance)",
        "part 1 of",
        "/calls",
        "/programs",
        "event ",
        "from host",
        "to host",
        "file images",
      ];
      for (const kind of kinds)
        expect(one.items.filter(({ what }) => what.includes(kind)).length, kind).toBeGreaterThan(0);
      expect(one.items.length).toBeGreaterThan(200);
      expect(differences(one, other)).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

describe("a leak that is planted is caught", () => {
  const module = "skill2real_sim.worlds.twin.testing.leaky";
  const leaks = [
    ["a word of the capabilities", "leaky-words", /^reply 0 \(hello\)$/],
    ["the lowest bit of one pixel", "leaky-pixel", /^part \d+ of reply \d+$/],
    ["a billionth of a radian", "leaky-joint", /^reply \d+ \((get_state|advance|get_frames)\)$/],
  ] as const;
  for (const [what, world, where] of leaks) {
    it(
      what,
      async () => {
        const [one, other] = await withBothSalts(
          { kind: "script", source: LOOKING, fileName: "look.ts" },
          { world, module },
        );
        expect(one.result.infrastructure).toBe(null);
        expect(other.result.infrastructure).toBe(null);
        expect(differences(one, other).filter((name) => where.test(name))).not.toEqual([]);
      },
      TIMEOUT_MS,
    );
  }

  it(
    "and only that: the same looks in an honest world show nothing",
    async () => {
      const [one, other] = await withBothSalts({ kind: "script", source: LOOKING, fileName: "look.ts" });
      expect(one.result.infrastructure).toBe(null);
      expect(differences(one, other)).toEqual([]);
    },
    TIMEOUT_MS,
  );
});
