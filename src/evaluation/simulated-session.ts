import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { z } from "zod";
import { SimBackend } from "../../backends/sim/launch.js";
import { type LoadedSkills, loadSkills } from "../agents/load-skills.js";
import { Skill2RealError } from "../contract/errors.js";
import type { EvaluateReply } from "../contract/generated/privileged.js";
import type { MotionSettings, PerceptionSettings } from "../contract/settings.js";
import { DeviceClient } from "../runtime/device/device-client.js";
import { Session } from "../runtime/session.js";
import { McapTrace, TRACE_FILE } from "../runtime/trace/mcap-trace.js";
import { NO_TRACE, type TraceSink } from "../runtime/trace-sink.js";
import { PrivilegedClient } from "./privileged-client.js";

export type SimulatedSessionOptions = {
  seed: number;
  /** Default "r1". */
  task?: string;
  /** Folder for images and the trace; made where it is missing. Left out: nothing is kept. */
  folder?: string;
  /** 0 (default): simulated time moves only as operations take it. 1: a wall clock in real time. */
  realtime?: number;
  /** Optional skills of the package that are on. Default: pointing. */
  skills?: readonly string[];
  motion?: Partial<MotionSettings>;
  perception?: Partial<PerceptionSettings>;
  /** Key of the refs; the same key gives the same refs. Default: a new one. */
  refKey?: string;
  /** Gets each line that the simulator logs. */
  onLog?: (line: string) => void;
};

/** What the simulator says of the task: `success`, and each predicate with its measure and limit. */
export type Judgement = Pick<EvaluateReply, "success" | "predicates" | "failure_kind">;

export type SimulatedSession = {
  session: Session;
  /** The task in words, as a Proposer gets it. */
  instruction: string;
  /** What programs can call, and what they are checked against. */
  skills: LoadedSkills;
  trace: TraceSink;
  /** One operation that must succeed: its result, or a rejection with `program_failed` that holds status and message. */
  call(operation: string, request?: unknown): Promise<Record<string, unknown>>;
  /** Lets the arm hold for a second, and judges whether the task is done. */
  judge(): Promise<Judgement>;
  /** Ends the session and the simulator, and finishes the trace. Rejects with `storage_failed` where that is not complete. */
  close(): Promise<void>;
};

const optionsSchema = z.strictObject({
  seed: z.number().int().nonnegative(),
  task: z.string().min(1).default("r1"),
  folder: z.string().min(1).optional(),
  realtime: z.number().min(0).max(100).default(0),
  skills: z.array(z.string()).default(["pointing"]),
  motion: z.record(z.string(), z.unknown()).optional(),
  perception: z.record(z.string(), z.unknown()).optional(),
  refKey: z.string().min(1).optional(),
  onLog: z.custom<(line: string) => void>((value) => typeof value === "function").optional(),
});

const SETTLE_S = 1;

/**
 * A session on a simulator of its own, with the world of a task and seed. For code of your own: examples, tests, scripts. It
 * holds the privileged line beside the session, so nothing that plays for a score may run in its process.
 */
export async function openSimulatedSession(options: SimulatedSessionOptions): Promise<SimulatedSession> {
  const parsed = optionsSchema.safeParse(options);
  if (!parsed.success)
    throw new Skill2RealError("bad_argument", `cannot open a simulated session: ${z.prettifyError(parsed.error)}`);
  const { task, realtime } = parsed.data;
  const open: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of open.splice(0).reverse()) await end();
  };
  try {
    const skills = await loadSkills({ paths: [], enable: parsed.data.skills, disable: [] });
    const folder = options.folder === undefined ? null : resolve(options.folder);
    const sim = await SimBackend.spawn({
      realtime,
      privileged: true,
      ...(options.onLog ? { onLog: options.onLog } : {}),
    });
    open.push(() => sim.close());
    const privileged = await PrivilegedClient.connect(sim.privileged!);
    open.push(async () => privileged.close());
    const world = await privileged.reset({ task, seed: options.seed });

    let now = (): number => 0;
    const trace = await makeTrace(folder, () => now(), world.instruction);
    if (trace) {
      open.push(async () => {
        await trace.close();
        if (trace.failed)
          throw new Skill2RealError("storage_failed", `the trace is not complete: ${trace.failed.message}`);
      });
    }
    const device = await DeviceClient.connect({
      ...sim.addresses,
      role: "CONTROLLER",
      client: "skill2real/library",
      ...(trace ? { onExchange: (exchange) => trace.exchange(exchange) } : {}),
    });
    open.push(() => device.bye());
    now = () => device.time_s;
    const session = Session.open({
      device,
      operations: skills.operations,
      folder,
      ...(trace ? { trace } : {}),
      ...(options.motion ? { motion: options.motion } : {}),
      ...(options.perception ? { perception: options.perception } : {}),
      ...(options.refKey ? { refKey: options.refKey } : {}),
    });
    open.push(() => session.close());
    trace?.event("session", { ref_key: session.refKey, random_seed: 1, skills: skills.names });
    const judge = async (): Promise<Judgement> => {
      await session.hold(SETTLE_S);
      const { success, predicates, failure_kind } = await privileged.evaluate();
      return { success, predicates, failure_kind };
    };
    const call = (operation: string, request?: unknown) => callOrThrow(session, operation, request);
    return { session, instruction: world.instruction, skills, trace: trace ?? NO_TRACE, call, judge, close };
  } catch (error) {
    await close().catch(() => {});
    throw error;
  }
}

async function callOrThrow(session: Session, operation: string, request: unknown): Promise<Record<string, unknown>> {
  const outcome = await session.call(operation, request);
  const { status, message, ...fields } =
    "error" in outcome
      ? { status: outcome.error.code, message: outcome.error.message }
      : typeof outcome.value === "object" && outcome.value !== null
        ? (outcome.value as Record<string, unknown>)
        : { status: "ok", message: "", path: outcome.value };
  if (status === "ok") return { status, message, ...fields };
  throw new Skill2RealError("program_failed", `${operation}: ${String(status)}: ${String(message)}`, {
    details: { operation, status, ...fields },
  });
}

async function makeTrace(folder: string | null, now: () => number, instruction: string): Promise<McapTrace | null> {
  if (folder === null) return null;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new Skill2RealError("storage_failed", `the folder ${folder} cannot be made (${code})`, { cause });
  }
  return McapTrace.create({ path: join(folder, TRACE_FILE), now, metadata: { instruction } });
}
