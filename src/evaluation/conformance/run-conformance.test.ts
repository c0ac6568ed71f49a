import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeBackend } from "../../../tests/support/fake-backend.js";
import { countResults, formatResults } from "./format-results.js";
import { type CheckResult, runConformance } from "./run-conformance.js";

let fake: FakeBackend;
beforeEach(async () => {
  fake = await FakeBackend.start();
});
afterEach(() => fake.close());

const run = (filter: string[]) => runConformance({ target: { addresses: fake.addresses, allowMotion: false }, filter });

const outcomes = (results: readonly CheckResult[]) =>
  Object.fromEntries(results.map((result) => [result.name, result.outcome]));

describe("runConformance", () => {
  it("fails a backend that does what the protocol forbids, and passes what it does well", async () => {
    // This one knows a single session, takes every Hello, and keeps no sequence.
    const results = await run(["hello: hello_names", "hello: second_controller", "hello: hello_grants", "gap_in"]);
    expect(outcomes(results)).toEqual({
      hello_names_a_session: "failed",
      second_controller_is_refused: "failed",
      hello_grants_the_lease: "passed",
      gap_in_the_sequence_is_refused: "failed",
    });
    expect(results.find(({ name }) => name === "hello_names_a_session")?.message).toContain("same session s1");
    expect(results.find(({ name }) => name === "gap_in_the_sequence_is_refused")?.message).toContain("ERROR_SEQUENCE");
  });

  it("fails a backend that answers a repeated request anew", async () => {
    fake.answer = (request) => {
      fake.time_s += 1;
      return request.get_state ? { reply: { state: {} } } : undefined;
    };
    const results = await run(["repeated_request_gets"]);
    expect(outcomes(results)).toEqual({ repeated_request_gets_the_first_reply: "failed" });
  });

  it("skips what the backend lacks and says so", async () => {
    const results = await run(["gripper_goes", "frames_of_one_view", "wrong_token", "wall_time", "trajectory_ends"]);
    expect(results.map(({ outcome }) => outcome)).toEqual(Array(5).fill("skipped"));
    const messages = results.map(({ name, message }) => `${name}: ${message}`).join("\n");
    expect(messages).toContain("frames_of_one_view_are_of_one_moment: it has no camera");
    expect(messages).toContain("wrong_token_is_refused_and_tells_nothing: no privileged socket is at hand");
    expect(messages).toContain("wall_time_passes: its clock is simulated");
    expect(messages).toContain("trajectory_ends_at_its_last_point: its arm may not be moved");
  });

  it("tells each result as it comes", async () => {
    const seen: string[] = [];
    const target = { addresses: fake.addresses, allowMotion: false };
    await runConformance({ target, filter: ["hello_grants"], onResult: ({ name }) => seen.push(name) });
    expect(seen).toEqual(["hello_grants_the_lease"]);
  });

  it("refuses options that it does not know", async () => {
    const options = { target: { addresses: fake.addresses, allowMotion: false }, filters: ["x"] };
    await expect(runConformance(options as never)).rejects.toMatchObject({ code: "bad_argument" });
  });
});

describe("formatResults", () => {
  const result: CheckResult = {
    group: "g",
    name: "n",
    reason: "because",
    outcome: "passed",
    message: "",
    duration_ms: 1.4,
  };

  it("shows reasons of what passed, messages of what did not, and counts", () => {
    const results: CheckResult[] = [
      result,
      { ...result, name: "bad", outcome: "failed", message: "it fell over" },
      { ...result, name: "none", outcome: "skipped", message: "no arm" },
    ];
    const text = formatResults(results, 120);
    expect(text).toContain("because");
    expect(text).toContain("it fell over");
    expect(text).toContain("no arm");
    expect(text.split("\n").at(-1)).toBe("1 passed, 1 failed, 1 skipped");
    expect(countResults(results)).toEqual({ passed: 1, failed: 1, skipped: 1 });
  });
});
