import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Skill2RealError } from "../../contract/errors.js";
import { ExchangedModel } from "../llm/exchanged-model.js";
import { type ModelMessage, textMessage } from "../llm/messages.js";
import type { Model } from "../llm/model.js";
import { CASSETTE_FILE, cassetteHeader, isTorn } from "./cassette.js";
import { Exchanges } from "./exchanges.js";

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "s2r-cassette-"));
  mkdirSync(join(root, "images"));
  writeFileSync(join(root, "images", "b.png"), "other pixels");
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
  const exchanges = new Exchanges({
    record: { folder: run, policy: "p1", models: { proposer: "m" }, episode_key: "e" },
  });
  const model = new ExchangedModel({ kind: "proposer", survives: false, exchanges, live: answering, folder: run });
  await model.complete([textMessage("system", "s"), seen("images/a.png")], signal);
  await model.complete([textMessage("system", "s"), textMessage("user", "line one\nline two")], signal);
  return readFileSync(join(run, CASSETTE_FILE), "utf8");
}
const nobody: Model = {
  complete: async () => {
    throw new Error("nobody should be asked");
  },
};
function replay(
  cassette: string,
  { policy = "p1", strict = false, folder = root }: { policy?: string; strict?: boolean; folder?: string } = {},
) {
  const exchanges = new Exchanges({ replay: { cassette, policy, strict } });
  const model = new ExchangedModel({ kind: "proposer", survives: false, exchanges, live: nobody, folder });
  return { complete: (messages: ModelMessage[]) => model.complete(messages, signal) };
}

describe("a cassette", () => {
  it("answers the same requests with the same replies, usage and troubles, whatever the image's path", async () => {
    const model = replay(await recorded());
    expect(await model.complete([textMessage("system", "s"), seen("images/b.png")])).toMatchObject({
      reply: { text: "heard 2" },
      usage: { tokens_in: 1, tokens_out: 2 },
      cost: 0.5,
      troubles: ["model_timeout"],
    });
  });

  it("stops at the first request that is not there, with the line that differs", async () => {
    const model = replay(await recorded());
    await model.complete([textMessage("system", "s"), seen("images/b.png")]);
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
    expect(cassetteHeader(cassette)).toMatchObject({ episode_key: "e", models: { proposer: "m" } });
    expect(() => cassetteHeader("{}")).toThrow(/no cassette/);
    expect(() => replay("{}")).toThrow(/no cassette/);
    expect(() => replay("words")).toThrow(/no cassette/);
  });

  it("that was cut while it was written counts as far as it is whole, and says so", async () => {
    const cassette = await recorded();
    expect(isTorn(cassette)).toBe(false);
    const second = cassette.trimEnd().lastIndexOf("\n") + 1;
    for (const at of [second + 1, second + 60, cassette.length - 2]) {
      const cut = cassette.slice(0, at);
      expect(isTorn(cut)).toBe(true);
      const model = replay(cut);
      await model.complete([textMessage("system", "s"), seen("images/b.png")]);
      await expect(model.complete([])).rejects.toMatchObject({
        code: "diverged",
        message: expect.stringMatching(/ends after 1 replies; its last line was not written to its end/),
      });
    }
    // Only the end of its line is missing.
    const whole = replay(cassette.trimEnd());
    await whole.complete([textMessage("system", "s"), seen("images/b.png")]);
    await whole.complete([textMessage("system", "s"), textMessage("user", "line one\nline two")]);
  });

  it("is refused at once where a line was changed, with its number", async () => {
    const cassette = await recorded();
    const refused = (changed: string, words: RegExp) => {
      expect(changed).not.toBe(cassette);
      expect(() => replay(changed)).toThrow(
        expect.objectContaining({ code: "bad_config", message: expect.stringMatching(words) }),
      );
    };
    refused(
      cassette.replace('"text":"heard 2"', '"text":"heard 3"'),
      /^line 2 of the cassette is not what was recorded/,
    );
    refused(cassette.replace(/(.*)"cost":0\.5/s, '$1"cost":0'), /^line 3 of the cassette is not what was recorded/);
    refused(cassette.replace(/(\n.*),"sum":"[0-9a-f]+"/, "$1"), /^line 2 of the cassette is no whole exchange/);
  });

  it("is refused where its header was changed: policy, models, tools or key", async () => {
    const run = folder("x");
    const record = { folder: run, policy: "p1", models: { proposer: "m" }, episode_key: "e" };
    new Exchanges({ record });
    const cassette = readFileSync(join(run, CASSETTE_FILE), "utf8");
    expect(cassetteHeader(cassette)).toEqual({ policy: "p1", models: { proposer: "m" }, episode_key: "e" });
    for (const [was, is] of [
      ['"policy":"p1"', '"policy":"p2"'],
      ['{"proposer":"m"}', "{}"],
      ['"episode_key":"e"', '"episode_key":"f"'],
      [',"sum"', ',"tools":[],"sum"'],
    ] as const) {
      const changed = cassette.replace(was, is);
      expect(changed).not.toBe(cassette);
      for (const open of [() => replay(changed, { policy: "p2" }), () => cassetteHeader(changed)])
        expect(open).toThrow(
          expect.objectContaining({ code: "bad_config", message: expect.stringMatching(/^line 1 .* was changed/) }),
        );
    }
  });

  it("is refused where lines were taken out, moved or put in, while a shorter one is whole", async () => {
    const [header = "", first = "", second = ""] = (await recorded()).trim().split("\n");
    const of = (...lines: string[]) => `${lines.join("\n")}\n`;
    for (const [changed, number] of [
      [of(header, second), 2],
      [of(header, second, first), 2],
      [of(header, first, first, second), 3],
      [of(header, first, "", second), 3],
    ] as const)
      expect(() => replay(changed)).toThrow(
        expect.objectContaining({
          code: "bad_config",
          message: expect.stringMatching(new RegExp(`^line ${number} of the cassette is `)),
        }),
      );
    const model = replay(of(header, first));
    await model.complete([textMessage("system", "s"), seen("images/b.png")]);
    await expect(model.complete([])).rejects.toThrow(/ends after 1 replies$/);
  });

  it("holds no key, no address and no path", async () => {
    expect(await recorded()).not.toMatch(/http|api_key|images\/a\.png|\/tmp/);
  });
});

describe("questions of several kinds", () => {
  const answer = (reply: string) => async () => ({ reply, usage: null, latency_ms: 1, cost: null, troubles: [] });
  const question = (kind: string, request: string, pixels: string[] = []) => ({
    kind,
    request,
    pixels,
    survives: true,
  });
  const broken = async () => {
    throw new Skill2RealError("model_timeout", "no reply", {
      details: { troubles: ["model_timeout", "model_timeout"] },
    });
  };
  async function kept(): Promise<string> {
    const run = folder("x");
    const exchanges = new Exchanges({ record: { folder: run, policy: "p", models: {}, episode_key: "e" } });
    await exchanges.ask(question("pointer", "cup?", ["aa"]), answer("left"));
    await exchanges.ask(question("tool", "stock"), answer("three"));
    await expect(exchanges.ask(question("pointer", "plate?"), broken)).rejects.toMatchObject({ code: "model_timeout" });
    return readFileSync(join(run, CASSETTE_FILE), "utf8");
  }
  const nobodyAsked = answer("nobody should be asked");

  it("are answered each in their own order, failures that the episode survived too", async () => {
    const exchanges = new Exchanges({ replay: { cassette: await kept(), policy: null, strict: false } });
    expect((await exchanges.ask(question("tool", "stock"), nobodyAsked)).reply).toBe("three");
    expect((await exchanges.ask(question("pointer", "cup?", ["bb"]), nobodyAsked)).reply).toBe("left");
    await expect(exchanges.ask(question("pointer", "plate?"), nobodyAsked)).rejects.toMatchObject({
      code: "model_timeout",
      message: "no reply",
      details: { troubles: ["model_timeout", "model_timeout"] },
    });
  });

  it("stop at the first that is not there, naming the kind, and where strict at the first other pixels", async () => {
    const cassette = await kept();
    const open = (strict: boolean) => new Exchanges({ replay: { cassette, policy: "p", strict } });
    await expect(open(false).ask(question("pointer", "bowl?"), nobodyAsked)).rejects.toMatchObject({
      code: "diverged",
      message: expect.stringMatching(/^pointer: request 1 is not the recorded one: .*now "\\"bowl/),
    });
    await expect(open(false).ask(question("verifier", "same?"), nobodyAsked)).rejects.toThrow(
      /^verifier: request 1 is not in the cassette/,
    );
    await expect(open(true).ask(question("pointer", "cup?", ["bb"]), nobodyAsked)).rejects.toThrow(/pixels of image 1/);
    await open(true).ask(question("pointer", "cup?", ["aa"]), nobodyAsked);
  });

  it("that a budget of time ended are kept, end a replay too, and are asked again where an episode goes on", async () => {
    const run = folder("x");
    const exchanges = new Exchanges({ record: { folder: run, policy: "p", models: {}, episode_key: "e" } });
    const fatal = { ...question("proposer", "go"), survives: false };
    const ended = async () => {
      throw new Skill2RealError("budget_ended", "3 s are used up", { details: { troubles: ["model_timeout"] } });
    };
    await expect(exchanges.ask(fatal, ended)).rejects.toMatchObject({ code: "budget_ended" });
    const cassette = readFileSync(join(run, CASSETTE_FILE), "utf8");
    const open = (onward: boolean) => new Exchanges({ replay: { cassette, policy: "p", strict: true, onward } });
    await expect(open(false).ask(fatal, nobodyAsked)).rejects.toMatchObject({
      code: "budget_ended",
      message: "3 s are used up",
      details: { troubles: ["model_timeout"] },
    });
    expect((await open(true).ask(fatal, answer("gone"))).reply).toBe("gone");
  });

  it("whose failure ends the episode leave no trace of it", async () => {
    const run = folder("x");
    const exchanges = new Exchanges({ record: { folder: run, policy: "p", models: {}, episode_key: "e" } });
    const fatal = { ...question("proposer", "go"), survives: false };
    await expect(exchanges.ask(fatal, broken)).rejects.toMatchObject({ code: "model_timeout" });
    expect(readFileSync(join(run, CASSETTE_FILE), "utf8").trim().split("\n")).toHaveLength(1);
  });
});
