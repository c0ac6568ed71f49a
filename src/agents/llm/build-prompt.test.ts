import { describe, expect, it } from "vitest";
import type { StageRecord } from "../proposer.js";
import { buildPrompt } from "./build-prompt.js";
import { NORM1000_FUNCTIONS, requestInPixels, sizeFor } from "./coordinates.js";
import { estimateTokens } from "./estimate-tokens.js";
import type { ModelMessage } from "./messages.js";

const image = (stage: number, view = "topdown") => ({
  kind: "view" as const,
  view,
  observation_ref: `obs_${stage}_aaaa`,
  path: `images/${stage}.png`,
  width: 640,
  height: 480,
  age_s: 0.14,
});
const stage = (number: number): StageRecord => ({
  stage: number,
  program: number === 0 ? null : `const step = ${number};\n${"// words\n".repeat(60)}return step;`,
  calls: [
    {
      operation: "goto_home",
      request: {},
      status: "ok",
      result: `{"status":"ok"${" ".repeat(300)}}`,
      start_s: 1,
      end_s: 2,
    },
  ],
  printed: [{ level: "log", text: `printed ${number}` }] as StageRecord["printed"],
  end: number === 0 ? { kind: "looked" } : { kind: "returned", working_state: { step: number } },
  images: [image(number)],
  start_s: 10 + number,
  end_s: 11 + number,
});
const stages = [0, 1, 2, 3].map(stage);
const fixed = [{ name: "pack", text: "You control a robot." }];
const build = (tokens: number, extra: { last?: number; images?: boolean } = {}) =>
  buildPrompt(
    { instruction: "Put the can into the tray.", stages },
    { fixed, tokens, coordinates: "pixel", images: true, start_s: 10, ...extra },
  );
const text = (messages: readonly ModelMessage[]) =>
  messages
    .flatMap(({ parts }) => parts.map((part) => (part.type === "text" ? part.text : `<${part.name}>`)))
    .join("\n");

describe("buildPrompt", () => {
  it("tells goal, programs, calls and images with captions, in times since the episode began", () => {
    const messages = build(100_000);
    expect(messages.map(({ role }) => role)).toEqual([
      "system",
      "user",
      "user",
      ...Array(3).fill(["assistant", "user"]).flat(),
    ]);
    const all = text(messages);
    expect(all).toContain("Goal: Put the can into the tray.");
    expect(all).toContain("Stage 1, 1.0 to 2.0 s: the program returned");
    expect(all).toContain("[topdown 4] observation_ref obs_3_aaaa, 640 x 480, integer pixel = centre");
    expect(all).toContain("0.1 s old");
    expect(all).toContain("<topdown 4>");
  });

  it("cuts images, then results, then programs, the oldest first, and never the latest stage", () => {
    const whole = estimateTokens(build(100_000));
    const sizes = [whole - 1, whole - 1000, whole - 1300, whole - 1700];
    const cut = sizes.map((size) => text(build(size)));
    expect(cut[0]).not.toContain("<topdown 1>");
    expect(cut[0]).toContain("<topdown 2>");
    expect(cut[1]).not.toContain("<topdown 3>");
    expect(cut[1]).toContain("printed 1");
    expect(cut[2]).not.toContain("printed 1");
    expect(cut[2]).toContain("const step = 1");
    expect(cut[3]).not.toContain("const step = 1");
    for (const one of cut) {
      expect(one).toContain("<topdown 4>");
      expect(one).toContain("printed 3");
      expect(one).toContain("You control a robot.");
    }
    for (const size of sizes) expect(estimateTokens(build(size))).toBeLessThanOrEqual(size);
  });

  it("refuses what cannot be cut, with sizes", () => {
    expect(() => build(300)).toThrow(/about \d+ tokens of 300 \(pack \d+, the latest stage \d+\)/);
  });

  it("shows the last stages only, and no pixels, where asked", () => {
    expect(text(build(100_000, { last: 1 }))).not.toContain("const step = 2");
    const blind = text(build(100_000, { images: false }));
    expect(blind).not.toContain("<topdown");
    expect(blind).toContain("(image not shown)");
  });
});

describe("coordinates in thousandths", () => {
  it("become pixels of the image that the request names", () => {
    const request = {
      observation_ref: "obs_2_aaaa",
      box: { x0: 0, y0: 500, x1: 1000, y1: 1000 },
      target_pixel: { u: 1000, v: 0 },
    };
    const size = sizeFor(
      request,
      stages.flatMap(({ images }) => images),
    );
    expect(size).toEqual({ width: 640, height: 480 });
    expect(requestInPixels(request, size!)).toMatchObject({
      box: { x0: 0, y0: 240, x1: 640, y1: 480 },
      target_pixel: { u: 639, v: 0 },
    });
    expect(requestInPixels({ u: 500, v: 500 }, size!)).toEqual({ u: 320, v: 240 });
  });

  it("are converted by what a program finds, as they are here", () => {
    const body = NORM1000_FUNCTIONS.replace(/: (Box|Pixel|number|\{ width: number; height: number \})/g, "");
    const { boxInPixels, pointInPixels } = new Function(`${body}; return { boxInPixels, pointInPixels };`)() as {
      boxInPixels: (box: unknown, view: unknown) => unknown;
      pointInPixels: (point: unknown, view: unknown) => unknown;
    };
    const view = { width: 640, height: 480 };
    for (const at of [0, 1, 333, 500, 999, 1000]) {
      const box = { x0: at, y0: at, x1: at, y1: at };
      expect(boxInPixels(box, view)).toEqual(requestInPixels({ box }, view).box);
      expect(pointInPixels({ u: at, v: at }, view)).toEqual(requestInPixels({ u: at, v: at }, view));
    }
  });
});
