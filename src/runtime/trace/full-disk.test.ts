import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { McapTrace } from "./mcap-trace.js";

const dir = mkdtempSync(join(tmpdir(), "s2r-full-"));
/** A disk of 256 kB, where this process may mount one. */
const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=256k,mode=700", "tmpfs", dir]).status === 0;
afterAll(() => {
  if (mounted) spawnSync("umount", [dir]);
  rmSync(dir, { recursive: true, force: true });
});

describe.skipIf(!mounted)("a full disk (needs to mount a small tmpfs)", () => {
  it("is told through failed, once, and nothing is written or thrown after it", async () => {
    const path = join(dir, "episode.mcap");
    const trace = await McapTrace.create({ path, now: () => 0 });
    expect(trace.failed).toBeNull();
    const write = (i: number): void => {
      const parts = [randomBytes(1 << 20)];
      trace.exchange({
        sequence: i,
        verb: "get_frames",
        request: new Uint8Array(),
        reply: new Uint8Array(),
        parts,
        sent_ms: 0,
        received_ms: 0,
      });
    };
    for (let i = 0; i < 6; i++) write(i);
    while (trace.failed === null) await new Promise((resolve) => setTimeout(resolve, 5));
    const first = trace.failed;
    expect(first).toMatchObject({ code: "ENOSPC" });
    const size = statSync(path).size;
    for (let i = 6; i < 12; i++) write(i);
    trace.log("info", "after the end");
    await trace.close();
    expect(trace.failed).toBe(first);
    expect(statSync(path).size).toBe(size);
  });
});
