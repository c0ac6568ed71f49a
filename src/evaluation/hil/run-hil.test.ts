import { describe, expect, it } from "vitest";
import { EMULATED_RIG } from "../../config/emulated-rig.js";
import { checkRig } from "../../config/rig.js";
import { CheckSkipped, ensure, type HilCheck, type HilGroup } from "./check.js";
import { type HilOptions, runHil } from "./run-hil.js";

const named = { name: "bench", emulated: false, rig: checkRig({ ...EMULATED_RIG, gripper: undefined }, "the rig") };

const check = (name: string, run: HilCheck["run"] = async () => {}, more: Partial<HilCheck> = {}): HilCheck => ({
  name,
  reason: "because of this",
  run,
  ...more,
});
const groups = (...checks: HilCheck[]): HilGroup[] => [{ group: "g", about: "", checks }];
const run = (checks: readonly HilGroup[], more: Partial<HilOptions> = {}) =>
  runHil({ named, speed: 0.2, checks, ...more });
const outcomes = ({ results }: { results: { name: string; outcome: string }[] }) =>
  Object.fromEntries(results.map(({ name, outcome }) => [name, outcome]));

describe("runHil", () => {
  it("says of each check how it ended, and why", async () => {
    const report = await run(
      groups(
        check("passes", async (ctx) => {
          ctx.measure("x", 2, "mm");
        }),
        check("fails", async () => ensure(false, "it fell")),
        check("finds_nothing", async () => {
          throw new CheckSkipped("nothing there");
        }),
        check("is_late", async (ctx) => {
          ctx.timing("late", 30, "ms", 10);
        }),
      ),
    );
    expect(outcomes(report)).toEqual({ passes: "passed", fails: "failed", finds_nothing: "skipped", is_late: "slow" });
    expect(report.results[0]?.measurements).toEqual([{ name: "x", value: 2, unit: "mm" }]);
    expect(report.results[1]?.message).toBe("it fell");
    expect(report.results[3]?.message).toBe("late is 30 ms, more than 10 ms");
    expect(report).toMatchObject({
      state: "complete",
      not_run: [],
      rig: { name: "bench", emulated: false, speed: 0.2 },
    });
  });

  it("lets what is late fail where timings are strict", async () => {
    const late = groups(check("is_late", async (ctx) => void ctx.timing("late", 30, "ms", 10)));
    expect(outcomes(await run(late, { strictTiming: true }))).toEqual({ is_late: "failed" });
  });

  it("skips on a real rig what only an emulator or other devices can do, and says so", async () => {
    let ran = 0;
    const count = async () => {
      ran += 1;
    };
    const report = await run(
      groups(
        check("breaks_it", count, { needs: ["emulated"] }),
        check("closes", count, { needs: ["gripper"] }),
        check("looks", count, { needs: ["cameras"] }),
      ),
    );
    expect(outcomes(report)).toEqual({ breaks_it: "skipped", closes: "skipped", looks: "passed" });
    expect(report.results[0]?.message).toMatch(/only an emulated rig/);
    expect(ran).toBe(1);
  });

  it("asks before each check that moves something, and ends where the person says so", async () => {
    const asked: string[] = [];
    const all = groups(
      check("looks"),
      check("moves", undefined, { moves: true }),
      check("moves_more", undefined, { moves: true }),
      check("looks_again"),
    );
    const report = await run(all, {
      step: async ({ check: { name } }) => {
        asked.push(name);
        return name === "moves" ? "skip" : "stop";
      },
    });
    expect(asked).toEqual(["moves", "moves_more"]);
    expect(outcomes(report)).toEqual({ looks: "passed", moves: "skipped" });
    expect(report).toMatchObject({ state: "stopped", not_run: ["g: moves_more", "g: looks_again"] });
  });

  it("goes on from a report: what did not fail counts, the rest is run", async () => {
    const ran: string[] = [];
    let stopped = new AbortController();
    let broken = true;
    const all = groups(
      check("first", async () => void ran.push("first")),
      check("second", async () => {
        ran.push("second");
        ensure(!broken, "broken");
      }),
      check("third", async () => {
        ran.push("third");
        stopped.abort();
      }),
      check("fourth", async () => void ran.push("fourth")),
    );
    const report = await run(all, { signal: stopped.signal });
    expect(outcomes(report)).toEqual({ first: "passed", second: "failed", third: "passed" });
    expect(report).toMatchObject({ state: "stopped", stopped_because: "interrupted", not_run: ["g: fourth"] });
    broken = false;
    stopped = new AbortController();
    const later = await run(all, { resume: report });
    expect(ran).toEqual(["first", "second", "third", "second", "fourth"]);
    expect(later.results.map(({ name, outcome, earlier }) => [name, outcome, earlier ?? false])).toEqual([
      ["first", "passed", true],
      ["second", "passed", false],
      ["third", "passed", true],
      ["fourth", "passed", false],
    ]);
    await expect(run(all, { resume: { ...report, rig: { ...report.rig, name: "other" } } })).rejects.toMatchObject({
      code: "bad_argument",
    });
  });

  it("does not count a check that the stop cut off", async () => {
    const stop = new AbortController();
    const all = groups(
      check("cut_off", async () => {
        stop.abort();
        throw new Error("the stop was latched");
      }),
    );
    expect(await run(all, { signal: stop.signal })).toMatchObject({
      results: [],
      not_run: ["g: cut_off"],
      state: "stopped",
    });
  });

  it("closes what a check opened, in reverse, also where it failed", async () => {
    const closed: string[] = [];
    await run(
      groups(
        check("opens", async (ctx) => {
          ctx.onCleanUp(() => closed.push("a"));
          ctx.onCleanUp(() => {
            closed.push("b");
            throw new Error("does not close well");
          });
          throw new Error("x");
        }),
      ),
    );
    expect(closed).toEqual(["b", "a"]);
  });

  it("refuses speeds that are none", async () => {
    await expect(run(groups(check("x")), { speed: 0 })).rejects.toMatchObject({ code: "bad_argument" });
  });
});
