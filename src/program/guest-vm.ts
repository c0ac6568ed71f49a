import type { QuickJSContext, QuickJSHandle, QuickJSRuntime } from "quickjs-emscripten";
import type { GuestMemory } from "./guest-memory.js";
import type { FromGuest, ToGuest } from "./guest-messages.js";
import { installGuestScope } from "./guest-scope.js";
import { mapStack, PROGRAM_PREFIX, PROGRAM_SUFFIX } from "./guest-stack.js";
import type { KillCode } from "./kill-codes.js";
import { escapeControls, MAX_LINE_CHARS, PRINT_LINE_OVERHEAD } from "./print-limits.js";
import type { PrintedLine } from "./run-result.js";
import { ownCpu_s, TurnClock } from "./turn-clock.js";

type RunMessage = Extract<ToGuest, { type: "run" }>;
type SettleMessage = Extract<ToGuest, { type: "settle" }>;
type EndMessage = Extract<FromGuest, { type: "returned" | "threw" | "killed" }>;

/** Jobs per look at the clock: a flood of microtasks cannot outrun the deadline. */
const JOBS_PER_SLICE = 500;
/** How many calls with the longest arguments fit into one turn. */
const CALLS_OF_A_TURN = 4;
const SCOPE_FILE = "robot-scope";

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
  #turnChars = 0;
  #counted = 0;
  #printedChars = 0;
  #sequence = 0;
  #time_s: number;
  #guestCpu_s = 0;
  readonly #clock = new TurnClock();
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
      const compiled = this.#vm.evalCode(`${PROGRAM_PREFIX}${javascript}${PROGRAM_SUFFIX}`, fileName, {
        type: "global",
        strict: true,
      });
      if (compiled.error) this.#fail(compiled.error);
      else this.#call(this.#startHandle, compiled.value);
    });
  }

  settle(message: SettleMessage): void {
    if (this.#over) return;
    this.#sequence = message.sequence;
    this.#time_s = message.time_s;
    for (const [id] of JSON.parse(message.text) as [number][]) this.#inFlight.delete(id);
    this.#turn(() =>
      this.#call(this.#settleHandle, this.#vm.newString(message.text), this.#vm.newNumber(message.time_s)),
    );
  }

  /** Lets the guest run until it has nothing left to run, then tells what it asked for or how it ended. */
  #turn(enter: () => void): void {
    this.#clock.restart();
    try {
      enter();
      while (!this.#over && this.#end === undefined && this.#runtime.hasPendingJob()) {
        this.#runtime.executePendingJobs(JOBS_PER_SLICE).dispose();
        if (!this.#over) this.#overCpu();
      }
    } catch (error) {
      // at its limit the interpreter may fail in any way; elsewhere it is a defect
      if (!this.#over && !this.#memory.refused) throw error;
      this.#killForMemory();
    }
    if (this.#over) return;
    this.#guestCpu_s += this.#clock.elapsed_s;
    if (this.#end !== undefined) this.#finish(this.#end);
    else if (this.#inFlight.size > 0) this.#sendTurn();
    else if (this.#memory.refused) this.#killForMemory();
    else this.#kill("deadlock", "the program awaits something that no call or sleep in flight can settle");
  }

  #sendTurn(): void {
    const [calls, sleeps] = [this.#calls, this.#sleeps];
    this.#calls = [];
    this.#sleeps = [];
    this.#turnChars = 0;
    const cpu = { guestCpu_s: this.#guestCpu_s, processCpu_s: ownCpu_s() };
    this.#send({ type: "turn", sequence: this.#sequence, calls, sleeps, ...cpu });
  }

  #finish(end: EndMessage): void {
    const calls = [...this.#inFlight.values()].filter((kind) => kind === "call").length;
    if (end.type === "returned" && calls > 0) {
      const words = calls === 1 ? "1 robot call was" : `${calls} robot calls were`;
      this.#kill("unawaited_calls", `${words} still in flight when the program returned: await every call`);
    } else if (end.type === "threw" && this.#memory.refused && isOutOfMemory(end)) this.#killForMemory();
    else {
      this.#over = true;
      this.#send({ ...end, guestCpu_s: this.#guestCpu_s });
    }
  }

  #kill(code: KillCode, message: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#send({ type: "killed", code, message, guestCpu_s: this.#guestCpu_s });
  }

  #killForMemory(): void {
    this.#kill("memory_quota", `the program needs more than its ${this.#memory.limit_MB} MB of memory`);
  }

  #overCpu(): boolean {
    const { turnCpu_s } = this.#run.quotas;
    if (this.#clock.elapsed_s <= turnCpu_s) return false;
    this.#guestCpu_s += this.#clock.elapsed_s;
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
    const dumped: unknown = this.#over ? undefined : this.#vm.dump(error);
    error.dispose();
    if (this.#over) return;
    const fields = typeof dumped === "object" && dumped !== null ? (dumped as Record<string, unknown>) : {};
    const read = (key: string, otherwise: string): string =>
      typeof fields[key] === "string" ? fields[key] : otherwise;
    if (this.#memory.refused) this.#killForMemory();
    else this.#end = this.#threw(read("name", "Error"), read("message", "the interpreter gave up"), read("stack", ""));
  }

  #threw(name: string, message: string, stack: string, code?: string): EndMessage {
    const { fileName, javascript } = this.#run;
    const mapped = mapStack(stack, fileName, javascript.split("\n").length, name);
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
    const { names, statusNames, seed, time_s, quotas } = this.#run;
    const vm = this.#vm;
    const options = vm.newString(
      JSON.stringify({
        names,
        statusNames,
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
      vm.evalCode(`(bridge, options) => (${installGuestScope.toString()})(bridge, JSON.parse(options))`, SCOPE_FILE, {
        type: "global",
        strict: true,
      }),
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
    const number = (handle: QuickJSHandle | undefined): number =>
      handle === undefined ? Number.NaN : vm.getNumber(handle);

    /** Takes a call or sleep into the turn, unless a quota is broken. */
    const count = (handle: QuickJSHandle | undefined, kind: "call" | "sleep"): number => {
      const { maxCalls, maxCallsInFlight } = this.#run.quotas;
      const id = number(handle);
      if (++this.#counted > maxCalls) this.#kill("call_quota", `the program made more than ${maxCalls} calls`);
      else if (this.#inFlight.size >= maxCallsInFlight) {
        this.#kill("call_quota", `the program has more than ${maxCallsInFlight} calls in flight`);
      }
      this.#inFlight.set(id, kind);
      return id;
    };
    add("call", (id, json) => {
      const call = { id: count(id, "call"), json: text(json) };
      const { maxArgumentChars } = this.#run.quotas;
      this.#turnChars += call.json.length;
      if (this.#turnChars > CALLS_OF_A_TURN * maxArgumentChars) {
        this.#kill(
          "call_quota",
          `the calls of one turn hold more than ${CALLS_OF_A_TURN * maxArgumentChars} characters`,
        );
      } else this.#calls.push(call);
    });
    add("sleep", (id, seconds) => {
      this.#sleeps.push({ id: count(id, "sleep"), seconds: number(seconds) });
    });
    add("refused", () => {
      const { maxCalls } = this.#run.quotas;
      if (++this.#counted > maxCalls) this.#kill("call_quota", `the program made more than ${maxCalls} calls`);
    });
    add("print", (level, line) => {
      const printed = escapeControls(text(line));
      const { maxPrintedChars } = this.#run.quotas;
      this.#printedChars += printed.length + PRINT_LINE_OVERHEAD;
      if (this.#printedChars > maxPrintedChars) {
        this.#kill("output_quota", `the program printed more than ${maxPrintedChars} characters`);
      } else {
        this.#send({ type: "print", level: text(level) as PrintedLine["level"], text: printed, time_s: this.#time_s });
      }
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

/** At the limit the interpreter may throw its own error, null, or fail while it makes the error. */
const isOutOfMemory = (end: { name: string; message: string }): boolean =>
  (end.name === "InternalError" && end.message === "out of memory") || end.name === "ThrownValue";
