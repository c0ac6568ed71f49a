import { performance } from "node:perf_hooks";
import {
  newQuickJSWASMModule,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSWASMModule,
  RELEASE_SYNC,
} from "quickjs-emscripten";
import type { FromGuest, ToGuest } from "./guest-messages.js";
import { installGuestScope } from "./guest-scope.js";
import { mapStack, PROGRAM_PREFIX, PROGRAM_SUFFIX } from "./guest-stack.js";
import type { KillCode } from "./kill-codes.js";

type RunMessage = Extract<ToGuest, { type: "run" }>;
type SettleMessage = Extract<ToGuest, { type: "settle" }>;
type EndMessage = Extract<FromGuest, { type: "returned" | "threw" | "killed" }>;

/** Jobs per look at the clock: a flood of microtasks cannot outrun the deadline. */
const JOBS_PER_SLICE = 500;
const SCOPE_FILE = "robot-scope";
const MAX_LINE_CHARS = 8_000;
const PRINT_LINE_OVERHEAD = 32;

/** A fresh interpreter: a WebAssembly instance with memory of its own, which is the cap that holds. */
export class GuestMemory {
  readonly module: QuickJSWASMModule;
  readonly limit_MB: number;
  #refused = false;

  private constructor(module: QuickJSWASMModule, limit_MB: number) {
    this.module = module;
    this.limit_MB = limit_MB;
  }

  /** True once the interpreter asked for more than the limit. */
  get refused(): boolean {
    return this.#refused;
  }

  static async create(limit_MB: number, wasmModule: WebAssembly.Module): Promise<GuestMemory> {
    const wasmMemory = new WebAssembly.Memory({ initial: 256, maximum: limit_MB * 16 });
    const grow = wasmMemory.grow.bind(wasmMemory);
    const holder: { memory?: GuestMemory } = {};
    wasmMemory.grow = (pages: number): number => {
      try {
        return grow(pages);
      } catch (error) {
        if (holder.memory !== undefined) holder.memory.#refused = true;
        throw error;
      }
    };
    const module = await newQuickJSWASMModule(newVariant(RELEASE_SYNC, { wasmMemory, wasmModule }));
    holder.memory = new GuestMemory(module, limit_MB);
    return holder.memory;
  }
}

/** Runs one program in one interpreter. Every message goes out through `send`; the last is `returned`, `threw` or `killed`. */
export class GuestVm {
  readonly #memory: GuestMemory;
  readonly #runtime: QuickJSRuntime;
  readonly #vm: QuickJSContext;
  readonly #run: RunMessage;
  readonly #send: (message: FromGuest) => void;
  readonly #settleHandle: QuickJSHandle;
  readonly #startHandle: QuickJSHandle;

  readonly #inFlight = new Map<number, "call" | "sleep">();
  #calls: { id: number; json: string }[] = [];
  #sleeps: { id: number; seconds: number }[] = [];
  #counted = 0;
  #printedChars = 0;
  #sequence = 0;
  #time_s: number;
  #guestCpu_s = 0;
  #sliceWall_ms = 0;
  #sliceCpu_us = 0;
  /** What the guest reported; it goes out when the turn is over. */
  #end: EndMessage | undefined;
  #over = false;

  constructor(memory: GuestMemory, run: RunMessage, send: (message: FromGuest) => void) {
    this.#memory = memory;
    this.#run = run;
    this.#send = send;
    this.#time_s = run.time_s;
    this.#runtime = memory.module.newRuntime();
    this.#runtime.setMaxStackSize(run.quotas.stack_kB * 1024);
    this.#vm = this.#runtime.newContext();
    const controls = this.#installScope();
    this.#startHandle = this.#vm.getProp(controls, "start");
    this.#settleHandle = this.#vm.getProp(controls, "settle");
    this.#runtime.setInterruptHandler(() => this.#over || this.#overCpu());
  }

  get over(): boolean {
    return this.#over;
  }

  start(): void {
    const { javascript, fileName } = this.#run;
    this.#turn(() => {
      const compiled = this.#vm.evalCode(`${PROGRAM_PREFIX}${javascript}${PROGRAM_SUFFIX}`, fileName, { type: "global", strict: true });
      if (compiled.error) return this.#fail(compiled.error);
      this.#call(this.#startHandle, compiled.value);
    });
  }

  settle(message: SettleMessage): void {
    if (this.#over) return;
    this.#sequence = message.sequence;
    this.#time_s = message.time_s;
    for (const [id] of JSON.parse(message.text) as [number][]) this.#inFlight.delete(id);
    this.#turn(() => this.#call(this.#settleHandle, this.#vm.newString(message.text), this.#vm.newNumber(message.time_s)));
  }

  /** Lets the guest run until it has nothing left to run, then tells what it asked for or how it ended. */
  #turn(enter: () => void): void {
    this.#sliceWall_ms = performance.now();
    this.#sliceCpu_us = cpu_us();
    enter();
    while (!this.#over && this.#end === undefined && this.#runtime.hasPendingJob()) {
      const jobs = this.#runtime.executePendingJobs(JOBS_PER_SLICE);
      if (jobs.error) jobs.error.dispose();
      else jobs.dispose();
      if (!this.#over) this.#overCpu();
    }
    if (this.#over) return;
    this.#guestCpu_s += this.#slice_s();
    if (this.#end !== undefined) return this.#finish(this.#end);
    if (this.#inFlight.size === 0) {
      return this.#memory.refused
        ? this.#kill("memory_quota", this.#memoryWords())
        : this.#kill("deadlock", "the program awaits something that no call or sleep in flight can settle");
    }
    const [calls, sleeps] = [this.#calls, this.#sleeps];
    this.#calls = [];
    this.#sleeps = [];
    this.#send({ type: "turn", sequence: this.#sequence, calls, sleeps, guestCpu_s: this.#guestCpu_s });
  }

  #finish(end: EndMessage): void {
    const calls = [...this.#inFlight.values()].filter((kind) => kind === "call").length;
    if (end.type === "returned" && calls > 0) {
      const words = calls === 1 ? "1 robot call was" : `${calls} robot calls were`;
      return this.#kill("unawaited_calls", `${words} still in flight when the program returned: await every call`);
    }
    if (end.type === "threw" && this.#memory.refused && isOutOfMemory(end)) return this.#kill("memory_quota", this.#memoryWords());
    this.#over = true;
    this.#send({ ...end, guestCpu_s: this.#guestCpu_s });
  }

  #kill(code: KillCode, message: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#send({ type: "killed", code, message, guestCpu_s: this.#guestCpu_s });
  }

  #memoryWords(): string {
    return `the program needs more than its ${this.#memory.limit_MB} MB of memory`;
  }

  #slice_s(): number {
    // both are above the thread's own CPU time: wall time counts other processes, process time counts the compiler's threads
    return Math.min((performance.now() - this.#sliceWall_ms) / 1e3, (cpu_us() - this.#sliceCpu_us) / 1e6);
  }

  #overCpu(): boolean {
    const { turnCpu_s } = this.#run.quotas;
    if (this.#slice_s() <= turnCpu_s) return false;
    this.#guestCpu_s += this.#slice_s();
    this.#kill("cpu_quota", `the program computed for ${turnCpu_s} s without awaiting anything`);
    return true;
  }

  #call(callee: QuickJSHandle, ...args: QuickJSHandle[]): void {
    const result = this.#vm.callFunction(callee, this.#vm.undefined, ...args);
    for (const arg of args) arg.dispose();
    if (result.error) this.#fail(result.error);
    else result.value.dispose();
  }

  /** The guest's side itself failed: a syntax error, no memory, or an interrupt. */
  #fail(error: QuickJSHandle): void {
    if (this.#over) return error.dispose();
    const dumped: unknown = this.#vm.dump(error);
    error.dispose();
    const read = (key: string, otherwise: string): string => {
      const value = typeof dumped === "object" && dumped !== null ? (dumped as Record<string, unknown>)[key] : undefined;
      return typeof value === "string" ? value : otherwise;
    };
    if (this.#memory.refused) return this.#kill("memory_quota", this.#memoryWords());
    this.#end = this.#threw(read("name", "Error"), read("message", "the interpreter gave up"), read("stack", ""));
  }

  #threw(name: string, message: string, stack: string, code?: string): EndMessage {
    const { fileName, javascript } = this.#run;
    const mapped = mapStack(stack, fileName, javascript.split("\n").length);
    return {
      type: "threw",
      name,
      message,
      line: mapped.place?.line ?? null,
      column: mapped.place?.column ?? null,
      stack: mapped.stack,
      guestCpu_s: 0,
      ...(code === undefined ? {} : { code }),
    };
  }

  #installScope(): QuickJSHandle {
    const { names, seed, time_s, quotas } = this.#run;
    const vm = this.#vm;
    const options = vm.newString(
      JSON.stringify({
        names,
        seed,
        time_s,
        maxArgumentChars: quotas.maxArgumentChars,
        maxPathPoints: quotas.maxPathPoints,
        maxResultChars: quotas.maxResultChars,
        maxSleep_s: quotas.deviceTime_s,
        maxLineChars: MAX_LINE_CHARS,
      }),
    );
    const bridge = this.#newBridge();
    const install = vm.unwrapResult(
      vm.evalCode(`(bridge, options) => (${installGuestScope.toString()})(bridge, JSON.parse(options))`, SCOPE_FILE, { type: "global", strict: true }),
    );
    const controls = vm.unwrapResult(vm.callFunction(install, vm.undefined, bridge, options));
    for (const handle of [options, bridge, install]) handle.dispose();
    return controls;
  }

  #newBridge(): QuickJSHandle {
    const vm = this.#vm;
    const bridge = vm.newObject();
    const add = (name: string, body: (...args: QuickJSHandle[]) => void): void => {
      const handle = vm.newFunction(name, (...args) => {
        if (!this.#over) body(...args);
        // after the end nothing is taken any more; the interrupt ends the guest
        if (this.#over) throw new Error("the program has ended");
      });
      vm.setProp(bridge, name, handle);
      handle.dispose();
    };
    const text = (handle: QuickJSHandle | undefined): string => (handle === undefined ? "" : vm.getString(handle));
    const number = (handle: QuickJSHandle | undefined): number => (handle === undefined ? Number.NaN : vm.getNumber(handle));

    add("count", (kind) => {
      const { maxCalls, maxCallsInFlight } = this.#run.quotas;
      if (++this.#counted > maxCalls) this.#kill("call_quota", `the program made more than ${maxCalls} calls`);
      else if (this.#inFlight.size >= maxCallsInFlight) {
        this.#kill("call_quota", `the program has more than ${maxCallsInFlight} calls in flight at ${text(kind)} ${this.#counted}`);
      }
    });
    add("call", (id, json) => {
      this.#inFlight.set(number(id), "call");
      this.#calls.push({ id: number(id), json: text(json) });
    });
    add("sleep", (id, seconds) => {
      this.#inFlight.set(number(id), "sleep");
      this.#sleeps.push({ id: number(id), seconds: number(seconds) });
    });
    add("print", (level, line) => {
      const printed = text(line);
      this.#printedChars += printed.length + PRINT_LINE_OVERHEAD;
      const { maxPrintedChars } = this.#run.quotas;
      if (this.#printedChars > maxPrintedChars) return this.#kill("output_quota", `the program printed more than ${maxPrintedChars} characters`);
      this.#send({ type: "print", level: text(level) as "log" | "warn" | "error", text: escapeControls(printed), time_s: this.#time_s });
    });
    add("returned", (json) => {
      this.#end = { type: "returned", json: text(json), guestCpu_s: 0 };
    });
    add("threw", (json) => {
      const error = JSON.parse(text(json)) as { name: string; message: string; stack: string; code?: string };
      this.#end = this.#threw(error.name, error.message, error.stack, error.code);
    });
    add("killed", (code, message) => {
      this.#end = { type: "killed", code: text(code), message: text(message), guestCpu_s: 0 };
    });
    return bridge;
  }
}

function cpu_us(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** At the limit the interpreter may throw its own error, null, or fail while it makes the error. */
const isOutOfMemory = (end: { name: string; message: string }): boolean =>
  (end.name === "InternalError" && end.message === "out of memory") || end.name === "ThrownValue";

/** Terminal escapes and the like are shown, not obeyed. */
const escapeControls = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
