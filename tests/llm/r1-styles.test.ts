/**
 * Pick-and-place through the language-model Proposer, with models of three styles behind a real endpoint.
 * S2R_SEEDS=1000..1049 plays that range instead of the one seed of every run.
 */
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CASSETTE_FILE } from "../../src/agents/exchanges/cassette.js";
import { type ModelSettings, modelSettingsSchema } from "../../src/agents/llm/settings.js";
import { seedRange } from "../../src/cli/settings.js";
import type { EpisodeResult } from "../../src/evaluation/episode-result.js";
import { runPath } from "../../src/evaluation/episode-worker.js";
import { failing, type Handler, saying } from "../support/model-endpoint.js";
import { modelEpisodes } from "../support/model-episodes.js";
import { fencedPrograms, seeingModel, toolCalls } from "./scripted-models.js";

const { from, to } = seedRange(process.env.S2R_SEEDS ?? "1000");
const SEEDS = Array.from({ length: to - from + 1 }, (_, at) => from + at);

const episodes = modelEpisodes("s2r-llm-");

type Extra = Partial<ModelSettings> & {
  pointing?: boolean;
  replay?: { cassette: string; strict: boolean };
  refKey?: string;
};
function play(seed: number, { pointing = true, replay, refKey, ...fields }: Extra = {}): Promise<EpisodeResult> {
  const model = modelSettingsSchema.parse({
    base_url: episodes.endpoint.base_url,
    model: "scripted",
    api_key: "k-e-y",
    ...fields,
  });
  return episodes.worker.play({
    task: "r1",
    seed,
    ...(refKey ? { refKey } : {}),
    proposer: { kind: "llm", model, task_text: "" },
    ...(replay ? { replay } : {}),
    settings: {
      motion: {},
      perception: {},
      quotas: {},
      budgets: { max_stages: 20 },
      skills: { paths: [], enable: pointing ? ["pointing"] : [], disable: [] },
    },
  });
}
const why = ({ outcome, claim, evidence, infrastructure, failure_kind, seed }: EpisodeResult): string =>
  `seed ${seed}: ${infrastructure ?? failure_kind ?? outcome}, ${claim}: ${evidence}`;

describe.each<[string, Handler, Extra]>([
  ["calls of tools", toolCalls, {}],
  ["fenced programs, not streamed", fencedPrograms, { stream: false, tools: "off" }],
  ["a model that sees, without pointer", seeingModel, { pointing: false, tools: "off" }],
])("a model that answers in %s", (_name, handler, fields) => {
  it(`succeeds on seeds ${from}..${to}`, { timeout: 30_000 * SEEDS.length }, async () => {
    episodes.endpoint.answer([], handler);
    const failures: string[] = [];
    for (const seed of SEEDS) {
      const result = await play(seed, fields);
      expect(result.model, why(result)).toMatchObject({ model: "scripted", counted: true });
      expect(result.model?.calls).toBeGreaterThanOrEqual(3);
      if (result.success !== true) failures.push(why(result));
    }
    console.log(
      `${_name}: ${SEEDS.length - failures.length} of ${SEEDS.length}${failures.map((line) => `\n  ${line}`).join("")}`,
    );
    expect(failures.length, failures.join("\n")).toBeLessThanOrEqual(SEEDS.length / 10);
  });
});

describe("what a model is shown", { timeout: 120_000 }, () => {
  it("holds no seed, task id, path or key, and images with captions", async () => {
    episodes.endpoint.answer([], fencedPrograms);
    const result = await play(1000);
    const [first] = episodes.endpoint.requests;
    const all = JSON.stringify(episodes.endpoint.requests.map(({ messages }) => messages)).replace(
      /data:image\/png;base64,[^"]*/g,
      "PNG",
    );
    expect(all).not.toMatch(/k-e-y|1000\b.*seed|"r1"|\/tmp|s2r-llm/);
    expect(all.match(/\[topdown 1\] observation_ref obs_/g)?.length).toBeGreaterThanOrEqual(1);
    expect(JSON.stringify(first)).toContain("[scene 1] observation_ref");
    const run = runPath(episodes.runs, result.run, CASSETTE_FILE);
    expect(existsSync(run)).toBe(true);
    expect(readFileSync(run, "utf8")).not.toMatch(/k-e-y|Bearer|127\.0\.0\.1/);
  });
});

describe("a recorded episode", { timeout: 120_000 }, () => {
  it("is played again from its cassette, without an endpoint and with equal text and pixels", async () => {
    episodes.endpoint.answer([], fencedPrograms);
    const first = await play(1001, { refKey: "key-of-the-episode" });
    const cassette = readFileSync(runPath(episodes.runs, first.run, CASSETTE_FILE), "utf8");
    episodes.endpoint.answer([], failing(500, "nobody should ask"));
    const again = await play(1001, { refKey: "key-of-the-episode", replay: { cassette, strict: true } });
    expect(episodes.endpoint.requests).toHaveLength(0);
    expect(why(again)).toBe(why(first));
    const digest = (result: EpisodeResult) =>
      JSON.parse(readFileSync(runPath(episodes.runs, result.run, "stages.json"), "utf8")) as unknown[];
    expect(digest(again)).toEqual(digest(first));
  });

  it("is not continued on another world: the first request that differs is told", async () => {
    episodes.endpoint.answer([], fencedPrograms);
    const first = await play(1001, { refKey: "k" });
    const cassette = readFileSync(runPath(episodes.runs, first.run, CASSETTE_FILE), "utf8");
    const other = await play(1000, { refKey: "k", replay: { cassette, strict: false } });
    expect(other).toMatchObject({ outcome: "failed", success: null });
    expect(other.infrastructure).toMatch(/^diverged: .*request 1 is not the recorded one: message/);
  });
});

describe("replies that are no use", { timeout: 120_000 }, () => {
  const program = (code: string) => `\`\`\`ts\n${code}\n\`\`\``;
  it("go back once with what is wrong, and then end the episode, without a motion", async () => {
    episodes.endpoint.answer([], saying(program("await robot.fly_away({});\nreturn 1;")));
    const result = await play(1000, { tools: "off" });
    expect(result.outcome).toBe("budget");
    expect(result.model?.troubles.program_refused).toBeGreaterThanOrEqual(2);
    const second = episodes.endpoint.requests[1]?.messages.at(-1)?.content;
    expect(second).toMatch(/did not pass the check.*fly_away/s);
    const stages = JSON.parse(readFileSync(runPath(episodes.runs, result.run, "stages.json"), "utf8")) as {
      calls: unknown[];
      stage: number;
    }[];
    expect(stages.filter(({ stage }) => stage > 0).flatMap(({ calls }) => calls)).toEqual([]);
  });

  it("end as the Proposer's own failure where there is no program at all", async () => {
    episodes.endpoint.answer([], saying("I would rather talk about it."));
    const result = await play(1000, { tools: "off", repairs: 2 });
    expect(result).toMatchObject({
      outcome: "finished",
      claim: "execution_failure",
      infrastructure: null,
      success: false,
    });
    expect(result.evidence).toMatch(/model_no_program.*3 tries/);
  });

  it("are the infrastructure's where the endpoint fails", async () => {
    episodes.endpoint.answer([], failing(401, "who are you"));
    const result = await play(1000);
    expect(result).toMatchObject({ success: null, infrastructure: expect.stringMatching(/^model_unauthorized/) });
  });
});

describe("budgets", { timeout: 120_000 }, () => {
  it("of calls and tokens end the episode, which says so", async () => {
    episodes.endpoint.answer([], saying("```ts\nreturn 1;\n```"));
    expect(await play(1000, { budget_calls: 2 })).toMatchObject({
      outcome: "budget",
      evidence: "2 calls of the model are used up",
    });
    const tokens = await play(1000, { budget_tokens: 2000 });
    expect(tokens.evidence).toMatch(/2000 tokens/);
  });
});

describe("modes without programs", { timeout: 120_000 }, () => {
  const replies = [
    '```json\n{"call": "get_robot_state", "request": {}, "notes": "asked the state"}\n```',
    '{"call": "goto_home", "request": {}, "notes": "went home"}',
    '{"finish": "partial", "evidence": "home", "notes": ""}',
  ];
  it.each(["direct", "direct-notes"] as const)("%s carries out one operation per reply", async (interaction) => {
    episodes.endpoint.answer(replies.map((reply) => saying(reply)));
    const result = await play(1000, { interaction });
    expect(result).toMatchObject({ outcome: "finished", claim: "partial", stages: 2, calls: 4 });
    const last = JSON.stringify(episodes.endpoint.requests[2]?.messages);
    expect(last).toContain("goto_home");
    expect(last.includes("Your notes:\\nwent home")).toBe(interaction === "direct-notes");
    expect(episodes.endpoint.requests[0]?.tools).toBeUndefined();
  });

  it("program-once asks once and takes the program's own word", async () => {
    episodes.endpoint.answer([saying('```ts\nreturn { finish: "partial", evidence: "no feedback" };\n```')]);
    expect(await play(1000, { interaction: "program-once" })).toMatchObject({
      claim: "partial",
      evidence: "no feedback",
      stages: 1,
    });
    expect(episodes.endpoint.requests).toHaveLength(1);
  });
});
