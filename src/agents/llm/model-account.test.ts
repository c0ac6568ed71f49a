import { describe, expect, it } from "vitest";
import { Stopwatch } from "../stopwatch.js";
import { Accountant } from "./model-account.js";

/** Shows what it is set to. */
class SetStopwatch extends Stopwatch {
  seconds = 0;
  override get elapsed_s(): number {
    return this.seconds;
  }
  override set(seconds: number): void {
    this.seconds = seconds;
  }
}

describe("a model's budget of time", () => {
  const started = () => {
    const stopwatch = new SetStopwatch();
    const accountant = new Accountant({ model: "m", budget_calls: 9, budget_wait_s: 4 }, "the model", null, stopwatch);
    return { stopwatch, accountant, left: () => accountant.limits().map(({ left_s }) => left_s) };
  };

  it("runs from the first question on, however long the episode took before", () => {
    const { stopwatch, accountant, left } = started();
    stopwatch.set(100);
    expect(left()).toEqual([4]);
    expect(accountant.spent()).toBeNull();
    accountant.asks();
    expect(left()).toEqual([4]);
    stopwatch.set(103);
    accountant.asks();
    expect(left()).toEqual([1]);
    expect(accountant.spent()).toBeNull();
    stopwatch.set(104);
    expect(left()).toEqual([0]);
    expect(accountant.spent()).toBe("4 s of the time of the model are used up");
  });

  it("has used up what an episode that is taken up had used up", () => {
    const { stopwatch, accountant, left } = started();
    stopwatch.set(2);
    accountant.asks();
    // What follows is at the moment at which the episode goes on.
    stopwatch.set(5);
    expect(left()).toEqual([1]);
  });

  it("is none where none is set", () => {
    const accountant = new Accountant({ model: "m", budget_calls: 1 });
    accountant.asks();
    expect(accountant.limits()).toEqual([]);
  });
});
