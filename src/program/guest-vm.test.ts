import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { GuestMemory } from "./guest-memory.js";
import type { FromGuest } from "./guest-messages.js";
import { GuestVm } from "./guest-vm.js";
import { DEFAULT_QUOTAS, type Quotas } from "./quotas.js";

const quickjs = createRequire(createRequire(import.meta.url).resolve("quickjs-emscripten"));
let wasmModule: WebAssembly.Module;
beforeAll(async () => {
  wasmModule = await WebAssembly.compile(readFileSync(quickjs.resolve("@jitl/quickjs-wasmfile-release-sync/wasm")));
});

type Turn = Extract<FromGuest, { type: "turn" }>;
type Options = { names?: string[]; statusNames?: string[]; seed?: number; time_s?: number; quotas?: Partial<Quotas> };

/** A guest in this process, whose messages are collected. */
class Guest {
  readonly messages: FromGuest[] = [];
  readonly vm: GuestVm;
  #sequence = 0;

  private constructor(memory: GuestMemory, javascript: string, options: Options) {
    const { names = ["look", "go"], statusNames = [], seed = 1, time_s = 0, quotas = {} } = options;
    const run = { type: "run", javascript, fileName: "program.ts", names, statusNames, seed, time_s } as const;
    this.vm = new GuestVm(memory, { ...run, quotas: { ...DEFAULT_QUOTAS, ...quotas } }, (message) =>
      this.messages.push(message),
    );
    this.vm.start();
  }

  static async start(javascript: string, options: Options = {}): Promise<Guest> {
    return new Guest(await GuestMemory.create(64, wasmModule), javascript, options);
  }

  settle(batch: [number, boolean, unknown][], time_s = 0): void {
    this.vm.settle({ type: "settle", sequence: ++this.#sequence, text: JSON.stringify(batch), time_s });
  }

  get last(): FromGuest {
    return this.messages.at(-1) as FromGuest;
  }

  get turn(): { calls: unknown[]; sleeps: number[]; ids: number[] } {
    const turn = this.last as Turn;
    expect(turn.type).toBe("turn");
    return {
      calls: turn.calls.map(({ json }) => JSON.parse(json)),
      sleeps: turn.sleeps.map(({ seconds }) => seconds),
      ids: [...turn.calls, ...turn.sleeps].map(({ id }) => id),
    };
  }

  get value(): unknown {
    if (this.last.type !== "returned") throw new Error(`not returned: ${JSON.stringify(this.last)}`);
    return JSON.parse(this.last.json);
  }
}

const resultOf = async (javascript: string, options: Options = {}): Promise<unknown> =>
  (await Guest.start(javascript, options)).value;

describe("turns", () => {
  it("puts everything asked for in one turn of the event loop into one message", async () => {
    const guest = await Guest.start(
      "const later = Promise.resolve().then(() => robot.go(3)); await Promise.all([robot.look(1), robot.go(2), sleep(0.5), later]); return 1;",
    );
    expect(guest.turn.calls).toEqual([
      { name: "look", args: [1] },
      { name: "go", args: [2] },
      { name: "go", args: [3] },
    ]);
    expect(guest.turn.sleeps).toEqual([0.5]);
    expect(guest.messages).toHaveLength(1);
  });

  it("takes in several replies before it runs on, so that what follows is one turn", async () => {
    const guest = await Guest.start(
      "const chain = async (n) => { await robot.look(n); await robot.go(n); }; await Promise.all([chain(1), chain(2)]);",
    );
    const [a = 0, b = 0] = guest.turn.ids;
    guest.settle([
      [a, true, null],
      [b, true, null],
    ]);
    expect(guest.turn.calls).toEqual([
      { name: "go", args: [1] },
      { name: "go", args: [2] },
    ]);
  });

  it("says so when a reply made it ask for nothing new", async () => {
    const guest = await Guest.start("await Promise.all([robot.look(), robot.go()]);");
    guest.settle([[guest.turn.ids[0] ?? 0, true, null]]);
    expect(guest.turn).toEqual({ calls: [], sleeps: [], ids: [] });
  });
});

describe("calls", () => {
  it("carries any JSON both ways unchanged", async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 4 }), fc.jsonValue({ maxDepth: 4 }), async (argument, reply) => {
        const guest = await Guest.start(
          `return await robot.look(JSON.parse(${JSON.stringify(JSON.stringify(argument))}));`,
        );
        const plain: unknown = JSON.parse(JSON.stringify(argument));
        expect(guest.turn.calls).toEqual([{ name: "look", args: [plain] }]);
        guest.settle([[guest.turn.ids[0] ?? 0, true, reply]]);
        expect(guest.value).toEqual(JSON.parse(JSON.stringify(reply)));
      }),
      { numRuns: 60 },
    );
  });

  it("drops undefined members and trailing undefined arguments", async () => {
    const guest = await Guest.start("await robot.look({ a: undefined, b: 1 }, undefined);");
    expect(guest.turn.calls).toEqual([{ name: "look", args: [{ b: 1 }] }]);
  });

  it.each([
    ["{ pose: { x: NaN } }", "invalid_argument", "robot.go: argument.pose.x is NaN; numbers must be finite"],
    ["{ poses: [{ x: 1 }, { x: -Infinity }] }", "invalid_argument", "argument.poses[1].x is -Infinity"],
    ["{ run: () => 1 }", "invalid_argument", "argument.run is a function"],
    ["[1, , 2]", "invalid_argument", "argument[1] is undefined"],
    ["{ p: Promise.resolve() }", "invalid_argument", "argument.p is a Promise: await it first"],
    ["new Map()", "invalid_argument", "argument is a Map"],
    ["new Float64Array(3)", "invalid_argument", "argument is a Float64Array"],
    ["10n", "invalid_argument", "argument is a bigint"],
    ["(() => { const a = {}; a.a = a; return a; })()", "invalid_argument", "contains itself"],
    ["new Array(2001).fill(0)", "budget_exhausted", "has 2001 entries; at most 2000"],
    ["'x'.repeat(600000)", "budget_exhausted", "longer than 524288 characters"],
  ])("refuses %s before it goes out", async (argument, code, words) => {
    const guest = await Guest.start(
      `try { await robot.go(${argument}); } catch (e) { return [e instanceof RobotError, e.name, e.code, e.message]; }`,
    );
    const [is_robot_error, name, got, message] = guest.value as [boolean, string, string, string];
    expect([is_robot_error, name, got]).toEqual([true, "RobotError", code]);
    expect(message).toContain(words);
    expect(guest.messages.filter(({ type }) => type === "turn")).toEqual([]);
  });

  it("takes a path of the longest allowed length, with all digits", async () => {
    const pose = "{ x: i / 7, y: i / 11, z: i / 13, qx: 1 / 3, qy: 1 / 7, qz: 1 / 9, qw: 1 / 11 }";
    const guest = await Guest.start(`await robot.go({ poses: Array.from({ length: 2000 }, (_, i) => (${pose})) });`);
    expect(guest.turn.calls).toMatchObject([{ name: "go", args: [{ poses: { length: 2000 } }] }]);
  });

  it("gives a refused call of an operation with a status a result instead", async () => {
    const guest = await Guest.start("return await robot.go({ x: NaN });", { statusNames: ["go"] });
    expect(guest.value).toEqual({
      status: "invalid_argument",
      message: "robot.go: argument.x is NaN; numbers must be finite",
    });
  });

  it("ignores toJSON and reads what the object holds", async () => {
    const guest = await Guest.start("class P { x = 1; toJSON() { return 'forged'; } } await robot.look(new P());");
    expect(guest.turn.calls).toEqual([{ name: "look", args: [{ x: 1 }] }]);
  });

  it("throws a failure as RobotError at the line of the call", async () => {
    const guest = await Guest.start("const a = 1;\n  await robot.look({ a });\nreturn a;");
    guest.settle([[guest.turn.ids[0] ?? 0, false, { code: "no_image", message: "there is no image" }]]);
    expect(guest.last).toMatchObject({
      type: "threw",
      name: "RobotError",
      code: "no_image",
      message: "there is no image",
      line: 2,
      column: 19,
    });
  });

  it.each(["-1", "NaN", "1e12", "'1'", "undefined"])("refuses sleep(%s)", async (seconds) => {
    const value = await resultOf(`try { await sleep(${seconds}); } catch (e) { return [e.code, e.message]; }`);
    expect(value).toEqual(["invalid_argument", expect.stringContaining("sleep takes 0 to 600 seconds")]);
  });

  it("offers exactly the given names, and none can be changed", async () => {
    const value = await resultOf(
      "let frozen = false; try { robot.look = 1; } catch { frozen = true; } return [Object.keys(robot), frozen, Object.getPrototypeOf(robot), robot.look.name];",
    );
    expect(value).toEqual([["look", "go"], true, null, "look"]);
  });
});

describe("time and chance", () => {
  it("starts Date at the episode's time and moves it with the replies", async () => {
    const guest = await Guest.start(
      "const a = Date.now(); await sleep(2); return [a, Date.now(), new Date().toISOString(), new Date(5).getTime()];",
      {
        time_s: 1.5,
      },
    );
    guest.settle([[guest.turn.ids[0] ?? 0, true, null]], 3.75);
    expect(guest.value).toEqual([1500, 3750, "1970-01-01T00:00:03.750Z", 5]);
  });

  it("has no way to the host's clock", async () => {
    const ways = [
      "new Date().constructor.now()",
      "Number(new (Object.getPrototypeOf(new Date(0)).constructor)())",
      "Date.prototype.constructor.now()",
      "Number(new (class extends Date {})())",
      "Date.parse(Date())",
    ];
    expect(await resultOf(`return [${ways.join()}];`, { time_s: 7 })).toEqual([7000, 7000, 7000, 7000, 7000]);
  });

  it("repeats Math.random for a seed and changes it with the seed", async () => {
    const draw = "return Array.from({ length: 200 }, () => Math.random());";
    const first = (await resultOf(draw, { seed: 5 })) as number[];
    expect(await resultOf(draw, { seed: 5 })).toEqual(first);
    expect(await resultOf(draw, { seed: 6 })).not.toEqual(first);
    expect(first.every((x) => x >= 0 && x < 1)).toBe(true);
    expect(first.reduce((a, b) => a + b) / first.length).toBeCloseTo(0.5, 1);
    expect(new Set(first).size).toBe(200);
  });
});

describe("ends", () => {
  it("carries any JSON as the result", async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 3 }), async (value) => {
        const text = JSON.stringify(value);
        fc.pre(text.length < 8_000);
        expect(await resultOf(`return JSON.parse(${JSON.stringify(text)});`)).toEqual(JSON.parse(text));
      }),
      { numRuns: 40 },
    );
  });

  it("returns null for nothing", async () => {
    expect(await resultOf("")).toBeNull();
    expect(await resultOf("return;")).toBeNull();
  });

  it.each([
    ["const o = {};\n\n  o.p.q();", "TypeError", 3],
    ["function f() {\n  throw new RangeError('r');\n}\nf();", "RangeError", 2],
    ["await null;\nawait Promise.reject(new Error('late'));", "Error", 2],
    ["let x = {{;", "SyntaxError", 1],
    ["class Own extends Error { name = 'Own'; }\nthrow new Own('o');", "Own", 2],
  ])("says where %j threw", async (javascript, name, line) => {
    expect((await Guest.start(javascript)).last).toMatchObject({ type: "threw", name, line });
  });

  it.each([
    ["robot.go(); return 1;", "unawaited_calls"],
    ["await new Promise(() => {});", "deadlock"],
    ["return 'x'.repeat(16384);", "result_too_large"],
    ["return () => 1;", "result_invalid"],
    ["return { error_m: NaN };", "result_invalid"],
    ["for (;;) await robot.look({ x: NaN }).catch(() => {});", "call_quota"],
    ["for (let i = 0; i < 300; i++) robot.look(i); await sleep(1);", "call_quota"],
    ["for (;;) console.log('');", "output_quota"],
    ["for (;;);", "cpu_quota"],
    ["for (;;) await null;", "cpu_quota"],
    ["const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1));", "memory_quota"],
  ])("ends %j as %s", async (javascript, code) => {
    const guest = await Guest.start(javascript, { quotas: { turnCpu_s: code === "cpu_quota" ? 0.1 : 10 } });
    expect(guest.last).toMatchObject({ type: "killed", code });
    expect(guest.vm.over).toBe(true);
  });

  it("lets an unawaited sleep go", async () => {
    expect(await resultOf("sleep(1); return 2;")).toBe(2);
  });

  it("runs no code from strings", async () => {
    const ways = [
      "(() => {}).constructor('return 1')",
      "Function('return 1')",
      "(async () => {}).constructor('1')",
      "(function* () {}).constructor('1')",
    ];
    const tried = ways.map((way) => `(() => { try { ${way}(); return 'ran'; } catch (e) { return e.message; } })()`);
    const refused = "code from strings is not available in a program";
    expect(await resultOf(`return [typeof eval, ${tried.join()}];`)).toEqual(["undefined", ...ways.map(() => refused)]);
  });
});

describe("console", () => {
  it("shows values on one line per call, with its level and time", async () => {
    const guest = await Guest.start(
      "console.log('a', 1, -0, null, undefined, [1, 'b'], { p: { q: true } }, new Error('e'), 5n, Symbol('s'), () => 1); console.warn(new Map([[1, 2]]), new Date(0)); console.error(new (class Pose { x = 1; })());",
      { time_s: 4 },
    );
    expect(guest.messages.slice(0, 3)).toEqual([
      {
        type: "print",
        level: "log",
        text: 'a 1 -0 null undefined [1, "b"] { p: { q: true } } Error: e 5n Symbol(s) [function]',
        time_s: 4,
      },
      { type: "print", level: "warn", text: "[map of 1] 1970-01-01T00:00:00.000Z", time_s: 4 },
      { type: "print", level: "error", text: "{ x: 1 }", time_s: 4 },
    ]);
  });

  it("bounds cycles, long arrays, long strings and values that fight back", async () => {
    const guest = await Guest.start(
      "const a = { n: 1 }; a.a = a; console.log(a); console.log(new Array(1e5).fill(7)); console.log('x'.repeat(1e5)); console.log({ get bad() { throw 1; } });",
    );
    const texts = guest.messages.flatMap((message) => (message.type === "print" ? [message.text] : []));
    expect(texts).toHaveLength(4);
    expect(texts[0]).toContain("{…}");
    expect(texts[1]).toContain("(100000 entries)");
    expect(texts[2]?.length).toBeLessThan(8_100);
    expect(texts[2]).toContain("(92000 more characters)");
    expect(texts[3]).toBe("[cannot be shown]");
  });
});
