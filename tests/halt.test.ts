import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { StagePlayer } from "../src/agents/stage-player.js";
import { openSimulatedSession, type SimulatedSession } from "../src/evaluation/simulated-session.js";
import { ProgramChecker, type RunOptions, Sandbox } from "../src/program/index.js";
import type { Device } from "../src/runtime/device/device.js";
import { Session } from "../src/runtime/session.js";
import { NO_TRACE } from "../src/runtime/trace-sink.js";
import { missing } from "./support/missing.js";

const lacking = missing();

describe.skipIf(lacking !== "")(`Session.halt${lacking ? ` (missing: ${lacking})` : ""}`, () => {
  let robot: SimulatedSession;
  beforeEach(async () => {
    robot = await openSimulatedSession({ seed: 5 });
  });
  afterEach(() => robot.close());

  /** Leaves a motion in flight, as a program that does not await it. */
  async function letGo(session: Session): Promise<void> {
    const { value } = (await session.call("get_robot_state", {})) as { value: { tcp_pose: Record<string, number> } };
    const pose = { ...value.tcp_pose, z: value.tcp_pose.z! - 0.1 };
    const calls = [{ id: 7, name: "goto_pose", args: [{ pose, motion: "linear" }] }];
    const settled = await session.process({ calls, sleeps: [{ id: 8, seconds: 0.2 }] });
    expect(settled).toEqual([{ id: 8, value: null }]);
    expect(session.pending).toEqual([7]);
  }

  it("stops what was left in flight, gives how it ended, and lets the next program move", async () => {
    const { session } = robot;
    await letGo(session);
    expect(await session.halt("the program has ended")).toEqual([
      { id: 7, value: expect.objectContaining({ status: "stopped", stop_reason: "stopped" }) },
    ]);
    expect(session.pending).toEqual([]);
    expect(session.stopReason).toBeNull();
    expect(await session.call("goto_home", {})).toMatchObject({ value: { status: "ok" } });
  });

  it("latches no stop where nothing moves, and ends sleeps", async () => {
    const { session } = robot;
    const slept = session.process({
      calls: [],
      sleeps: [
        { id: 1, seconds: 0.1 },
        { id: 2, seconds: 60 },
      ],
    });
    expect(await slept).toEqual([{ id: 1, value: null }]);
    const epoch = session.device.stopEpoch;
    expect(await session.halt("the program has ended")).toEqual([{ id: 2, value: null }]);
    expect(session.time_s).toBeLessThan(1);
    expect(session.device.stopEpoch).toBe(epoch);
  });

  it("does not clear a stop that somebody else latched meanwhile", async () => {
    const real = robot.session.device;
    // A person's stop arrives between the end of the motion and the release.
    const device = new Proxy(real, {
      get(target, key) {
        if (key === "resume")
          return async (options: Parameters<Device["resume"]>[0]) => {
            await target.stop("a person said stop");
            return target.resume(options);
          };
        const value = Reflect.get(target, key, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const session = Session.open({ device, operations: robot.skills.operations });
    await letGo(session);
    await expect(session.halt("the program has ended")).rejects.toMatchObject({
      code: "backend_refused",
      details: { device_code: "ERROR_STOP_EPOCH" },
    });
    expect(await real.getState()).toMatchObject({ stop_latched: true, stop_reason: "a person said stop" });
    expect(session.stopReason).not.toBeNull();
    expect(await session.call("goto_home", {})).toMatchObject({ value: { status: "stopped" } });
  });

  /** The session's device, but whatever `changes` holds is done instead. */
  function changed(changes: (real: Device) => Partial<Device>): Session {
    const real = robot.session.device;
    const own = changes(real);
    const device = new Proxy(real, {
      get(target, key) {
        if (key in own) return Reflect.get(own, key);
        const value = Reflect.get(target, key, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    return Session.open({ device, operations: robot.skills.operations });
  }

  it("stops a motion that the backend is just being asked for", async () => {
    let asked: () => void = () => {};
    const asking = new Promise<void>((resolve) => {
      asked = resolve;
    });
    let stopped: () => void = () => {};
    const stopping = new Promise<void>((resolve) => {
      stopped = resolve;
    });
    const session = changed((real) => ({
      // The request is under way until the stop has overtaken it.
      execute: async (options) => {
        asked();
        await stopping;
        return real.execute(options);
      },
      stop: async (reason) => {
        const latched = await real.stop(reason);
        stopped();
        return latched;
      },
    }));
    const going = session.call("goto_home", {});
    await asking;
    await session.halt("the program has ended");
    const { arms } = await session.refresh();
    expect(arms.map(({ mode }) => mode)).toEqual(["IDLE"]);
    expect(await going).toMatchObject({ value: { status: "stopped" } });
  });

  it("stops the arm of a program that is killed without waiting for the guest's death", async () => {
    const sandbox = await Sandbox.create({ quotas: { turnWall_s: 0.3, turnCpu_s: 0.2 } });
    const checker = await ProgramChecker.create({
      declarations: robot.skills.declarations,
      names: robot.skills.functionNames,
    });
    try {
      const events: string[] = [];
      let stopped: () => void = () => {};
      const stopping = new Promise<void>((resolve) => {
        stopped = resolve;
      });
      const session = changed((real) => ({
        stop: (reason) => {
          events.push("stop");
          stopped();
          return real.stop(reason);
        },
      }));
      const player = new StagePlayer({
        session,
        checker,
        // A death that lasts until the stop has left: who waits for it first waits for ever.
        sandbox: {
          run: async (options: RunOptions) => {
            const result = await sandbox.run(options);
            await stopping;
            events.push("guest gone");
            return result;
          },
        } as unknown as Sandbox,
        names: robot.skills.functionNames,
        statusNames: robot.skills.statusNames,
        randomSeed: 1,
        trace: NO_TRACE,
      });
      const source = `
        const state = await robot.get_robot_state({});
        if (state.status !== "ok") return null;
        const { tcp_pose } = state;
        void robot.goto_pose({ pose: { ...tcp_pose, z: tcp_pose.z - 0.1 }, motion: "linear" });
        await sleep(0.2);
        for (;;) {}
      `;
      const stage = await player.play(1, source, "endless.ts", {});
      expect(stage.end).toMatchObject({ kind: "killed", code: "cpu_quota" });
      expect(events).toEqual(["stop", "guest gone"]);
      expect(stage.calls.at(-1)).toMatchObject({ operation: "goto_pose", status: "stopped" });
      expect(session.stopReason).toBeNull();
    } finally {
      await checker.close();
      await sandbox.close();
    }
  });
});
