import { performance } from "node:perf_hooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callbackHost } from "./callback-host.js";
import type { GuestHost, GuestReplies, GuestTurn } from "./guest-host.js";
import type { RunResult } from "./run-result.js";
import { type RunOptions, Sandbox } from "./sandbox.js";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await Sandbox.create();
});
afterAll(() => sandbox.close());

const echo = callbackHost({ onCall: (name, args) => ({ status: "ok", name, args }) });
const run = (javascript: string, options: Partial<RunOptions> = {}): Promise<RunResult> =>
  sandbox.run({ javascript, names: ["look", "go"], seed: 1, host: echo, ...options });

/** A host that only writes down its turns; the test answers. */
function recordingHost(): { host: GuestHost; turns: GuestTurn[]; next(): Promise<GuestTurn>; replies(): GuestReplies } {
  const turns: GuestTurn[] = [];
  const waiting: ((turn: GuestTurn) => void)[] = [];
  let seen = 0;
  let handle: GuestReplies | undefined;
  const host: GuestHost = {
    onTurn(turn, replies) {
      turns.push(turn);
      handle = replies;
      waiting.shift()?.(turn);
    },
  };
  const next = (): Promise<GuestTurn> =>
    new Promise((resolve) => {
      if (turns.length > seen) resolve(turns[seen++] as GuestTurn);
      else
        waiting.push((turn) => {
          seen++;
          resolve(turn);
        });
    });
  return { host, turns, next, replies: () => handle as GuestReplies };
}

describe("a program", () => {
  it("calls the host and returns what it made of the replies", async () => {
    const result = await run("const r = await robot.look({ a: 1 }); console.log('seen', r.status); return r.args;");
    expect(result).toMatchObject({
      outcome: "returned",
      value: [{ a: 1 }],
      printed: [{ level: "log", text: "seen ok", time_s: 0 }],
    });
    expect(result.usage).toMatchObject({ calls: 1, sleeps: 0, turns: 1 });
  });

  it("throws with the line and column of the source", async () => {
    const result = await run("const a = 1;\n  a.b.c();", { fileName: "demo.ts" });
    expect(result).toMatchObject({
      outcome: "threw",
      error: { name: "TypeError", line: 2, column: 6, stack: "at (demo.ts:2:6)" },
    });
  });

  it("hands its prints over while it runs", async () => {
    const lines: string[] = [];
    const { host, next, replies } = recordingHost();
    const running = run("console.log('first'); await robot.look(); console.warn('second');", {
      host,
      onPrint: ({ text }) => lines.push(text),
    });
    const turn = await next();
    expect(lines).toEqual(["first"]);
    replies().resolve(turn.calls[0]?.id ?? 0, null);
    await running;
    expect(lines).toEqual(["first", "second"]);
  });

  it("leaves nothing to the next one", async () => {
    await run("globalThis.kept = 1; Object.prototype.kept = 2; Array.prototype.map = () => 'broken';");
    expect(await run("return [typeof globalThis.kept, {}.kept === undefined, [1].map((x) => x + 1)];")).toMatchObject({
      value: ["undefined", true, [2]],
    });
  });
});

describe("turns", () => {
  it("group what was issued together and say when the guest is idle", async () => {
    const { host, turns, next, replies } = recordingHost();
    const running = run("await Promise.all([robot.look(1), robot.go(2), sleep(3)]); await robot.go(4); return 5;", {
      host,
    });
    const first = await next();
    expect(first).toMatchObject({
      index: 0,
      idle: true,
      calls: [
        { name: "look", args: [1] },
        { name: "go", args: [2] },
      ],
      sleeps: [{ seconds: 3 }],
    });
    const [look, go, sleep] = first.pending as [number, number, number];
    replies().resolve(look, null);
    replies().resolve(go, null);
    // the guest has taken in one of two settlements, then both
    expect(await next()).toMatchObject({ index: 1, calls: [], pending: [sleep], idle: false });
    expect(await next()).toMatchObject({ index: 2, calls: [], pending: [sleep], idle: true });
    replies().resolve(sleep, null, 3);
    const fourth = await next();
    expect(fourth).toMatchObject({ idle: true, calls: [{ name: "go", args: [4] }] });
    replies().settle([{ id: fourth.calls[0]?.id ?? 0, value: null }]);
    expect(await running).toMatchObject({
      outcome: "returned",
      value: 5,
      usage: { calls: 3, sleeps: 1, turns: 4, device_s: 3 },
    });
    expect(turns).toHaveLength(4);
  });

  it("refuse ids that are not pending and values that JSON cannot hold", async () => {
    const { host, next, replies } = recordingHost();
    const running = run("return await robot.look();", { host });
    const id = (await next()).calls[0]?.id ?? 0;
    expect(() => replies().resolve(id + 1)).toThrowError(/no call or sleep with id/);
    expect(() => replies().settle([{ id }, { id }])).toThrowError(/pending/);
    expect(() => replies().resolve(id, { depth: Number.NaN })).toThrowError(/NaN at "depth"/);
    replies().resolve(id, "good");
    expect(() => replies().resolve(id, "again")).toThrowError(/pending/);
    expect(await running).toMatchObject({ outcome: "returned", value: "good" });
    expect(() => replies().resolve(id, "late")).not.toThrow();
  });

  it("end the program when the host's own code fails", async () => {
    const broken: GuestHost = {
      onTurn() {
        throw new Error("host defect");
      },
    };
    await expect(run("await robot.look();", { host: broken })).rejects.toThrowError("host defect");
    expect(await run("return 1;")).toMatchObject({ value: 1 });
  });
});

describe("stopping", () => {
  it.each([
    ["that computes", "for (;;);"],
    ["that waits", "await robot.look();"],
    ["inside a built-in", "const a = new Array(2e5).fill(1); for (;;) a.map((x, i) => -i).sort();"],
  ])("ends a program %s and closes the gate", async (_name, javascript) => {
    const { host, turns } = recordingHost();
    const controller = new AbortController();
    const running = run(javascript, { host, signal: controller.signal });
    await new Promise((resolve) => setTimeout(resolve, 50));
    controller.abort();
    const before = turns.length;
    expect(await running).toMatchObject({ outcome: "killed", code: "stopped" });
    expect(turns).toHaveLength(before);
    expect(await run("return 'next';")).toMatchObject({ value: "next" });
  });

  it("works by kill() too, and before the program starts", async () => {
    const running = run("for (;;);");
    await new Promise((resolve) => setTimeout(resolve, 50));
    sandbox.kill();
    expect(await running).toMatchObject({ code: "stopped" });
    expect(await run("return 1;", { signal: AbortSignal.abort() })).toMatchObject({ code: "stopped" });
  });
});

describe("limits kept from outside", () => {
  it("end a built-in that nothing can interrupt", async () => {
    const started = performance.now();
    const javascript = "const a = new Array(3e5).fill(1).map((x, i) => -i); for (;;) a.slice().sort();";
    const result = await run(javascript, { quotas: { turnCpu_s: 100, turnWall_s: 0.3 } });
    expect(result).toMatchObject({ outcome: "killed", code: "cpu_quota" });
    expect(performance.now() - started).toBeGreaterThan(250);
  });

  it("end a program that outlasts its device time or its wall time", async () => {
    expect(await run("for (;;) await sleep(50);", { quotas: { deviceTime_s: 120 } })).toMatchObject({
      code: "time_quota",
      usage: { device_s: 150 },
    });
    const { host } = recordingHost();
    expect(await run("await robot.look();", { host, quotas: { wallTime_s: 0.1 } })).toMatchObject({
      code: "time_quota",
    });
  });

  it("report a guest process that dies by itself", async () => {
    const { host, next } = recordingHost();
    const own = await Sandbox.create();
    const running = own.run({ javascript: "await robot.look();", names: ["look"], seed: 1, host });
    await next();
    process.kill(own.pid ?? 0, "SIGTERM");
    expect(await running).toMatchObject({
      outcome: "killed",
      code: "guest_failed",
      message: "the sandbox process died: signal SIGTERM",
    });
    expect(await own.run({ javascript: "return 1;", names: [], seed: 1, host })).toMatchObject({ value: 1 });
    await own.close();
  });
});

describe("the caller's mistakes", () => {
  it("are refused by name", async () => {
    const running = run("await sleep(1);");
    await expect(run("return 1;")).rejects.toThrowError(/one at a time/);
    await running;
    await expect(run("return 1;", { names: ["__proto__"] })).rejects.toThrowError(/names/);
    await expect(run("return 1;", { names: ["a-b"] })).rejects.toThrowError(/identifier/);
    await expect(run("return 1;", { seed: -1 })).rejects.toThrowError(/seed/);
    await expect(run("return 1;", { quotas: { maxCall: 1 } as never })).rejects.toThrowError(/Did you mean "maxCalls"/);
    expect(await run("return 1;")).toMatchObject({ value: 1 });
  });

  it("include running in a closed sandbox", async () => {
    const own = await Sandbox.create();
    const running = own.run({ javascript: "for (;;);", names: [], seed: 1, host: echo });
    await new Promise((resolve) => setTimeout(resolve, 30));
    await own.close();
    expect(await running).toMatchObject({ code: "stopped" });
    await expect(own.run({ javascript: "", names: [], seed: 1, host: echo })).rejects.toMatchObject({
      code: "session_closed",
    });
  });
});
