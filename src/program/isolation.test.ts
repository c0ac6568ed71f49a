import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compiledModule } from "../contract/package-root.js";
import { type GuestCommand, guestCommand } from "./isolation.js";

/** What code in the guest process itself could do, had it got out of the interpreter. */
const PROBE = `
import fs from "node:fs"; import net from "node:net"; import { spawnSync } from "node:child_process"; import { Worker } from "node:worker_threads";
const tried = {};
const attempt = (name, action) => { try { action(); tried[name] = "allowed"; } catch (error) { tried[name] = error.code ?? error.name; } };
attempt("read", () => fs.readFileSync("/etc/passwd"));
attempt("read_process", () => fs.readFileSync("/proc/self/environ"));
attempt("list", () => fs.readdirSync("/tmp"));
attempt("write", () => fs.writeFileSync(process.argv[2] + ".written", "x"));
attempt("spawn", () => spawnSync("true"));
attempt("worker", () => new Worker("0", { eval: true }));
attempt("code_from_strings", () => new Function("return 1")());
tried.environment = Object.keys(process.env);
const socket = net.connect(Number(process.argv[3]), "127.0.0.1");
socket.on("connect", () => { tried.network = "allowed"; console.log(JSON.stringify(tried)); process.exit(); });
socket.on("error", (error) => { tried.network = error.code; console.log(JSON.stringify(tried)); });
`;

let folder: string;
let command: GuestCommand;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "isolation-"));
  command = await guestCommand(64);
});
afterAll(() => rmSync(folder, { recursive: true }));

async function probe(): Promise<Record<string, unknown>> {
  const path = join(folder, "probe.mjs");
  writeFileSync(path, PROBE);
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const entry = command.args.indexOf(compiledModule("src/program/guest-main.ts"));
  const args = [...command.args.slice(0, entry), `--allow-fs-read=${path}`, path, path, String(port)];
  const child = spawn(command.file, args, { env: {}, cwd: "/", stdio: ["pipe", "pipe", "pipe"] });
  let [out, errors] = ["", ""];
  child.stdout.on("data", (text) => {
    out += String(text);
  });
  child.stderr.on("data", (text) => {
    errors += String(text);
  });
  await new Promise((resolve) => child.once("close", resolve));
  server.close();
  if (out === "") throw new Error(errors);
  return JSON.parse(out) as Record<string, unknown>;
}

describe("the guest process", () => {
  it("can read, write, start and see nothing even outside the interpreter", async () => {
    const { network, ...tried } = await probe();
    expect(tried).toEqual({
      read: "ERR_ACCESS_DENIED",
      read_process: "ERR_ACCESS_DENIED",
      list: "ERR_ACCESS_DENIED",
      write: "ERR_ACCESS_DENIED",
      spawn: "ERR_ACCESS_DENIED",
      worker: "ERR_ACCESS_DENIED",
      code_from_strings: "EvalError",
      environment: [],
    });
    // without namespaces the host's network stays, which is then said
    if (command.isolation.network === "none") expect(network).toBe("ENETUNREACH");
    else expect(command.isolation.notes.join()).toContain("network");
  });

  it("says what this machine could not give", () => {
    const { network, parentDeath, notes } = command.isolation;
    expect(notes).toHaveLength((network === "host" ? 1 : 0) + (parentDeath === "pipe" ? 1 : 0));
  });
});

describe("a guest whose parent dies", () => {
  it("is gone too, even while it computes", async () => {
    const script = `
      const { Sandbox, callbackHost } = await import(${JSON.stringify(compiledModule("src/program/index.ts"))});
      const sandbox = await Sandbox.create();
      const running = sandbox.run({ javascript: "for (;;);", names: [], seed: 1, host: callbackHost({ onCall: () => null }), quotas: { turnCpu_s: 60, turnWall_s: 60 } });
      setTimeout(() => console.log(sandbox.pid), 50);
      await running;`;
    const path = join(folder, "parent.mjs");
    writeFileSync(path, script);
    const parent = spawn(process.execPath, [path], { stdio: ["ignore", "pipe", "inherit"] });
    const guest = Number(
      await new Promise<string>((resolve) => parent.stdout.once("data", (text) => resolve(String(text)))),
    );
    expect(alive(guest)).toBe(true);
    parent.kill("SIGKILL");
    if (command.isolation.parentDeath !== "kernel") {
      process.kill(guest, "SIGKILL");
      return;
    }
    for (let i = 0; i < 200 && alive(guest); i++) await new Promise((resolve) => setTimeout(resolve, 25));
    expect(alive(guest)).toBe(false);
  });
});

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
