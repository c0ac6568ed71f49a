import { describe, expect, it } from "vitest";
import type { JsonValue } from "../contract/index.js";
import { packageFile } from "../contract/package-root.js";
import { LibraryProposer } from "./library-proposer.js";
import type { CallRecord, Decision, StageEnd, StageRecord } from "./proposer.js";
import { RecordedProposer } from "./recorded-proposer.js";
import { claimOf, ScriptProposer } from "./script-proposer.js";
import { type SeenView, stageImages } from "./stage-images.js";

const stage = (number: number, end: StageEnd): StageRecord => ({
  stage: number,
  program: null,
  calls: [],
  printed: [],
  end,
  images: [],
  start_s: 0,
  end_s: 1,
});
const { signal } = new AbortController();
const looked = stage(0, { kind: "looked" });
const threw: StageEnd = { kind: "threw", message: "Error: lost it", line: 3, column: 1 };
const refused: StageEnd = {
  kind: "refused",
  diagnostics: [{ file: "p.ts", line: 1, column: 2, code: "type", message: "no such name" }],
};
const returned = (working_state: Extract<StageEnd, { kind: "returned" }>["working_state"]): StageEnd => ({
  kind: "returned",
  working_state,
});

describe("ScriptProposer", () => {
  const proposer = new ScriptProposer({ source: "return 1;", fileName: "p.ts" });
  const next = (...stages: StageRecord[]) => proposer.next({ instruction: "x", stages, signal });

  it("plays its program once, after the first look", async () => {
    expect(await next(looked)).toEqual({ program: "return 1;", fileName: "p.ts" });
    expect(await next(looked, stage(1, returned(null)))).toMatchObject({ finish: "unresolved" });
  });

  it("claims what the program claims, and nothing that it does not", async () => {
    expect(await next(looked, stage(1, returned({ finish: "supported", evidence: "seen in the tray" })))).toEqual({
      finish: "supported",
      evidence: "seen in the tray",
    });
    expect(await next(looked, stage(1, returned({ finish: "supported", evidence: { z: 1 } })))).toEqual({
      finish: "supported",
      evidence: '{"z":1}',
    });
    expect(await next(looked, stage(1, returned({ finish: "partial" })))).toEqual({
      finish: "partial",
      evidence: "null",
    });
    const others: JsonValue[] = [null, 3, "supported", ["supported"], { finish: "done" }, { finished: "supported" }];
    for (const state of [...others, { finish: true }])
      expect(claimOf(returned(state))).toMatchObject({ finish: "unresolved" });
  });

  it("claims a failed execution for a program that threw, was killed or was refused", () => {
    expect(claimOf(threw)).toEqual({ finish: "execution_failure", evidence: "Error: lost it" });
    expect(claimOf({ kind: "killed", code: "too_many_calls", message: "1001 calls" })).toEqual({
      finish: "execution_failure",
      evidence: "1001 calls",
    });
    expect(claimOf(refused)).toEqual({
      finish: "execution_failure",
      evidence: "the program was refused: no such name",
    });
    expect(claimOf({ kind: "looked" })).toMatchObject({ finish: "unresolved" });
  });
});

describe("LibraryProposer", () => {
  const instruction = "Put the red can into the blue tray.";
  const starter = (skills = ["pointing"]) => LibraryProposer.create(packageFile("memories", "starter"), skills);
  const nameOf = (decision: Decision): string =>
    "program" in decision
      ? decision.fileName
      : "finish" in decision
        ? `${decision.finish}: ${decision.evidence}`
        : decision.budget;
  const names = async (...stages: StageRecord[]) => nameOf(await starter().next({ instruction, stages, signal }));

  it("begins with the first stage of the entry that fits, with the task's words and the functions that it uses", async () => {
    const decision = await starter().next({ instruction, stages: [looked], signal });
    expect(nameOf(decision)).toBe("put_into.observe.ts");
    expect(decision).toHaveProperty(
      "program",
      expect.stringMatching(
        /^const task = \{"object":"red can","relation":"into","goal":"blue tray"\}[\s\S]*async function find_thing/,
      ),
    );
  });

  it("goes on with the stage that the last one named, and ends with its claim", async () => {
    expect(await names(looked, stage(1, returned({ next: "pick", rounds: 1 })))).toBe("put_into.pick.ts");
    expect(await names(looked, stage(1, returned({ finish: "supported", evidence: "seen" })))).toBe("supported: seen");
    expect(await names(looked, stage(1, returned("pick")))).toMatch(/^unresolved: /);
    await expect(names(looked, stage(1, returned({ next: "dance" })))).rejects.toMatchObject({ code: "bad_config" });
  });

  it("begins again after a failure, and gives up after three in a row or a refusal", async () => {
    expect(await names(looked, stage(1, threw))).toBe("put_into.observe.ts");
    expect(await names(looked, stage(1, threw), stage(2, threw))).toBe("put_into.observe.ts");
    expect(await names(looked, stage(1, threw), stage(2, threw), stage(3, threw))).toBe(
      "execution_failure: Error: lost it",
    );
    const between = stage(2, returned({ next: "pick" }));
    expect(await names(looked, stage(1, threw), between, stage(3, threw), stage(4, threw))).toBe("put_into.observe.ts");
    expect(await names(looked, stage(1, refused))).toMatch(/^execution_failure: the program was refused/);
  });

  it("says so rather than guess, where no entry fits or a skill that it needs is off", async () => {
    const other = await starter().next({ instruction: "Whistle a tune.", stages: [looked], signal });
    expect(nameOf(other)).toBe("unresolved: no entry of the library fits this instruction");
    const without = await starter([]).next({ instruction, stages: [looked], signal });
    expect(nameOf(without)).toBe("unresolved: entry put_into needs the skill pointing, which is off");
  });

  it("is refused for a folder without a library", () => {
    expect(() => LibraryProposer.create(packageFile("src"), [])).toThrow(
      expect.objectContaining({ code: "not_found" }),
    );
  });
});

describe("RecordedProposer", () => {
  it("decides as before, whatever the stages say", async () => {
    const proposer = new RecordedProposer({ programs: ["a", "b"], claim: "partial", evidence: "half" });
    const next = (...stages: StageRecord[]) => proposer.next({ instruction: "", stages, signal });
    expect(await next(looked)).toEqual({ program: "a", fileName: "stage-1.ts" });
    expect(await next(looked, stage(1, threw))).toEqual({ program: "b", fileName: "stage-2.ts" });
    expect(await next(looked, stage(1, threw), stage(2, threw))).toEqual({ finish: "partial", evidence: "half" });
  });
});

describe("stageImages", () => {
  const call = (operation: string, request: unknown = {}, status = "ok"): CallRecord => ({
    operation,
    request,
    status,
    result: "",
    start_s: 0,
    end_s: 0,
  });
  const view = (ref: string, taken_at_s: number) => ({
    status: "ok",
    observation_ref: ref,
    left_image_path: `${ref}.png`,
    width: 640,
    height: 480,
    taken_at_s,
  });

  it("keeps the last image of each view with its age, and every mask overlay, of earlier stages' views too", () => {
    const known = new Map<string, SeenView>();
    stageImages([call("get_scene_stereo_view")], [view("obs_1", 0.5)], known, 1);
    const images = stageImages(
      [
        call("get_topdown_stereo_view"),
        call("get_topdown_stereo_view"),
        call("get_topdown_stereo_view", {}, "camera_failed"),
        call("get_sam_mask_from_box", { observation_ref: "obs_1" }),
        call("get_sam_mask_from_box", { observation_ref: "obs_9" }),
        call("get_current_image_path"),
      ],
      [
        view("obs_2", 1),
        view("obs_3", 2),
        { status: "camera_failed" },
        { status: "ok", overlay_path: "m.png" },
        { status: "ok", overlay_path: "n.png" },
        "a path",
      ],
      known,
      4,
    );
    expect(images).toEqual([
      { kind: "view", view: "topdown", observation_ref: "obs_3", path: "obs_3.png", width: 640, height: 480, age_s: 2 },
      { kind: "overlay", view: "scene", observation_ref: "obs_1", path: "m.png", width: 640, height: 480, age_s: 3.5 },
    ]);
  });
});
