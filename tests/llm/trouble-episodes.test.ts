/** What becomes of an episode whose model misbehaves: it ends in time, says which trouble, counts it, and the robot is held. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CASSETTE_FILE } from "../../src/agents/exchanges/cassette.js";
import { type ModelSettings, modelSettingsSchema } from "../../src/agents/llm/settings.js";
import type { DeviceReply } from "../../src/contract/generated/device.js";
import { replyCodec } from "../../src/contract/wire/device-codec.js";
import { traceExchangeCodec } from "../../src/contract/wire/trace-codec.js";
import type { EpisodeResult } from "../../src/evaluation/episode-result.js";
import { type EpisodeSpec, runPath } from "../../src/evaluation/episode-worker.js";
import { TRACE_FILE } from "../../src/runtime/trace/mcap-trace.js";
import { readTrace } from "../../src/runtime/trace/read-trace.js";
import { answering, beginning, failing, type Handler, hanging, saying, trickling } from "../support/model-endpoint.js";
import { modelEpisodes } from "../support/model-episodes.js";

const episodes = modelEpisodes("s2r-troubles-");

function play(
  fields: Partial<ModelSettings> = {},
  budgets: EpisodeSpec["settings"]["budgets"] = {},
  replay?: Pick<EpisodeSpec, "replay" | "refKey">,
): Promise<EpisodeResult> {
  const known = { base_url: episodes.endpoint.base_url, model: "scripted", retries: 0, tools: "off", ...fields };
  return episodes.worker.play({
    task: "r1",
    seed: 1000,
    proposer: { kind: "llm", model: modelSettingsSchema.parse(known), task_text: "" },
    settings: {
      motion: {},
      perception: {},
      quotas: {},
      budgets: { max_stages: 3, ...budgets },
      skills: { paths: [], enable: [], disable: [] },
    },
    ...replay,
  });
}

/** The device's log: what was asked of the backend, in order. */
async function deviceLog({ run }: EpisodeResult): Promise<{ verb: string; reply: DeviceReply }[]> {
  const log: { verb: string; reply: DeviceReply }[] = [];
  for await (const { data } of readTrace(runPath(episodes.runs, run, TRACE_FILE), { topics: ["/device/exchange"] })) {
    const { verb, reply } = traceExchangeCodec.decode(data);
    log.push({ verb, reply: replyCodec.decode(reply) });
  }
  return log;
}
const motions = async (result: EpisodeResult): Promise<number> =>
  (await deviceLog(result)).filter(({ verb }) => verb === "execute").length;

describe("a trouble of the endpoint ends the episode as the infrastructure's, counted, without a motion", () => {
  it.each<[string, Handler, string, Partial<ModelSettings>]>([
    ["hangs", hanging, "model_timeout", { timeout_s: 0.5 }],
    ["trickles", trickling, "model_timeout", { timeout_s: 0.5 }],
    ["cuts its stream", beginning("cut"), "model_stream_cut", {}],
    ["asks to come back in an hour", failing(429, "slow", { "retry-after": "3600" }), "model_rate_limited", {}],
    ["sends 50 MB", answering("application/json", Buffer.alloc(50_000_000, 0x20)), "model_reply_too_large", {}],
    ["takes no images", failing(400, "this model does not support image input"), "model_image_refused", {}],
  ])("%s", { timeout: 90_000 }, async (_name, handler, code, fields) => {
    episodes.endpoint.answer([], handler);
    const result = await play(fields);
    expect(result).toMatchObject({ success: null, claim: null });
    expect(result.infrastructure).toMatch(new RegExp(`^${code}: `));
    expect(result.model).toMatchObject({ calls: 0, troubles: { [code]: 1 } });
    expect(await motions(result)).toBe(0);
  });
});

describe("a budget of time that ends while a reply is waited for ends the episode, named, without a motion", () => {
  it.each<[string, Handler]>([
    ["hangs", hanging],
    ["trickles", trickling],
    ["asks to come back later", failing(429, "slow", { "retry-after": "50" })],
  ])("at an endpoint that %s", { timeout: 120_000 }, async (_name, handler) => {
    episodes.endpoint.answer([], handler);
    const wall = await play({ retries: 1, timeout_s: 3600, idle_s: 290 }, { max_wall_s: 5 });
    expect(wall).toMatchObject({ outcome: "budget", claim: null, infrastructure: null });
    expect(wall.evidence).toBe("5 s of wall time are used up");
    expect(await motions(wall)).toBe(0);
    const wait = await play({ retries: 1, timeout_s: 3600, idle_s: 290, budget_wait_s: 4 });
    expect(wait).toMatchObject({ outcome: "budget", claim: null, infrastructure: null });
    expect(wait.evidence).toBe("4 s of the time of the model are used up");
    expect(await motions(wait)).toBe(0);
  });

  it("and a replay of it ends in the same way, without an endpoint", { timeout: 90_000 }, async () => {
    episodes.endpoint.answer([], hanging);
    const fields = { timeout_s: 3600, budget_wait_s: 8 };
    const first = await play(fields, {}, { refKey: "k" });
    expect(episodes.endpoint.requests).toHaveLength(1);
    const cassette = readFileSync(runPath(episodes.runs, first.run, CASSETTE_FILE), "utf8");
    episodes.endpoint.answer([], failing(500, "nobody should ask"));
    const again = await play(fields, {}, { refKey: "k", replay: { cassette, strict: true } });
    expect(episodes.endpoint.requests).toHaveLength(0);
    expect(again).toMatchObject({
      outcome: first.outcome,
      evidence: first.evidence,
      model: { calls: 0, troubles: {} },
    });
  });
});

describe("replies of no use end it as the Proposer's own failure, counted, without a motion", () => {
  it.each<[string, Handler, string]>([
    ["nothing", saying("  "), "model_empty_reply"],
    ["null as content", saying({ content: null }), "model_empty_reply"],
    ["prose", saying("First I would look at the table."), "model_no_program"],
    ["Python", saying("```python\nrobot.goto_home()\n```"), "model_wrong_language"],
    ["a refusal", saying({ content: null, refusal: "I cannot help with that." }), "model_refusal"],
  ])("%s", { timeout: 90_000 }, async (_name, handler, code) => {
    episodes.endpoint.answer([], handler);
    const result = await play();
    expect(result).toMatchObject({ outcome: "finished", claim: "execution_failure", infrastructure: null });
    expect(result.evidence).toContain(code);
    expect(result.model).toMatchObject({ calls: 2, troubles: { [code]: 2 } });
    expect(await motions(result)).toBe(0);
  });
});

describe("while a model is waited for", () => {
  /** Longer than the lease of a session, which is 1.5 s. */
  const SILENT_S = 4;

  it("the robot is held: the lease is renewed, nothing moves, and the episode goes on", {
    timeout: 90_000,
  }, async () => {
    episodes.endpoint.answer([hanging, saying('{"finish": "unresolved", "evidence": "it was a long wait"}')]);
    const result = await play({ timeout_s: SILENT_S, retries: 1 });
    expect(result).toMatchObject({
      outcome: "finished",
      claim: "unresolved",
      infrastructure: null,
      model: { calls: 1, troubles: { model_timeout: 1 } },
    });
    const log = await deviceLog(result);
    expect(log.filter(({ verb }) => verb === "execute")).toEqual([]);
    const wait = log.map(({ verb }) => (verb === "renew" ? "R" : "-")).join("");
    // At least one renewal in each lease of that silence, and nothing else between them.
    expect(wait).toMatch(/R{2,}/);
    // No lease lapsed and nobody stopped the arm meanwhile: the stop's epoch never rose.
    expect(new Set(log.map(({ reply }) => reply.stop_epoch)).size).toBe(1);
  });
});
