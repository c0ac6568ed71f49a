import { afterEach, describe, expect, it, vi } from "vitest";
import { onInterrupt } from "./interrupt.js";

describe("onInterrupt", () => {
  afterEach(() => vi.restoreAllMocks());

  it("sends the stop before it writes anything, for whoever reads may not read", () => {
    const events: string[] = [];
    vi.spyOn(process.stderr, "write").mockImplementation((words) => {
      events.push(`says ${String(words).trim().split(":")[0]}`);
      return true;
    });
    const interrupt = onInterrupt(async (reason) => void events.push(reason));
    try {
      process.emit("SIGINT", "SIGINT");
      expect(events).toEqual(["interrupted by SIGINT", "says SIGINT"]);
      expect(interrupt.interrupted()).toBe(true);
    } finally {
      interrupt.dispose();
    }
  });
});
