import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Pose } from "../../contract/generated/robot-api.js";
import { loadOperations } from "../../runtime/required-skills.js";
import { Session, type TurnSettlement } from "../../runtime/session.js";
import { fromPose, type Transform } from "../../runtime/transforms.js";
import { ensure } from "./check.js";
import type { Conductor, HilContext } from "./context.js";
import type { ProgramReply } from "./judge-reports.js";

const ARM = 1;
const JAW = 2;
const WAIT = 3;
const VIEW = 4;

/** Across the table and a little down: a straight line of some seconds that stays over the work area. */
const WAY_M = { x: 0.1, y: 0.06, z: -0.03 };
const SPEED = 0.12;
/** Until the arm is in the middle of its way. */
const UNDER_WAY_S = 1;
const JAW_UNDER_WAY_S = 0.15;
const PATIENCE_MS = 2000;

export const OPEN_M = 0.085;
export const CLOSED_M = 0.02;
const CLOSE = { id: JAW, name: "gripper_goto", args: [{ opening_m: CLOSED_M, force_n: 5 }] };
/** A joint that is that fast is under way. */
const MOVES_RAD_S = 0.01;

/** When it closes its gripper: with the arm's motion, or once something has been broken. */
export type Closing = "never" | "beside" | "then";

/**
 * A program as an agent writes one, through the session that all programs have, with the arm on a straight way:
 *
 *     const way = robot.goto_pose({ pose, speed });      // and gripper_goto beside it, where it closes
 *     await sleep(1);                                    // here something breaks
 *     await robot.get_wrist_stereo_view();               // where it looks
 *     await way; await robot.get_robot_state(); await robot.get_gripper_state();
 */
export class FaultProgram {
  readonly conductor: Conductor;
  readonly session: Session;
  readonly X_world_goal: Transform;
  readonly #closing: Closing;
  readonly #pose: Pose;
  readonly #ended: TurnSettlement[] = [];
  /** Operation of each call. */
  readonly #operations = new Map([
    [ARM, "goto_pose"],
    [JAW, "gripper_goto"],
  ]);

  private constructor(conductor: Conductor, session: Session, pose: Pose, closing: Closing) {
    this.conductor = conductor;
    this.session = session;
    this.#pose = pose;
    this.#closing = closing;
    this.X_world_goal = fromPose(pose)!;
  }

  static async open(ctx: HilContext, closing: Closing): Promise<FaultProgram> {
    const conductor = await ctx.conductor();
    const folder = mkdtempSync(join(tmpdir(), "s2r-hil-"));
    ctx.onCleanUp(() => rmSync(folder, { recursive: true, force: true }));
    const session = Session.open({ device: conductor.client, operations: await loadOperations(), folder });
    ctx.onCleanUp(() => session.close());
    if (closing !== "never") {
      const opened = await session.call("gripper_goto", { opening_m: OPEN_M });
      const { status, message } = replyOf("gripper_goto", opened);
      ensure(status === "ok", () => `the gripper does not open: ${status}: ${message}`);
    }
    const { fields } = replyOf("get_robot_state", await session.call("get_robot_state"));
    const from = fields.tcp_pose as Pose;
    const pose = { ...from, x: from.x + WAY_M.x, y: from.y + WAY_M.y, z: from.z + WAY_M.z };
    return new FaultProgram(conductor, session, pose, closing);
  }

  /** Begins the motions and waits until they are under way. */
  async begin(): Promise<void> {
    const way = { id: ARM, name: "goto_pose", args: [{ pose: this.#pose, motion: "linear", speed: SPEED }] };
    await this.#turn({ calls: [way], sleeps: [{ id: WAIT, seconds: UNDER_WAY_S }] }, WAIT);
    await this.#underWay();
    if (this.#closing === "beside")
      await this.#turn({ calls: [CLOSE], sleeps: [{ id: WAIT, seconds: JAW_UNDER_WAY_S }] }, WAIT);
    const early = this.#ended.filter(({ id }) => id !== WAIT).map((one) => replyOf(this.#operationOf(one), one));
    ensure(early.length === 0, () => `${early[0]!.operation} ended before anything broke: ${early[0]!.message}`);
  }

  async #underWay(): Promise<void> {
    const give_up_ms = performance.now() + PATIENCE_MS;
    for (;;) {
      const { arms } = await this.conductor.client.getState();
      if ((arms[0]?.qd_rad_s ?? []).some((speed) => Math.abs(speed) > MOVES_RAD_S)) return;
      ensure(performance.now() < give_up_ms, "the arm is not under way");
      await sleep(5);
    }
  }

  /** A view, asked for while the motion goes on. */
  async look(view: string): Promise<ProgramReply> {
    this.#operations.set(VIEW, view);
    const settled = await this.#turn({ calls: [{ id: VIEW, name: view, args: [{}] }], sleeps: [] }, VIEW);
    return replyOf(view, settled);
  }

  /** Waits for the ends of the motions, the arm's and the gripper's where it closes; whichever ends first is told first. */
  async motions(onEnd: (reply: ProgramReply) => void): Promise<void> {
    const ids = this.#closing === "never" ? [ARM] : [ARM, JAW];
    let calls = this.#closing === "then" ? [CLOSE] : [];
    for (const _ of ids) {
      const settled = await this.#turn({ calls, sleeps: [] }, ...ids);
      calls = [];
      onEnd(replyOf(this.#operationOf(settled), settled));
    }
  }

  async ask(operation: string, request?: unknown): Promise<ProgramReply> {
    return replyOf(operation, await this.session.call(operation, request));
  }

  /** The tool's pose at some joints, by the model that the program was given. */
  X_world_tcp(q_rad: readonly number[]): Transform {
    return this.session.context.arms.get(undefined).kinematics.forward([...q_rad]);
  }

  #operationOf({ id }: TurnSettlement): string {
    return this.#operations.get(id) ?? "";
  }

  /** Lets turns pass until one of these has ended; gives it. */
  async #turn(turn: Parameters<Session["process"]>[0], ...until: number[]): Promise<TurnSettlement> {
    for (let next = turn; ; next = { calls: [], sleeps: [] }) {
      const found = this.#ended.findIndex(({ id }) => until.includes(id));
      if (found >= 0) return this.#ended.splice(found, 1)[0]!;
      const settled = await this.session.process(next);
      ensure(settled.length > 0, "the program waits for something that nobody does any more");
      this.#ended.push(...settled);
    }
  }
}

function replyOf(operation: string, outcome: object): ProgramReply {
  const { value, error } = outcome as { value?: Record<string, unknown>; error?: { code?: string; message: string } };
  if (!value)
    return { operation, status: error?.code ?? "thrown", message: error?.message ?? "it threw nothing", fields: {} };
  const { status, message, ...fields } = value;
  return { operation, status: String(status), message: String(message ?? ""), fields };
}
