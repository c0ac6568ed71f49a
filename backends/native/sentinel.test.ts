import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Router } from "zeromq";
import { compiledModule } from "../../src/contract/package-root.js";
import { alive } from "../../tests/support/processes.js";
import { serveStop } from "../device-server/serve-stop.js";

/** A command as the command line is one: it starts the sentinel, and then its event loop hears nothing any more. */
const HUNG = (address: string): string => `
import { Sentinel } from ${JSON.stringify(compiledModule("backends/native/sentinel.ts"))};
const sentinel = await Sentinel.start(${JSON.stringify(address)});
process.on("SIGINT", () => process.stdout.write("heard\\n"));
process.stdout.write(sentinel.pid + "\\n", () => { for (;;); });
`;

describe("the sentinel", () => {
  let folder: string;
  let socket: Router;
  let stops: string[];
  let heard: () => void;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "sentinel-"));
    socket = new Router({ linger: 0 });
    await socket.bind(`ipc://${folder}/s`);
    stops = [];
    heard = () => {};
  });
  afterEach(() => {
    socket.close();
    rmSync(folder, { recursive: true });
  });

  it("stops the arm at Ctrl-C while the command's main thread is in an endless loop, and ends with it", async () => {
    const served = serve();
    const child = spawn(process.execPath, ["--input-type=module", "-e", HUNG(`ipc://${folder}/s`)], {
      stdio: ["ignore", "pipe", "inherit"],
      detached: true,
    });
    try {
      let said = "";
      (child.stdout as Readable).setEncoding("utf8").on("data", (words: string) => {
        said += words;
      });
      await once(child.stdout as Readable, "data");
      const pid = Number(said);
      const stopped = new Promise<void>((resolve) => {
        heard = resolve;
      });
      // As a terminal does: to the whole foreground group.
      process.kill(-(child.pid as number), "SIGINT");
      await stopped;
      expect(stops).toEqual(["interrupted by SIGINT"]);
      expect(said).toBe(`${pid}\n`);
      expect(alive(pid)).toBe(true);
      child.kill("SIGKILL");
      await once(child, "exit");
      while (alive(pid)) await new Promise((resolve) => setTimeout(resolve, 20));
    } finally {
      child.kill("SIGKILL");
      socket.close();
      await served;
    }
  });

  async function serve(): Promise<void> {
    await serveStop(socket, (reason) => {
      stops.push(reason);
      heard();
      return { stop_epoch: 1, time_s: 0 };
    });
  }
});
