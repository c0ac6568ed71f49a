import { setTimeout as sleep } from "node:timers/promises";
import type { RigPart } from "../../../backends/emulators/rig/launch.js";
import { operatorStatus } from "../../../backends/native/operator.js";
import { isSkill2RealError } from "../../contract/errors.js";
import type { DeviceEvent, StateReply } from "../../contract/generated/device.js";
import { distance } from "../conformance/motion.js";
import { ensure } from "./check.js";
import type { Conductor, HilContext } from "./context.js";
import { now_s, type PlantTruth } from "./plant-truth.js";

export type FaultTrial = {
  part: RigPart;
  order: Record<string, unknown>;
  /** Fault codes of which one must be told; empty: the motion must go on to its end as if nothing were. */
  codes: readonly string[];
  /** Which motion is under way. */
  during: "arm" | "gripper";
  /** A person's recovery must bring the arm back once the fault is over. */
  recovers?: boolean;
};

const PATIENCE_S = 8;
/** A state that is told as current may be this far from the truth: servo lag, and the age of the message. */
const STATE_RAD = 0.03;
const AT_TARGET_RAD = 0.02;
const AT_TARGET_M = 0.004;

type Seen = { notice_s: number | null; code: string; seen: string[]; falsehoods: Set<string> };

/** Breaks something during a motion and fills the line of the table of faults; throws where what must be is not. */
export async function tryFault(ctx: HilContext, name: string, trial: FaultTrial): Promise<void> {
  const conductor = await ctx.conductor();
  const truth = ctx.truth();
  const going = trial.during === "arm" ? await startArm(ctx, conductor) : await startGripper(ctx, conductor);
  const injected_s = now_s();
  await ctx.bench.emulated.fault(trial.part, trial.order as never).catch((error: unknown) => {
    // A part that is killed cannot answer the order that killed it.
    if (trial.order.fault !== "kill") throw error;
  });
  const stands = trial.during === "arm" ? truth.standstill(PATIENCE_S) : Promise.resolve(null);
  const seen = await watch(ctx, conductor, { ...going, injected_s, truth, expected: trial.codes });
  const stood_s = await stands;
  const standstill_s = stood_s === null ? null : Math.max(0, stood_s - injected_s);
  const { notice_s, code, falsehoods } = seen;
  ctx.fault = {
    fault: `${trial.part}: ${name}`,
    notice_s,
    standstill_s,
    code,
    seen: seen.seen.join("; "),
    false_report: [...falsehoods].join("; "),
  };
  if (notice_s !== null) ctx.measure("noticed after", notice_s, "s");
  if (standstill_s !== null) ctx.measure("stood after", standstill_s, "s");
  ensure(falsehoods.size === 0, `what was told was false: ${[...falsehoods].join("; ")}`);
  if (trial.codes.length === 0) ensure(code === "", `it must be borne, and the fault "${code}" was told`);
  else
    ensure(trial.codes.includes(code), `the fault told is "${code || "none"}", it must be ${trial.codes.join(" or ")}`);
  if (trial.codes.length > 0 && trial.during === "arm")
    ensure(standstill_s !== null, `the arm did not come to stand in ${PATIENCE_S} s`);
  if (trial.recovers) await recovers(ctx, conductor);
}

type Going = { group: number; duration_s: number; target: number[] | null; opening_m: number | null };

async function startArm(ctx: HilContext, conductor: Conductor): Promise<Going> {
  const target = conductor.q_rad.map((q, joint) => (joint === 5 ? q + 0.7 : joint === 0 ? q + 0.12 : q));
  const motion = ctx.trajectory(conductor, conductor.q_rad, target, 3);
  const { group } = await ctx.start(conductor, [motion]);
  await sleep(Math.max(500, 1e3 * 0.35 * motion.duration_s));
  return { group, duration_s: motion.duration_s, target, opening_m: null };
}

async function startGripper(ctx: HilContext, conductor: Conductor): Promise<Going> {
  const arm = conductor.arm.name;
  await ctx.play(conductor, [{ gripper_move: { arm, opening_m: 0.085 } }]);
  const opening_m = 0.02;
  const { group } = await ctx.start(conductor, [{ gripper_move: { arm, opening_m, speed_m_s: 0.03 } }]);
  await sleep(600);
  return { group, duration_s: 3, target: null, opening_m };
}

type Watch = Going & { injected_s: number; truth: PlantTruth; expected: readonly string[] };

/** What a program learns, and whether it is true, until the motion has ended or the backend is lost. */
async function watch(ctx: HilContext, conductor: Conductor, of: Watch): Promise<Seen> {
  const seen: Seen = { notice_s: null, code: "", seen: [], falsehoods: new Set() };
  const until_s = of.injected_s + of.duration_s + PATIENCE_S;
  const noticed = (event: DeviceEvent): void => {
    if (event.kind === "group_progress") return;
    seen.notice_s ??= Math.max(0, now_s() - of.injected_s);
  };
  const remove = conductor.client.onEvent((event) => {
    if (event.fault && seen.code === "") seen.code = event.fault.code;
    if (event.fault || event.stopped) noticed(event);
  });
  try {
    while (now_s() < until_s) {
      const state = await ctx.state(conductor.client);
      judgeState(state, of, seen);
      const motion = state.groups.find(({ group }) => group === of.group);
      if (motion && !motion.active) {
        const { end_reason } = motion.motions[0]!;
        seen.seen.push(`its motion ended with ${end_reason}`);
        judgeEnd(end_reason, of, seen);
        break;
      }
      await sleep(10);
    }
    // A fault is told once the motion has ended, or a moment later.
    for (let i = 0; i < 100 && seen.code === "" && of.expected.length > 0; i += 1) await sleep(20);
  } catch (error) {
    seen.seen.push(`its call failed with ${isSkill2RealError(error) ? error.code : String(error)}`);
    seen.notice_s ??= now_s() - of.injected_s;
  } finally {
    remove();
  }
  if (seen.code === "") {
    const backend = await ctx.bench.backend();
    const status = await operatorStatus(backend.operator).catch(() => null);
    seen.code = status?.fault_code ?? "";
  }
  if (seen.code === "") seen.notice_s = null;
  if (seen.seen.length === 0) {
    seen.seen.push("its motion never ended");
    seen.falsehoods.add("a motion that goes on for ever");
  }
  return seen;
}

/** A state that says of itself that it is of now must be true. */
function judgeState({ arms, grippers }: StateReply, { truth }: Watch, { falsehoods }: Seen): void {
  const real = truth.read();
  const [arm] = arms;
  if (arm && arm.mode !== "DISCONNECTED" && arm.mode !== "FAULT" && Math.abs(arm.time_s - real.time_s) < 0.02) {
    const off = distance(arm.q_rad, real.q_rad);
    if (off > STATE_RAD) falsehoods.add(`joints told as current are ${(1e3 * off).toFixed(0)} mrad off`);
  }
  const [jaw] = grippers;
  if (jaw && Math.abs(jaw.time_s - real.time_s) < 0.02 && Math.abs(jaw.opening_m - real.opening_m) > 0.012)
    falsehoods.add(
      `an opening told as current is ${(1e3 * Math.abs(jaw.opening_m - real.opening_m)).toFixed(0)} mm off`,
    );
}

/** "Completed" is a promise: the arm, or the jaw, is there. */
function judgeEnd(end_reason: string, { truth, target, opening_m }: Watch, { falsehoods }: Seen): void {
  if (end_reason !== "END_COMPLETED") return;
  const real = truth.read();
  if (target && distance(real.q_rad, target) > AT_TARGET_RAD)
    falsehoods.add(`"completed", ${(1e3 * distance(real.q_rad, target)).toFixed(0)} mrad from the target`);
  if (opening_m !== null && Math.abs(real.opening_m - opening_m) > AT_TARGET_M)
    falsehoods.add(`"completed", ${(1e3 * Math.abs(real.opening_m - opening_m)).toFixed(0)} mm from the target`);
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
