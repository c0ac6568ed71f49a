import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hostRequestSchema } from "../agents/host/messages.js";
import { DEFAULT_CONFIG } from "../config/index.js";
import { packageFile } from "../contract/package-root.js";
import { episodeSettings } from "../evaluation/episode-settings.js";
import { llmProposer, proposerOf, seedRange } from "./settings.js";

describe("seedRange", () => {
  it("reads one seed and a range with both ends", () => {
    expect(seedRange("7")).toEqual({ from: 7, to: 7 });
    expect(seedRange("1000..1099")).toEqual({ from: 1000, to: 1099 });
  });
  it.each(["", "a", "1-2", "1..", "-1", "1.5"])("refuses %j", (words) => {
    expect(() => seedRange(words)).toThrowError(expect.objectContaining({ code: "usage" }));
  });
});

describe("proposerOf", () => {
  it("reads a script here, so that the agent host gets its text and no path", () => {
    const folder = mkdtempSync(join(tmpdir(), "cli-settings-"));
    writeFileSync(join(folder, "mine.program.ts"), "return 1;");
    const proposer = proposerOf(`script:${join(folder, "mine.program.ts")}`, DEFAULT_CONFIG);
    expect(proposer).toEqual({ kind: "script", source: "return 1;", fileName: "mine.program.ts" });
    expect(JSON.stringify(proposer)).not.toContain(folder);
  });
  it("names the starter library by default", () => {
    expect(proposerOf("library", DEFAULT_CONFIG)).toEqual({ kind: "library", library: "starter" });
  });
  it("sends a library of one's own as its content, and refuses a folder that holds none", () => {
    const folder = packageFile("memories", "starter");
    const proposer = proposerOf(`library:${folder}`, DEFAULT_CONFIG);
    expect(proposer).toMatchObject({ kind: "library", library: "starter" });
    expect(JSON.stringify(proposer)).not.toContain(folder);
    expect(() => proposerOf("library:/does/not/exist", DEFAULT_CONFIG)).toThrowError(
      expect.objectContaining({ code: "not_found" }),
    );
  });
  it("says what it takes", () => {
    expect(() => proposerOf("model", DEFAULT_CONFIG)).toThrowError(/library.*script:FILE/);
    expect(() => proposerOf("script:/does/not/exist.ts", DEFAULT_CONFIG)).toThrowError(
      expect.objectContaining({ code: "not_found" }),
    );
  });
});

describe("llmProposer", () => {
  const model = { ...DEFAULT_CONFIG.model, base_url: "http://127.0.0.1:1234/v1", name: "m", api_key_env: "MY_KEY" };
  it("takes the key from the variable that the configuration names, and nothing else of the environment", () => {
    const { model: settings } = llmProposer({ ...DEFAULT_CONFIG, model }, { MY_KEY: "k", OPENAI_API_KEY: "other" });
    expect(settings).toMatchObject({ model: "m", api_key: "k", repairs: 1, interaction: "program" });
    expect(llmProposer({ ...DEFAULT_CONFIG, model }, { OPENAI_API_KEY: "other" }).model.api_key).toBeUndefined();
  });
  it("says what is missing", () => {
    expect(() => llmProposer(DEFAULT_CONFIG, {})).toThrow(/model\.base_url is missing/);
    expect(() => llmProposer({ ...DEFAULT_CONFIG, model: { ...model, base_url: "not an address" } }, {})).toThrow(
      /base_url/,
    );
  });
  it("is chosen by flag or by configuration", () => {
    expect(proposerOf("llm", { ...DEFAULT_CONFIG, model })).toMatchObject({ kind: "llm" });
    const proposer = { ...DEFAULT_CONFIG.proposer, kind: "llm" as const };
    expect(proposerOf(undefined, { ...DEFAULT_CONFIG, model, proposer })).toMatchObject({ kind: "llm" });
    expect(proposerOf(undefined, DEFAULT_CONFIG)).toMatchObject({ kind: "library" });
  });
});

describe("episodeSettings", () => {
  it("is what an agent host accepts", () => {
    const request = {
      type: "play",
      episode: "20260101-000000-abcdef",
      folder: "20260101-000000-abcdef",
      instruction: "x",
      addresses: { device: "ipc://a", stop: "ipc://b", events: "ipc://c" },
      proposer: proposerOf("library", DEFAULT_CONFIG),
      settings: episodeSettings(DEFAULT_CONFIG),
      randomSeed: 1,
    };
    expect(hostRequestSchema.safeParse(request).success).toBe(true);
    expect(hostRequestSchema.safeParse({ ...request, seed: 7 }).success).toBe(false);
    expect(hostRequestSchema.safeParse({ ...request, folder: "/absolute" }).success).toBe(false);
  });
});
