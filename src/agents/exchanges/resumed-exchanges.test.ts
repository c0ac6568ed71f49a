import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CASSETTE_FILE } from "./cassette.js";
import type { Answer, Question } from "./exchange.js";
import { Exchanges } from "./exchanges.js";

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "s2r-resumed-exchanges-"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const question = (words: string): Question => ({
  kind: "proposer",
  request: [{ words }] as unknown as Question["request"],
  pixels: [],
  survives: false,
});
const saying = (words: string) => async (): Promise<Answer> => ({
  reply: words as unknown as Answer["reply"],
  usage: null,
  latency_ms: 1,
  cost: null,
  troubles: [],
});
async function resumed(): Promise<Exchanges> {
  const folder = mkdtempSync(join(root, "run-"));
  const record = { folder, policy: "p", models: {}, episode_key: "e" };
  const recording = new Exchanges({ record });
  for (const words of ["one", "two", "three"]) await recording.ask(question(words), saying(`recorded ${words}`));
  const cassette = readFileSync(join(folder, CASSETTE_FILE), "utf8");
  return new Exchanges({ replay: { cassette, policy: "p", strict: true, onward: true } });
}

describe("exchanges of a resumed episode", () => {
  it("stop where what is worked out again asks for something else", async () => {
    const exchanges = await resumed();
    await expect(exchanges.ask(question("other"), saying("live"))).rejects.toMatchObject({ code: "diverged" });
  });

  it("may part from the recording once nothing is worked out again, and then ask for everything", async () => {
    const exchanges = await resumed();
    expect(await exchanges.ask(question("one"), saying("live"))).toMatchObject({ reply: "recorded one" });
    exchanges.mayPart();
    expect(await exchanges.ask(question("two"), saying("live"))).toMatchObject({ reply: "recorded two" });
    expect(await exchanges.ask(question("another"), saying("live"))).toMatchObject({ reply: "live" });
    expect(await exchanges.ask(question("three"), saying("live"))).toMatchObject({ reply: "live" });
  });
});
