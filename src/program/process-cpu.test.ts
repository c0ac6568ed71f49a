import { describe, expect, it } from "vitest";
import { processCpu_s } from "./process-cpu.js";

describe("processCpu_s", () => {
  it.runIf(process.platform === "linux")("agrees with what the process knows of itself", () => {
    let x = 0;
    for (let i = 0; i < 3e7; i++) x += Math.sqrt(i);
    expect(x).toBeGreaterThan(0);
    const { user, system } = process.cpuUsage();
    expect(Math.abs((processCpu_s(process.pid) ?? -1) - (user + system) / 1e6)).toBeLessThan(0.1);
  });

  it("knows nothing of a process that is not there", () => {
    expect(processCpu_s(undefined)).toBeUndefined();
    expect(processCpu_s(2 ** 30)).toBeUndefined();
  });
});
