import { setTimeout as sleep } from "node:timers/promises";
import type { RigPart } from "../../../backends/emulators/rig/launch.js";
import { operatorStatus } from "../../../backends/native/operator.js";
import type { DeviceEvent } from "../../contract/generated/device.js";
import { ensure } from "./check.js";
import type { Conductor, HilContext } from "./context.js";
import { CLOSED_M, type Closing, FaultProgram } from "./fault-program.js";
import { judgeTrial, STANDS_WITHIN_S } from "./fault-verdict.js";
import {
  judgeArmMotion,
  judgeGripperMotion,
  judgeGripperState,
  judgeRobotState,
  judgeView,
  type ProgramReply,
  type WorldTruth,
} from "./judge-reports.js";
import { now_s } from "./plant-truth.js";
import { TruthLog } from "./truth-log.js";

export type FaultTrial = {
  part: RigPart;
  /** The order that breaks it; `{ set: … }` is one of the controller's own. */
  order: Record<string, unknown>;
  /** A second order first, where the fault needs one. */
  before?: Record<string, unknown>;
  /** Fault codes of which one must be told; empty: the motion must go on to its end as if nothing were. */
  codes: readonly string[];
  /** What the program does while its arm moves. */
  during: "arm" | "gripper" | "then_gripper" | "view";
  /** Of `view`: the camera, and what must become of its picture. */
  camera?: string;
  picture?: "refused" | "given";
  /** The jaw cannot get where it was told to, and must not say so. */
  jaw?: "not ok";
  /** A person's recovery must bring the arm back once the fault is over. */
  recovers?: boolean;
};

/** A fault of the driver is told once the motion has ended, or a moment later. */
const TOLD_LATER_MS = 2000;
const WORDS = 200;

const CLOSING: Record<FaultTrial["during"], Closing> = {
  arm: "never",
  gripper: "beside",
  then_gripper: "then",
  view: "never",
};

/** What a program asks for when a motion of its own has ended. */
const AFTERWARDS = ["get_robot_state", "get_gripper_state"] as const;

/** Breaks something during a motion of a program and fills the line of the table of faults; throws where what must be is not. */
export async function tryFault(ctx: HilContext, trial: FaultTrial): Promise<void> {
  const program = await FaultProgram.open(ctx, CLOSING[trial.during]);
  const truth = new TruthLog(ctx.truth());
  ctx.onCleanUp(() => truth.close());
  if (trial.before) await give(ctx, trial, trial.before);
  await program.begin();
  const trace = new Trace(ctx, program, truth);
  const injected_s = now_s();
  const remove = program.conductor.client.onEvent((event) => trace.hear(event));
  try {
    await give(ctx, trial, trial.order);
    if (trial.during === "view") await trace.look(trial.camera!);
    await program.motions((reply) => trace.ended(reply));
    trace.nothingHeld();
    if (trial.codes.length > 0) await trace.waitForCode();
    // What a program asks for next must be as true as how its motion ended.
    for (const operation of AFTERWARDS)
      if (operation !== "get_gripper_state" || ctx.rig.gripper) trace.judgeState(await program.ask(operation));
    await trace.backendCode();
  } finally {
    remove();
  }
  const stopped = trial.codes.length > 0;
  const stood_s = stopped ? await standstill(truth, injected_s) : null;
  report(ctx, trial, trace, injected_s, stood_s);
  const { replies, falsehoods, code } = trace;
  judgeTrial(trial, { replies, falsehoods, code, stood: stood_s !== null, alive: truth.alive });
  if (trial.recovers) await recovers(ctx, program.conductor);
}

async function give(ctx: HilContext, { part }: FaultTrial, order: Record<string, unknown>): Promise<void> {
  const { emulated } = ctx.bench;
  if ("set" in order) await emulated.tell(part, order);
  else
    await emulated.fault(part, order as never).catch((error: unknown) => {
      // A part that is killed cannot answer the order that killed it.
      if (order.fault !== "kill") throw error;
    });
}

/** When the arm came to stand after something broke; null where it does not within the patience. */
export async function standstill(truth: TruthLog, injected_s: number): Promise<number | null> {
  while (now_s() < injected_s + STANDS_WITHIN_S) {
    const stood_s = truth.stoodAfter(injected_s);
    if (stood_s !== null || !truth.alive) return stood_s;
    await sleep(20);
  }
  return truth.stoodAfter(injected_s);
}

/** What a program and its runtime were told, and what of it was not so. */
class Trace {
  readonly replies: ProgramReply[] = [];
  readonly falsehoods = new Set<string>();
  noticed_s: number | null = null;
  code = "";
  readonly #ends: string[] = [];
  readonly #ctx: HilContext;
  readonly #program: FaultProgram;
  readonly #truth: TruthLog;

  constructor(ctx: HilContext, program: FaultProgram, truth: TruthLog) {
    this.#ctx = ctx;
    this.#program = program;
    this.#truth = truth;
  }

  hear(event: DeviceEvent): void {
    if (!event.fault && !event.stopped) return;
    this.noticed_s ??= now_s();
    if (event.fault && this.code === "") this.code = event.fault.code;
  }

  /** How a motion ended, against what the plant does at that very moment. */
  ended(reply: ProgramReply): void {
    this.replies.push(reply);
    if (reply.status !== "ok") this.noticed_s ??= now_s();
    this.#ends.push(reply.status);
    this.#false(
      reply.operation === "goto_pose"
        ? judgeArmMotion(reply, this.#world(), this.#program.X_world_goal)
        : judgeGripperMotion(reply, this.#world(), CLOSED_M),
    );
  }

  judgeState(reply: ProgramReply): void {
    this.replies.push(reply);
    const judge = reply.operation === "get_robot_state" ? judgeRobotState : judgeGripperState;
    this.#false(judge(reply, this.#world()));
  }

  async look(camera: string): Promise<void> {
    const view = this.#ctx.rig.cameras[camera]?.mount === "tcp" ? "get_wrist_stereo_view" : "get_scene_stereo_view";
    const asked_s = now_s();
    const reply = await this.#program.look(view);
    this.replies.push(reply);
    if (reply.status !== "ok") {
      this.noticed_s ??= now_s();
      if (this.code === "") this.code = reply.status;
    }
    this.#false(
      judgeView(reply, {
        asked_s,
        exposures: await exposuresOf(this.#ctx, camera),
        X_world_tcp_at: (time_s) => this.#program.X_world_tcp(this.#truth.at(time_s).q_rad),
      }),
    );
  }

  /** The table is empty: who remembers something in the hand remembers wrongly. */
  nothingHeld(): void {
    const { arms, held } = this.#program.session.context;
    for (const { name } of arms.all())
      if (held.get(name)) this.falsehoods.add(`arm "${name}" is told to hold something, and nothing is there`);
  }

  async waitForCode(): Promise<void> {
    const give_up_s = now_s() + TOLD_LATER_MS / 1e3;
    while (this.code === "" && now_s() < give_up_s) await sleep(20);
  }

  /** The fault that a person would be told, where no event said it. */
  async backendCode(): Promise<void> {
    if (this.code !== "") return;
    const backend = this.#ctx.bench.running;
    this.code = (backend && (await operatorStatus(backend.operator).catch(() => null))?.fault_code) ?? "";
    // A motion that did not get there and broke nothing has its status alone.
    if (this.code === "") this.code = this.#ends.find((status) => status !== "ok") ?? "";
  }

  #false(found: readonly string[]): void {
    for (const one of found) this.falsehoods.add(one);
  }

  #world(): WorldTruth {
    const { q_rad, opening_m } = this.#truth.now();
    return { q_rad, opening_m, X_world_tcp: this.#program.X_world_tcp(q_rad) };
  }
}

/** When the bench really took its last pictures; null where its camera process is gone. */
async function exposuresOf(ctx: HilContext, camera: string): Promise<number[] | null> {
  try {
    const { stats } = (await ctx.bench.emulated.tell("bench", { stats: true })) as {
      stats?: { cameras?: { exposure_times_s?: Record<string, number[]> } | null };
    };
    return stats?.cameras?.exposure_times_s?.[camera] ?? null;
  } catch {
    return null;
  }
}

export const describeFault = ({ part, order, camera }: FaultTrial): string => {
  const words = Object.entries(order).map(([key, value]) =>
    key === "fault" ? String(value) : key === "set" ? settingWords(value) : `${key} ${String(value)}`,
  );
  return `${camera === undefined ? part : "camera"}: ${words.filter((word) => !word.startsWith("camera ")).join(", ")}`;
};

const settingWords = (value: unknown): string =>
  Object.entries(value as Record<string, unknown>)
    .map(([key, to]) => `${key} ${String(to)}`)
    .join(", ");

const replyWords = ({ operation, status, message, fields }: ProgramReply): string => {
  const more = [
    ...(typeof fields.stop_reason === "string" ? [fields.stop_reason] : []),
    ...(operation === "get_robot_state" && typeof fields.mode === "string" ? [`mode ${fields.mode}`] : []),
  ];
  // What a later question is refused with says again what the motion's end has said; the JSON report holds it.
  const again = (AFTERWARDS as readonly string[]).includes(operation);
  const words = status === "ok" || message === "" || again ? "" : `: ${message.slice(0, WORDS)}`;
  return `${operation} ${status}${more.length > 0 ? ` (${more.join(", ")})` : ""}${words}`;
};

function report(
  ctx: HilContext,
  trial: FaultTrial,
  { replies, falsehoods, noticed_s, code }: Trace,
  injected_s: number,
  stood_s: number | null,
): void {
  const since = (time_s: number | null): number | null => (time_s === null ? null : Math.max(0, time_s - injected_s));
  const [notice_s, standstill_s] = [since(noticed_s), since(stood_s)];
  ctx.fault = {
    fault: describeFault(trial),
    notice_s,
    standstill_s,
    code,
    seen: replies.map(replyWords).join("; "),
    false_report: [...falsehoods].join("; "),
    program: replies.map(({ operation, status, message, fields }) => ({
      operation,
      status,
      message,
      stop_reason: typeof fields.stop_reason === "string" ? fields.stop_reason : "",
    })),
  };
  if (notice_s !== null) ctx.measure("noticed after", notice_s, "s");
  if (standstill_s !== null) ctx.measure("stood after", standstill_s, "s");
}

/** The fault is over; a person recovers, and the arm moves again. */
async function recovers(ctx: HilContext, conductor: Conductor): Promise<void> {
  await ctx.bench.emulated.clear();
  await sleep(500);
  await ctx.recover(conductor.client);
  const from = await ctx.q(conductor);
  const motion = ctx.trajectory(
    conductor,
    from,
    from.map((q, joint) => (joint === 5 ? q - 0.1 : q)),
  );
  const reason = (await ctx.play(conductor, [motion])).motions[0]?.end_reason;
  ensure(reason === "END_COMPLETED", `after the recovery a motion ended with ${reason}`);
}
