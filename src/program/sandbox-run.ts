import { performance } from "node:perf_hooks";
import { z } from "zod";
import { Skill2RealError } from "../contract/errors.js";
import type { CallFailure, GuestHost, GuestReplies, GuestTurn, Settlement } from "./guest-host.js";
import type { FromGuest } from "./guest-messages.js";
import type { GuestProcess } from "./guest-process.js";
import { KILL_CODES, type KillCode } from "./kill-codes.js";
import { parseJson } from "./parse-json.js";
import type { Quotas } from "./quotas.js";
import type { JsonValue, PrintedLine, RunEnd, RunResult } from "./run-result.js";

export type SandboxRunOptions = {
  javascript: string;
  fileName: string;
  names: readonly string[];
  statusNames: readonly string[];
  seed: number;
  startTime_s: number;
  quotas: Quotas;
  host: GuestHost;
  onPrint?: ((line: PrintedLine) => void) | undefined;
  onKill?: ((code: KillCode) => void) | undefined;
};

/** Ends that leave no guest code running, so that the process can take the next program. */
const SETTLED_CODES: readonly KillCode[] = ["unawaited_calls", "result_too_large", "result_invalid", "deadlock"];

/** How many times its wall time a turn may last while other processes keep the guest from computing. */
const MAX_STARVATION = 2;

/** A guest that closed its pipe is ending; one that does not end is helped. */
const ENDING_MS = 1000;

const callSchema = z.strictObject({ name: z.string(), args: z.array(z.unknown()) });

/** One program in one guest process: the host's side of its turns, its clocks and its end. */
export class SandboxRun implements GuestReplies {
  readonly #process: GuestProcess;
  readonly #options: SandboxRunOptions;
  readonly #done: Promise<RunResult>;
  #resolve!: (result: RunResult) => void;
  #reject!: (error: unknown) => void;

  readonly #started_ms = performance.now();
  readonly #pending = new Map<number, "call" | "sleep">();
  readonly #printed: PrintedLine[] = [];
  readonly #usage = { calls: 0, sleeps: 0, turns: 0, guestCpu_s: 0 };
  #time_s: number;
  #sequence = 0;
  /** Nothing passes from or to the guest any more: it is being killed, or it ends by itself. */
  #cut = false;
  #ended = false;
  #busySince_ms = 0;
  #busyTimer: NodeJS.Timeout | undefined;
  readonly #wallTimer: NodeJS.Timeout;

  constructor(process: GuestProcess, options: SandboxRunOptions) {
    this.#process = process;
    this.#options = options;
    this.#time_s = options.startTime_s;
    this.#done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const { wallTime_s } = options.quotas;
    this.#wallTimer = setTimeout(
      () => this.#kill("time_quota", `the program lasted longer than ${wallTime_s} s of wall time`),
      wallTime_s * 1e3,
    );
    process.listen({
      onMessage: (message) => this.#guard(() => this.#take(message)),
      onSilent: () => {
        this.#shut("guest_failed");
        setTimeout(() => void process.kill(), ENDING_MS).unref();
      },
      onExit: (lastWords) => this.#kill("guest_failed", `the sandbox process died: ${lastWords}`),
    });
    const { javascript, fileName, seed, quotas } = options;
    const [names, statusNames] = [[...options.names], [...options.statusNames]];
    process.send({ type: "run", javascript, fileName, names, statusNames, seed, time_s: this.#time_s, quotas });
    this.#watchTurn();
  }

  /** Settles when the program has ended and, where it was killed, its process is gone. */
  get done(): Promise<RunResult> {
    return this.#done;
  }

  stop(message: string): void {
    this.#kill("stopped", message);
  }

  resolve(id: number, value?: unknown, time_s?: number): void {
    this.settle([{ id, value }], time_s);
  }

  reject(id: number, error: CallFailure, time_s?: number): void {
    this.settle([{ id, error }], time_s);
  }

  settle(settlements: readonly Settlement[], time_s?: number): void {
    if (this.#cut || this.#ended || settlements.length === 0) return;
    const { deviceTime_s } = this.#options.quotas;
    if (time_s !== undefined) {
      if (!Number.isFinite(time_s)) throw new Skill2RealError("bad_argument", `time_s is ${time_s}; it must be finite`);
      this.#time_s = Math.max(this.#time_s, time_s);
    }
    const ids = new Set<number>();
    const batch = settlements.map((settlement) => {
      if (!this.#pending.has(settlement.id) || ids.has(settlement.id))
        throw new Skill2RealError("bad_argument", `no call or sleep with id ${settlement.id} is pending`);
      ids.add(settlement.id);
      if ("error" in settlement)
        return [settlement.id, false, { code: settlement.error.code, message: settlement.error.message }];
      return this.#pending.get(settlement.id) === "sleep"
        ? [settlement.id, true]
        : [settlement.id, true, settlement.value];
    });
    const text = toJson(batch);
    for (const { id } of settlements) this.#pending.delete(id);
    if (this.#time_s - this.#options.startTime_s > deviceTime_s) {
      this.#kill("time_quota", `the program lasted longer than ${deviceTime_s} s of device time`);
      return;
    }
    this.#process.send({ type: "settle", sequence: ++this.#sequence, text, time_s: this.#time_s });
    this.#watchTurn();
  }

  /** The guest computes from now on; it must go idle within its wall time. */
  #watchTurn(): void {
    if (this.#busyTimer !== undefined) return;
    const { turnWall_s } = this.#options.quotas;
    this.#busySince_ms = performance.now();
    // if this process itself was held up, the answer may already wait in the pipe: read it first
    const look = (): void => void setImmediate(() => this.#busyTimer !== undefined && this.#judgeTurn(look));
    this.#busyTimer = setTimeout(look, turnWall_s * 1e3);
  }

  /** A guest that got no processor is not at fault: it may have more wall time, up to `MAX_STARVATION` times as much. */
  #judgeTurn(again: () => void): void {
    const { turnWall_s, turnCpu_s } = this.#options.quotas;
    const wall_s = (performance.now() - this.#busySince_ms) / 1e3;
    const cpu_s = this.#process.unreportedCpu_s ?? Number.POSITIVE_INFINITY;
    if (cpu_s < Math.min(turnCpu_s, turnWall_s) && wall_s < turnWall_s * MAX_STARVATION) {
      this.#busyTimer = setTimeout(again, Math.max(10, turnWall_s * 50));
    } else {
      this.#kill("cpu_quota", `the program computed for ${wall_s.toFixed(1)} s of wall time without awaiting anything`);
    }
  }

  #guard(action: () => void): void {
    try {
      action();
    } catch (error) {
      if (error instanceof BrokenProtocol)
        this.#kill("guest_failed", `the sandbox process broke its protocol: ${error.message}`);
      else this.#end(() => this.#reject(error), true);
    }
  }

  #take(message: FromGuest): void {
    if (this.#cut || this.#ended) return;
    if ("guestCpu_s" in message) this.#usage.guestCpu_s = message.guestCpu_s;
    switch (message.type) {
      case "print": {
        const { level, text, time_s } = message;
        this.#printed.push({ level, text, time_s });
        this.#options.onPrint?.({ level, text, time_s });
        break;
      }
      case "turn":
        this.#takeTurn(message);
        break;
      case "returned":
        this.#finish({ outcome: "returned", value: this.#parseResult(message.json) }, false);
        break;
      case "threw": {
        const { type: _type, guestCpu_s: _cpu, ...error } = message;
        this.#finish({ outcome: "threw", error }, false);
        break;
      }
      case "killed":
        this.#kill(message.code in KILL_CODES ? (message.code as KillCode) : "guest_failed", message.message);
    }
  }

  #takeTurn(message: Extract<FromGuest, { type: "turn" }>): void {
    const idle = message.sequence === this.#sequence;
    const turn: GuestTurn = { index: this.#usage.turns++, calls: [], sleeps: [], pending: [], idle };
    for (const { id, json } of message.calls) {
      const { name, args } = this.#parseCall(json);
      this.#addPending(id, "call");
      turn.calls.push({ id, name, args });
    }
    for (const { id, seconds } of message.sleeps) {
      this.#addPending(id, "sleep");
      turn.sleeps.push({ id, seconds });
    }
    this.#usage.calls += turn.calls.length;
    this.#usage.sleeps += turn.sleeps.length;
    turn.pending = [...this.#pending.keys()];
    if (idle) {
      clearTimeout(this.#busyTimer);
      this.#busyTimer = undefined;
    }
    this.#options.host.onTurn(turn, this);
  }

  #parseCall(json: string): { name: string; args: unknown[] } {
    const parsed = callSchema.safeParse(parseJson(json));
    if (!parsed.success || !this.#options.names.includes(parsed.data.name))
      throw new BrokenProtocol("a call of no operation");
    return parsed.data;
  }

  #parseResult(json: string): JsonValue {
    const value = parseJson(json);
    if (value === undefined) throw new BrokenProtocol("a result that is not JSON");
    return value as JsonValue;
  }

  #addPending(id: number, kind: "call" | "sleep"): void {
    if (this.#pending.has(id)) throw new BrokenProtocol(`id ${id} twice`);
    this.#pending.set(id, kind);
  }

  #kill(code: KillCode, message: string): void {
    const kill = !SETTLED_CODES.includes(code);
    if (kill) this.#shut(code);
    this.#finish({ outcome: "killed", code, message }, kill);
  }

  /** Closes the gate and says so, while the guest's process still lives: what it set moving must not wait for its death. */
  #shut(code: KillCode): void {
    if (this.#cut || this.#ended) return;
    this.#cut = true;
    this.#options.onKill?.(code);
  }

  #finish(end: RunEnd, kill: boolean): void {
    const wall_s = (performance.now() - this.#started_ms) / 1e3;
    const usage = { ...this.#usage, wall_s, device_s: this.#time_s - this.#options.startTime_s };
    this.#end(() => this.#resolve({ ...end, printed: this.#printed, usage }), kill);
  }

  /** Closes the gate at once; nothing reaches the host afterwards. */
  #end(report: () => void, kill: boolean): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#busyTimer);
    clearTimeout(this.#wallTimer);
    this.#process.listen(undefined);
    if (kill) void this.#process.kill().then(report);
    else report();
  }
}

/** The guest process sent what it never sends unless something has taken it over. */
class BrokenProtocol extends Error {}

/** JSON, but a number that JSON cannot hold is an error instead of null. */
function toJson(batch: unknown[]): string {
  return JSON.stringify(batch, (key, value: unknown) => {
    if (typeof value === "number" && !Number.isFinite(value)) {
      throw new Skill2RealError(
        "bad_argument",
        `the reply holds ${value} at "${key}", which JSON cannot carry: send null or a status`,
      );
    }
    return value;
  });
}
