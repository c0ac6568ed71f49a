import { describe, expect, it } from "vitest";
import { mapStack } from "./guest-stack.js";

describe("mapStack", () => {
  it("keeps the program's frames with the author's lines and drops those of the scope", () => {
    const stack = [
      "    at request (robot-scope:10:2)",
      "    at helper (program.ts:4:7)",
      "    at <anonymous> (program.ts:9:3)",
      "    at call (native)",
    ].join("\n");
    expect(mapStack(stack, "program.ts", 20)).toEqual({
      stack: "at helper (program.ts:3:7)\nat (program.ts:8:3)",
      place: { line: 3, column: 7 },
    });
  });

  it("reads the bare frame of a syntax error", () => {
    expect(mapStack("    at program.ts:3:10\n", "program.ts", 5).place).toEqual({ line: 2, column: 10 });
  });

  it("drops frames outside the source, which a program may have written itself", () => {
    const forged = "    at x (program.ts:1:5)\n    at y (program.ts:99999:1)\n    at z (program.ts:2:0)";
    expect(mapStack(forged, "program.ts", 3)).toEqual({ stack: "", place: null });
  });

  it("shows at most 20 frames", () => {
    const deep = Array.from({ length: 500 }, () => "    at f (program.ts:2:1)").join("\n");
    expect(mapStack(deep, "program.ts", 1).stack.split("\n")).toHaveLength(20);
  });
});
