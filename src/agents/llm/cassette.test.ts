import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CASSETTE_FILE, episodeKeyOf, RecordingModel, ReplayingModel } from "./cassette.js";
import { type ModelMessage, textMessage } from "./messages.js";
import type { Model } from "./model.js";

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "s2r-cassette-"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const answering: Model = {
  complete: async (messages) => ({
    reply: { text: `heard ${messages.length}`, tool: null, finish_reason: "stop", refusal: null },
    usage: { tokens_in: 1, tokens_out: 2, counted: true },
    latency_ms: 3,
    cost: 0.5,
    troubles: ["model_timeout"],
  }),
};
const { signal } = new AbortController();
const seen = (path: string): ModelMessage => ({
  role: "user",
  parts: [
    { type: "text", text: "look" },
    { type: "image", name: "topdown 1", width: 4, height: 3, path },
  ],
});

function folder(pixels: string): string {
  const path = mkdtempSync(join(root, "run-"));
  mkdirSync(join(path, "images"));
  writeFileSync(join(path, "images", "a.png"), pixels);
  return path;
}
async function recorded(): Promise<string> {
  const run = folder("pixels");
  const model = new RecordingModel(answering, { folder: run, policy: "p1", modelName: "m", episodeKey: "e" });
  await model.complete([textMessage("system", "s"), seen("images/a.png")], signal);
  await model.complete([textMessage("system", "s"), textMessage("user", "line one\nline two")], signal);
  return readFileSync(join(run, CASSETTE_FILE), "utf8");
}
const replay = (cassette: string, fields: { policy?: string; strict?: boolean; folder?: string } = {}) =>
  ReplayingModel.open({ cassette, policy: "p1", strict: false, folder: root, ...fields });

describe("a cassette", () => {
  it("answers the same requests with the same replies, usage and troubles, whatever the image's path", async () => {
    const model = replay(await recorded());
    expect(await model.complete([textMessage("system", "s"), seen("elsewhere.png")])).toMatchObject({
      reply: { text: "heard 2" },
      usage: { tokens_in: 1, tokens_out: 2 },
      cost: 0.5,
      troubles: ["model_timeout"],
    });
  });

  it("stops at the first request that is not there, with the line that differs", async () => {
    const model = replay(await recorded());
    await model.complete([textMessage("system", "s"), seen("x.png")]);
    await expect(
      model.complete([textMessage("system", "s"), textMessage("user", "line one\nline 2")]),
    ).rejects.toMatchObject({
      code: "diverged",
      message: expect.stringMatching(/request 2 .*message 2 \(user\), line 2: now "line 2", recorded "line two"/),
    });
    await model.complete([textMessage("system", "s"), textMessage("user", "line one\nline two")]);
    await expect(model.complete([])).rejects.toThrow(/ends after 2 replies/);
  });

  it("compares pixels where it is strict", async () => {
    const cassette = await recorded();
    const messages = [textMessage("system", "s"), seen("images/a.png")];
    await replay(cassette, { strict: true, folder: folder("pixels") }).complete(messages);
    await expect(replay(cassette, { strict: true, folder: folder("others") }).complete(messages)).rejects.toThrow(
      /pixels of image 1/,
    );
  });

  it("is refused under another policy, and where it is none", async () => {
    const cassette = await recorded();
    expect(() => replay(cassette, { policy: "p2" })).toThrow(/another policy/);
    expect(episodeKeyOf(cassette)).toBe("e");
    expect(() => episodeKeyOf("{}")).toThrow(/no cassette/);
    expect(() => replay("{}")).toThrow(/no cassette/);
    expect(() => replay("words")).toThrow(/no cassette/);
  });

  it("holds no key, no address and no path", async () => {
    expect(await recorded()).not.toMatch(/http|api_key|images\/a\.png|\/tmp/);
  });
});
