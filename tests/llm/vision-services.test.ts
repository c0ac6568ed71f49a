/** A vision model behind pointer, segmenter and verifier: kept, counted, bounded, and answered from the recording in a replay. */
import { copyFileSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import { beforeAll, describe, expect, it } from "vitest";
import { colourRegions } from "../../skills/pointing/regions.js";
import { CASSETTE_FILE, CassetteLines, cassetteHeader } from "../../src/agents/exchanges/cassette.js";
import { type Exchange, exchangeSchema } from "../../src/agents/exchanges/exchange.js";
import type { StageRecord } from "../../src/agents/proposer.js";
import { type ServiceSettings, serviceSettingsSchema } from "../../src/agents/services/settings.js";
import { accountLines, type EpisodeResult } from "../../src/evaluation/episode-result.js";
import { type EpisodeSpec, runPath } from "../../src/evaluation/episode-worker.js";
import { replayEpisode } from "../../src/evaluation/replay-episode.js";
import { TRACE_FILE } from "../../src/runtime/trace/mcap-trace.js";
import { type ChatRequest, failing, type Handler, hanging, saying, trickling } from "../support/model-endpoint.js";
import { modelEpisodes } from "../support/model-episodes.js";

const episodes = modelEpisodes("s2r-vision-");

/** What a vision model could say: it looks at the pixels of the request and nothing else. */
const seeing: Handler = saying(async (request: ChatRequest) => {
  const content = request.messages[0]?.content ?? "";
  const parts = typeof content === "string" ? [] : content;
  const words = parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  const urls = parts.flatMap((part) => (part.type === "image_url" ? [part.image_url.url] : []));
  if (words.includes("The first picture"))
    return JSON.stringify({ differences: ["the light"], seen: `${urls.length} pictures`, uncertainty: "" });
  const png = Buffer.from(urls[0]?.split(",")[1] ?? "", "base64");
  const { data, info } = await sharp(png).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const [region] = colourRegions(new Uint8Array(data), info.width, info.height);
  return JSON.stringify({ things: region ? [{ label: "thing", box: region.box }] : [] });
});

const LOOKS = `
const before = await robot.get_topdown_stereo_view();
if (before.status !== "ok") return before.status;
const { observation_ref } = before;
const point = await robot.point_to({ observation_ref, query: "the thing" });
const masks = await robot.segment_text({ observation_ref, query: "things" });
await sleep(0.5);
const after = await robot.get_topdown_stereo_view();
if (after.status !== "ok") return after.status;
const change = await robot.compare_images({ before_ref: observation_ref, after_ref: after.observation_ref, question: "what changed?" });
return {
  finish: "partial",
  evidence: [point.status, masks.status, change.status, change.status === "ok" ? change.seen : change.message].join(", "),
};
`;
type Extra = Pick<EpisodeSpec, "replay" | "refKey"> & {
  source?: string;
  seed?: number;
  model?: Partial<NonNullable<ServiceSettings["model"]>>;
  budgets?: EpisodeSpec["settings"]["budgets"];
};
function play({
  source = LOOKS,
  seed = 1001,
  model = {},
  budgets = {},
  ...fields
}: Extra = {}): Promise<EpisodeResult> {
  const asked = { base_url: episodes.endpoint.base_url, model: "eye", api_key: "k-e-y", timeout_s: 20, ...model };
  return episodes.worker.play({
    task: "r1",
    seed,
    proposer: { kind: "script", source, fileName: "looks.ts" },
    settings: {
      motion: {},
      perception: {},
      quotas: {},
      budgets: { max_stages: 3, ...budgets },
      skills: {
        paths: [],
        enable: ["pointing", "segmentation"],
        disable: [],
        services: ["pointer", "segmenter", "verifier", "vlm"],
      },
      services: serviceSettingsSchema.parse({ pointer: "vlm", segmenter: "vlm", verifier: "vlm", model: asked }),
    },
    ...fields,
  });
}
const stagesOf = ({ run }: EpisodeResult): StageRecord[] =>
  JSON.parse(readFileSync(runPath(episodes.runs, run, "stages.json"), "utf8")) as StageRecord[];
const cassetteOf = ({ run }: EpisodeResult): string => readFileSync(runPath(episodes.runs, run, CASSETTE_FILE), "utf8");
const exchangeIn = (line: string): Exchange => {
  const { sum: _, ...exchange } = JSON.parse(line) as Exchange & { sum: string };
  return exchangeSchema.parse(exchange);
};
/** A cassette as it would have been recorded with these exchanges. */
const cassetteWith = (result: EpisodeResult, exchanges: readonly Exchange[]): string => {
  const lines = new CassetteLines();
  const header = lines.header(cassetteHeader(cassetteOf(result)));
  return [header, ...exchanges.map((exchange) => lines.exchange(exchange)), ""].join("\n");
};
const exchangesOf = (result: EpisodeResult): Exchange[] =>
  cassetteOf(result).trim().split("\n").slice(1).map(exchangeIn);

describe("an episode whose programs ask a vision model", { timeout: 180_000 }, () => {
  let first: EpisodeResult;
  beforeAll(async () => {
    episodes.endpoint.answer([], seeing);
    first = await play({ refKey: "key-of-the-episode" });
  });

  it("keeps each question and answer, images by view and ordinal, without key or address", () => {
    expect(first).toMatchObject({ infrastructure: null, claim: "partial", evidence: "ok, ok, ok, 2 pictures" });
    expect(exchangesOf(first).map(({ kind }) => kind)).toEqual(["pointer", "segmenter", "verifier"]);
    const [pointer, , verifier] = exchangesOf(first);
    expect(pointer).toMatchObject({
      request: [{ role: "user", content: expect.stringMatching(/"the thing".*\n<image topdown obs_\d+ \d+x\d+>$/s) }],
      reply: { text: expect.stringContaining("things") },
      usage: { tokens_in: 1000, tokens_out: 50, counted: true },
    });
    expect(verifier?.pixels).toHaveLength(2);
    expect(cassetteHeader(cassetteOf(first))).toMatchObject({ models: { services: "eye" }, policy: first.policy });
    expect(cassetteOf(first)).not.toMatch(/k-e-y|Bearer|127\.0\.0\.1|data:image/);
  });

  it("tells what they took beside what the model took that decides", () => {
    expect(first.model).toBeNull();
    expect(first.services).toMatchObject({ model: "eye", calls: 3, tokens_in: 3000, tokens_out: 150, troubles: {} });
    expect(accountLines(first).join()).toMatch(/^services +eye: 3 replies in .* 3000 tokens read and 150 written/);
  });

  it("is played again from its cassette with nobody there, pixels compared too", async () => {
    episodes.endpoint.answer([], failing(500, "nobody should ask"));
    const again = await play({
      refKey: "key-of-the-episode",
      replay: { cassette: cassetteOf(first), strict: true },
    });
    expect(episodes.endpoint.requests).toHaveLength(0);
    expect(again).toMatchObject({ infrastructure: null, evidence: first.evidence });
    expect(again.services).toMatchObject({ calls: 3, tokens_in: 3000 });
    expect(stagesOf(again)).toEqual(stagesOf(first));
  });

  it("ends as diverged in a replay that sees other pixels, or asks what was not asked", async () => {
    const changed = exchangesOf(first).map((exchange) =>
      exchange.kind === "segmenter" ? { ...exchange, pixels: ["0".repeat(64)] } : exchange,
    );
    const cassette = cassetteWith(first, changed);
    const strict = await play({ refKey: "key-of-the-episode", replay: { cassette, strict: true } });
    expect(strict.infrastructure).toMatch(/^diverged: segmenter: request 1: the pixels of image 1/);
    const lenient = await play({ refKey: "key-of-the-episode", replay: { cassette, strict: false } });
    expect(lenient).toMatchObject({ infrastructure: null, evidence: first.evidence });
    const short = `${cassetteOf(first).trim().split("\n").slice(0, 3).join("\n")}\n`;
    const missing = await play({ refKey: "key-of-the-episode", replay: { cassette: short, strict: false } });
    expect(missing.infrastructure).toMatch(/^diverged: verifier: request 1 is not in the cassette/);
  });

  it("is played again on its recorded pixels too, where the cassette lies beside the trace", async () => {
    const recording = runPath(episodes.runs, first.run, TRACE_FILE);
    expect(await replayEpisode({ recording })).toMatchObject({ divergence: null, stages: 1 });
    const apart = mkdtempSync(join(episodes.runs, "apart-"));
    copyFileSync(recording, join(apart, TRACE_FILE));
    expect((await replayEpisode({ recording: join(apart, TRACE_FILE) })).divergence).toMatch(/no model\.jsonl beside/);
    const others = exchangesOf(first).map(
      (exchange) =>
        JSON.parse(JSON.stringify({ ...exchange, hash: "0" }).replaceAll("the thing", "the cup")) as Exchange,
    );
    writeFileSync(join(apart, CASSETTE_FILE), cassetteWith(first, others));
    expect((await replayEpisode({ recording: join(apart, TRACE_FILE) })).divergence).toMatch(
      /pointer: request 1 is not the recorded one: .*now ".*the thing.*recorded ".*the cup/,
    );
  });
});

describe("a vision model that fails", { timeout: 120_000 }, () => {
  const TRIES = `
const view = await robot.get_topdown_stereo_view();
if (view.status !== "ok") return view.status;
const point = await robot.point_to({ observation_ref: view.observation_ref, query: "the thing" });
return { finish: "partial", evidence: point.status + ": " + point.message };
`;

  it("is a status for the program, is counted, and fails in the replay as it did", async () => {
    episodes.endpoint.answer([], failing(503, "busy"));
    const failed = await play({ source: TRIES, refKey: "k" });
    expect(failed).toMatchObject({ infrastructure: null, claim: "partial" });
    expect(failed.evidence).toMatch(/^service_failed: .*model_server_error/);
    expect(failed.services).toMatchObject({ calls: 0, troubles: { model_server_error: 2 } });
    episodes.endpoint.answer([], seeing);
    const again = await play({ source: TRIES, refKey: "k", replay: { cassette: cassetteOf(failed), strict: true } });
    expect(episodes.endpoint.requests).toHaveLength(0);
    expect(again.evidence).toBe(failed.evidence);
    expect(again.services?.troubles).toEqual({ model_server_error: 2 });
  });
});

describe("budgets of services", { timeout: 120_000 }, () => {
  const ASKS_WHILE_MOVING = `
const { arms, tcp_pose } = await (async () => {
  const state = await robot.get_robot_state();
  if (state.status !== "ok") throw new Error(state.message);
  return state;
})();
const view = await robot.get_topdown_stereo_view();
if (view.status !== "ok") return view.status;
const { observation_ref } = view;
await robot.point_to({ observation_ref, query: "the first" });
const going = robot.goto_pose({ pose: { ...tcp_pose, z: tcp_pose.z - 0.1 }, motion: "linear" });
const point = robot.point_to({ observation_ref, query: "the second" });
await Promise.all([going, point]);
return { finish: "supported", evidence: "went on regardless of the budget" };
`;

  it.each([
    ["calls", { budget_calls: 1 }, /^1 calls of the vision model are used up/],
    ["tokens", { budget_tokens: 1050 }, /^1050 tokens of the vision model are used up \(1050\)/],
    ["money", { budget_money: 0.002, price_in: 2, price_out: 10 }, /^0.002 of the money of the vision model .*0\.0025/],
  ])("of %s end the episode with the robot still, and are named", async (_name, model, words) => {
    episodes.endpoint.answer([], seeing);
    const result = await play({ source: ASKS_WHILE_MOVING, model });
    expect(result).toMatchObject({ outcome: "budget", claim: null, infrastructure: null });
    expect(result.evidence).toMatch(words);
    expect(episodes.endpoint.requests).toHaveLength(1);
    const stage = stagesOf(result).at(-1);
    expect(stage?.end).toMatchObject({ kind: "killed", code: "budget_exhausted" });
    const motion = stage?.calls.find(({ operation }) => operation === "goto_pose");
    expect(motion?.status).toBe("stopped");
  });

  it.each([
    ["hangs", hanging],
    ["trickles", trickling],
  ])(
    "of the episode's wall time ends a question to an endpoint that %s",
    { timeout: 120_000 },
    async (_name, handler) => {
      episodes.endpoint.answer([], handler);
      const budgets = { max_wall_s: 6 };
      const result = await play({ source: ASKS_WHILE_MOVING, model: { timeout_s: 280 }, budgets, refKey: "k" });
      expect(result).toMatchObject({ outcome: "budget", claim: null, infrastructure: null });
      expect(result.evidence).toBe("6 s of wall time are used up");
      expect(stagesOf(result).flatMap(({ calls }) => calls.map(({ operation }) => operation))).not.toContain(
        "goto_pose",
      );
    },
  );
});
