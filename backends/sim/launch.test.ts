import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SimBackend } from "./launch.js";
import type { SimSpawnOptions } from "./sim-backend.js";

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "s2r-launch-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

let scripts = 0;
/** A program that stands where the interpreter does, so that the launcher's part can be seen without a simulator. */
function interpreter(body: string): string {
  scripts += 1;
  const path = join(dir, `python-${scripts}`);
  writeFileSync(
    path,
    `#!/bin/bash\nread -r -u 3 boot\nsocket_dir=$(sed 's/.*"socket_dir":"\\([^"]*\\)".*/\\1/' <<<"$boot")\n${body}\n`,
    { mode: 0o755 },
  );
  return path;
}

const READY = `printf '{"ready":true,"device":"ipc://%s/d","stop":"ipc://%s/s","events":"ipc://%s/e","privileged":"ipc://%s/p","pid":%d,"renderer":"none"}\\n' "$socket_dir" "$socket_dir" "$socket_dir" "$socket_dir" $$`;
const HANG_ON = `cat <&3 >/dev/null`;

const spawn = (body: string, extra: Partial<SimSpawnOptions> = {}) =>
  SimBackend.spawn({ python: interpreter(body), privileged: true, ...extra });

describe("SimBackend.spawn", () => {
  it("hands over a private folder, a token of its own and what was asked for, on descriptor 3 alone", async () => {
    const seen = join(dir, "seen");
    const sim = await spawn(
      `echo "$boot" > ${seen}; stat -c %a "$socket_dir" >> ${seen}; tr '\\0' ' ' < /proc/$$/cmdline >> ${seen}; env >> ${seen}; ${READY}; ${HANG_ON}`,
      { realtime: 1, exitOnLeaseLapse: true },
    );
    const [boot, mode, ...rest] = readFileSync(seen, "utf8").split("\n");
    const token = sim.privileged!.token.toString("hex");
    expect(JSON.parse(boot!)).toEqual({
      socket_dir: dirname(sim.addresses.device.slice("ipc://".length)),
      privileged_token_hex: token,
      realtime: 1,
      exit_on_lease_lapse: true,
      curve: null,
      bind: null,
    });
    expect(mode).toBe("700");
    expect(rest.join("\n")).not.toContain(token);
    expect(rest.join("\n")).toContain("-m skill2real_sim --world twin");
    await sim.close();
  });

  it("gives every run another token, and none where none was asked for", async () => {
    const [first, second, public_only] = await Promise.all([
      spawn(`${READY}; ${HANG_ON}`),
      spawn(`${READY}; ${HANG_ON}`),
      spawn(`${READY}; ${HANG_ON}`, { privileged: false }),
    ]);
    expect(first.privileged!.token.equals(second.privileged!.token)).toBe(false);
    expect(public_only.privileged).toBeUndefined();
    await Promise.all([first.close(), second.close(), public_only.close()]);
  });

  it("lets the process end by itself, and removes its folder", async () => {
    const sim = await spawn(`${READY}; ${HANG_ON}; echo farewell >&2; exit 7`);
    const folder = dirname(sim.addresses.device.slice("ipc://".length));
    expect(existsSync(folder)).toBe(true);
    expect(await sim.close()).toEqual({ code: 7, signal: null, lastWords: "farewell" });
    expect(await sim.close()).toMatchObject({ code: 7 });
    expect(existsSync(folder)).toBe(false);
  });

  it("kills a process that does not end by itself", async () => {
    const sim = await spawn(`${READY}; exec sleep 600`);
    expect(await sim.close()).toMatchObject({ signal: "SIGKILL" });
  });

  it("reports the last words of a process that dies before it is ready", async () => {
    const error = await spawn(`for i in $(seq 60); do echo "line $i" >&2; done; exit 3`).catch(
      (caught: unknown) => caught,
    );
    expect(error).toMatchObject({ code: "backend_unreachable" });
    expect((error as Error).message).toContain("exit code 3");
    expect((error as Error).message).toContain("line 60");
    expect((error as Error).message).not.toContain("line 1\n");
  });

  it("gives up on a process that is not ready in time, or says something else", async () => {
    await expect(spawn(HANG_ON, { startTimeoutMs: 100 })).rejects.toMatchObject({ code: "backend_unreachable" });
    await expect(spawn(`echo hello; ${HANG_ON}`)).rejects.toThrow(/first line is not its ready line: hello/);
  });

  it("names the mend where the interpreter is missing, and refuses unknown options", async () => {
    await expect(SimBackend.spawn({ privileged: true, python: join(dir, "none") })).rejects.toMatchObject({
      code: "setup_incomplete",
    });
    const misspelled = { privileged: true, realTime: 1 } as SimSpawnOptions;
    await expect(SimBackend.spawn(misspelled)).rejects.toMatchObject({ code: "bad_argument" });
  });

  it("passes on what it logs, line by line", async () => {
    const lines: string[] = [];
    const sim = await spawn(`${READY}; ${HANG_ON}; echo one >&2; echo two >&2`, { onLog: (line) => lines.push(line) });
    await sim.close();
    expect(lines).toEqual(["one", "two"]);
  });
});
