import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { compiledModule } from "../../src/contract/package-root.js";

/** A process on a leash that reports its defects on stderr, and ends some time after it was let go of. */
const CHILD = `
import { runOnLeash } from ${JSON.stringify(compiledModule("backends/device-server/leash.ts"))};
process.on("uncaughtException", (error) => process.stderr.write("defect: " + error.stack + "\\n"));
runOnLeash(async () => process.stdout.write("ready\\n"), () => {
  process.stderr.write("ending\\n");
  setTimeout(() => process.exit(7), 100);
});
`;

describe("a process on a leash", () => {
  it("ends in good order when nobody is left to read its words", async () => {
    const child = spawn(process.execPath, ["--input-type=module", "-e", CHILD], {
      stdio: ["ignore", "pipe", "pipe", "pipe"],
    });
    const [, stdout, stderr, leash] = child.stdio as unknown as [null, Readable, Readable, Writable];
    leash.write("{}\n");
    await once(stdout, "data");
    stdout.destroy();
    stderr.destroy();
    leash.destroy();
    const kill = setTimeout(() => child.kill("SIGKILL"), 10_000);
    const [code, signal] = await once(child, "exit");
    clearTimeout(kill);
    expect([code, signal]).toEqual([7, null]);
  });
});
