import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { main } from "./main.js";

describe("main", () => {
  let out = "";
  let err = "";
  beforeEach(() => {
    out = "";
    err = "";
    vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
      out += String(chunk);
      return true;
    });
    vi.spyOn(process.stderr, "write").mockImplementation((chunk) => {
      err += String(chunk);
      return true;
    });
  });
  afterEach(() => vi.restoreAllMocks());

  it("documents every command and exit code in its help", async () => {
    expect(await main(["--help"])).toBe(0);
    for (const word of [
      "run",
      "eval",
      "stop",
      "runs",
      "show",
      "api",
      "call",
      "program",
      "memory",
      "backend",
      "init",
      "config",
      "doctor",
      "130",
    ])
      expect(out).toContain(word);
  });

  it.each(["run", "eval", "stop", "runs", "show", "api", "call", "init", "doctor"])(
    "has help for %s that describes each option",
    async (command) => {
      expect(await main([command, "--help"])).toBe(0);
      expect(out).toContain(`skill2real ${command}`);
      for (const line of out.split("\n").filter((entry) => /^ {2}-/.test(entry)))
        expect(line).toMatch(/^ {2}-.* {2,}\S/);
    },
  );

  it.each([
    ["frobnicate"],
    ["run"],
    ["run", "--task", "r1", "--instruction", "x"],
    ["eval", "--task", "r1"],
    ["eval", "--task", "r1", "--seeds", "x"],
    ["run", "--task", "r2"],
    ["call", "get_robot_state", "{"],
  ])("ends with 2 for a wrong command line: %s %s", async (...argv) => {
    expect(await main(argv.filter((word) => word !== undefined))).toBe(2);
    expect(err).not.toBe("");
  });

  it("prints documentation, signature and example of an operation, and suggests for a misspelled one", async () => {
    expect(await main(["api", "goto_pose"])).toBe(0);
    expect(out).toContain("Signature:");
    expect(out).toContain("Example:");
    expect(await main(["api", "goto_pos"])).toBe(3);
    expect(err).toContain('Did you mean "goto_pose"?');
  });
});
