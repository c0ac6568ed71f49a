/** Functions of skills that move: run by the session, one motion at a time, and stopped as everything else is. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openSimulatedSession, type SimulatedSession } from "../src/evaluation/simulated-session.js";
import type { OperationTable, SkillContext, SkillFunction } from "../src/runtime/operation.js";
import { Session } from "../src/runtime/session.js";
import { missing } from "./support/missing.js";

const lacking = missing();
type Run = (context: SkillContext) => Promise<Record<string, unknown>>;
const made = (moves: boolean, run: Run): SkillFunction => ({
  kind: "function",
  moves,
  check: (request) => request,
  conform: (result) => result,
  run,
});

describe.skipIf(lacking !== "")(`a function that moves${lacking ? ` (missing: ${lacking})` : ""}`, () => {
  let robot: SimulatedSession;
  let session: Session;
  let functions: OperationTable;
  beforeAll(async () => {
    robot = await openSimulatedSession({ seed: 5 });
  });
  afterAll(() => robot.close());
  beforeEach(() => {
    functions = {};
    // One session after the other on the same device: the table is read at each call.
    session = Session.open({
      device: robot.session.device,
      operations: new Proxy(robot.skills.operations, {
        get: (table, name) => functions[String(name)] ?? Reflect.get(table, name),
      }),
    });
  });
  afterEach(async () => {
    await session.resume().catch(() => {});
    await session.call("goto_home", {});
  });

  const lowered = async (context: SkillContext, by_m: number, speed = 1) => {
    const state = await context.invoke("get_robot_state", {});
    if (state.status !== "ok") return context.fail(state.status, state.message);
    const pose = { ...state.tcp_pose, z: state.tcp_pose.z - by_m };
    return context.invoke("goto_pose", { pose, motion: "linear", speed });
  };
  const value = async (name: string) => ((await session.call(name, {})) as { value: Record<string, unknown> }).value;

  it("runs its operations in order and gives what they gave", async () => {
    functions.dip = made(true, async (context) => {
      const down = await lowered(context, 0.05);
      const up = await lowered(context, -0.05);
      return { steps: [down, up] };
    });
    const { status, steps } = await value("dip");
    expect(status).toBe("ok");
    expect(steps).toEqual([
      expect.objectContaining({ status: "ok", stop_reason: "completed" }),
      expect.objectContaining({ status: "ok", stop_reason: "completed" }),
    ]);
    expect(session.pending).toEqual([]);
  });

  it("has its motions one after the other, also where it begins two at once", async () => {
    functions.both = made(true, async (context) => {
      const [a, b] = await Promise.all([lowered(context, 0.04), lowered(context, -0.04)]);
      return { a, b };
    });
    expect(await value("both")).toMatchObject({ status: "ok", a: { status: "ok" }, b: { status: "ok" } });
  });

  it("is refused while something moves, in the same turn as another motion, and where it is not declared to move", async () => {
    functions.dip = made(true, async (context) => ({ down: await lowered(context, 0.05) }));
    functions.look = made(false, async (context) => ({ down: await lowered(context, 0.05) }));
    const state = (await value("get_robot_state")) as { tcp_pose: { z: number } };
    const pose = { ...state.tcp_pose, z: state.tcp_pose.z - 0.08 };
    const settled = await session.process({
      calls: [
        { id: 1, name: "dip", args: [{}] },
        { id: 2, name: "goto_pose", args: [{ pose, motion: "linear" }] },
      ],
      sleeps: [],
    });
    expect(settled).toEqual([{ id: 1, value: expect.objectContaining({ status: "busy" }) }]);
    expect(await session.process({ calls: [{ id: 3, name: "dip", args: [{}] }], sleeps: [] })).toEqual([
      { id: 3, value: expect.objectContaining({ status: "busy" }) },
    ]);
    expect(await session.process({ calls: [], sleeps: [] })).toEqual([
      { id: 2, value: expect.objectContaining({ status: "ok" }) },
    ]);
    expect(await value("look")).toMatchObject({ status: "unsupported" });
  });

  it("is stopped in the middle of a motion, and goes on with nothing afterwards, whatever it catches", async () => {
    const tried: string[] = [];
    let stopping: Promise<unknown> = Promise.resolve();
    functions.stubborn = made(true, async (context) => {
      const first = lowered(context, 0.15, 0.05);
      setTimeout(() => {
        stopping = session.stop("a person said stop");
      }, 0);
      await first.catch((error: Error) => tried.push(error.message));
      for (let i = 0; i < 3; i++) await lowered(context, -0.05).catch((error: Error) => tried.push(error.message));
      return { done: true };
    });
    const before = (await value("get_robot_state")) as { tcp_pose: { z: number } };
    await session.call("stubborn", {});
    expect(tried).toHaveLength(4);
    for (const message of tried) expect(message).toMatch(/a stop is latched/);
    await stopping;
    await session.resume();
    const after = (await value("get_robot_state")) as { tcp_pose: { z: number } };
    expect(after.tcp_pose.z).toBeGreaterThan(before.tcp_pose.z - 0.14);
  });

  it("ends with a failure where it leaves a motion behind, which then has ended", async () => {
    functions.careless = made(true, async (context) => {
      void lowered(context, 0.05).catch(() => {});
      // Lets it begin; the backend's first answer takes longer.
      await new Promise((resolve) => setImmediate(resolve));
      return {};
    });
    expect(await value("careless")).toMatchObject({ status: "internal_error" });
    expect(session.pending).toEqual([]);
    expect(await value("goto_home")).toMatchObject({ status: "ok" });
  });

  it("pays for its way from the program's budget", async () => {
    session.context.path.begin(0.06);
    functions.dip = made(true, async (context) => ({
      a: await lowered(context, 0.05),
      b: await lowered(context, -0.05),
    }));
    expect(await value("dip")).toMatchObject({ a: { status: "ok" }, b: { status: "budget_exhausted" } });
    session.context.path.begin(10);
  });

  it("may not call another function, nor anything once it has ended", async () => {
    let kept: SkillContext | null = null;
    functions.outer = made(true, async (context) => {
      kept = context;
      return { inner: await context.invoke("outer" as "goto_home", {}) };
    });
    expect(await value("outer")).toMatchObject({ inner: { status: "unsupported" } });
    await expect(kept!.invoke("goto_home", {})).rejects.toThrow(/has ended/);
  });
});
