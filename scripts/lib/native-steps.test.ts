import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

type Modules = { interpreterStandIn: (symbols: readonly string[]) => string };
const { interpreterStandIn } = (await import(new URL("./native-steps.mjs", import.meta.url).href)) as Modules;

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "s2r-steps-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("the interpreter's stand-in", () => {
  const SYMBOLS = [
    "                 U PyErr_SetString",
    "                 U PyExc_ValueError",
    "                 U PyBool_Type",
    "                 U _Py_NoneStruct",
    "                 U PyErr_SetString",
    "                 U libusb_init@LIBUSB_1.0",
    "",
  ];

  it("defines each symbol of the interpreter once, and no other's", () => {
    expect(interpreterStandIn(SYMBOLS).split("\n")).toEqual([
      "void PyErr_SetString(void) { __builtin_trap(); }",
      "void* PyExc_ValueError;",
      "char PyBool_Type[1024];",
      "char _Py_NoneStruct[1024];",
    ]);
  });

  it("compiles, and a call of what it stands in for ends the process", () => {
    writeFileSync(join(folder, "s.c"), interpreterStandIn(SYMBOLS));
    writeFileSync(
      join(folder, "m.c"),
      "void PyErr_SetString(void); int main(int n, char** v) { if (n > 1) PyErr_SetString(); return 0; }",
    );
    const built = spawnSync("gcc", ["-w", "-fno-builtin", "-o", "m", "s.c", "m.c"], { cwd: folder, encoding: "utf8" });
    expect(built.stderr).toBe("");
    expect(spawnSync(join(folder, "m")).status).toBe(0);
    expect(spawnSync(join(folder, "m"), ["call"]).signal).not.toBeNull();
  });
});

describe("steps", () => {
  const run = (optional: string | undefined) => {
    const steps = fileURLToPath(new URL("./steps.mjs", import.meta.url));
    const shell = fileURLToPath(new URL("./shell.mjs", import.meta.url));
    const code = `import { runSteps } from ${JSON.stringify(steps)}; import { StepError } from ${JSON.stringify(shell)};
      const failing = { title: "library", optional: ${JSON.stringify(optional)}, run: async () => { throw new StepError("not to be had"); } };
      await runSteps([failing, { title: "rest", run: async () => console.log("the rest ran") }]);`;
    return spawnSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" });
  };

  it("go on without one that is optional, saying what is lacking", () => {
    const { status, stdout, stderr } = run("cameras need a path");
    expect(status).toBe(0);
    expect(stdout).toContain("the rest ran");
    expect(stderr).toMatch(/library: left out\s+not to be had\s+without it: cameras need a path/);
  });

  it("end at one that is not", () => {
    const { status, stdout, stderr } = run(undefined);
    expect(status).toBe(1);
    expect(stdout).not.toContain("the rest ran");
    expect(stderr).toContain("FAILED");
  });
});
