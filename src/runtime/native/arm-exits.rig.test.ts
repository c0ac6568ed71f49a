import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Dealer } from "zeromq";
import { compiledModule } from "../../contract/package-root.js";
import { type ArrivedSetpoint, TestController } from "./arm-test-rig.js";

/** Acceleration limit of the gate in these tests, and slack for setpoints that share an arrival. */
const LARGEST_STEP_CHANGE_RAD = 10 * 0.002 ** 2 * 1.5;

type Child = {
  process: ChildProcess;
  said(key: string): Promise<Record<string, unknown>>;
  ended: Promise<number | NodeJS.Signals>;
};

function startChild(host: string, way: string, more: object, node: string[] = []): Child {
  const child = spawn(
    process.execPath,
    [...node, compiledModule("src/runtime/native/arm-test-child.ts"), host, way, JSON.stringify(more)],
    { stdio: ["pipe", "pipe", "pipe"] },
  );
  const messages: Record<string, unknown>[] = [];
  let wake = () => {};
  createInterface({ input: child.stdout }).on("line", (line) => {
    messages.push(JSON.parse(line) as Record<string, unknown>);
    wake();
  });
  let stderr = "";
  child.stderr.on("data", (bytes: Buffer) => {
    stderr += bytes.toString();
  });
  const ended = new Promise<number | NodeJS.Signals>((resolve) =>
    child.once("exit", (code, signal) => {
      resolve(code ?? signal ?? 0);
      wake();
    }),
  );
  return {
    process: child,
    ended,
    async said(key) {
      for (;;) {
        const found = messages.find((message) => key in message);
        if (found) return found;
        if (child.exitCode !== null || child.signalCode !== null) throw new Error(`the child ended: ${stderr}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

/**
 * Largest change of joint 1's step from one servo setpoint to the next [rad]. A setpoint that a busy machine handed on too
 * late is replaced by the next one: a step may span up to three periods, and is compared by its share of one.
 */
function roughest(setpoints: readonly ArrivedSetpoint[]): number {
  const servo = setpoints.filter((setpoint) => setpoint.command === 11).map((setpoint) => setpoint.q_rad[0] ?? 0);
  const step = (i: number) => (servo[i] ?? 0) - (servo[i - 1] ?? 0);
  const spans = [1, 2, 3];
  let most = 0;
  for (let i = 2; i < servo.length; i++) {
    const changes = spans.flatMap((now) =>
      spans.map((before) => Math.abs(step(i) / now - step(i - 1) / before) / Math.max(now, before)),
    );
    most = Math.max(most, Math.min(...changes));
  }
  return most;
}

/** Speed of joint 1 at the end of the servo setpoints [rad/s], and the fastest before. */
function speeds(setpoints: readonly ArrivedSetpoint[]): { last: number; most: number } {
  const servo = setpoints.filter((setpoint) => setpoint.command === 11).map((setpoint) => setpoint.q_rad[0] ?? 0);
  const at = (i: number) => Math.abs((servo[i] ?? 0) - (servo[i - 1] ?? 0)) / 0.002;
  const most = Math.max(...servo.map((_, i) => (i > 0 ? at(i) : 0)));
  return { last: at(servo.length - 1), most };
}

describe("ways out of a process that moves an arm", () => {
  let controller: TestController;
  let folder: string;
  let child: Child | undefined;
  beforeEach(async () => {
    controller = await TestController.start();
    folder = mkdtempSync(join(tmpdir(), "s2r-exit-"));
  });
  afterEach(async () => {
    child?.process.kill("SIGKILL");
    child = undefined;
    await controller.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const setpoints = () => controller.setpoints(join(folder, "setpoints.csv"));

  async function endsAtRest(way: string, more: object = {}, node: string[] = []): Promise<number | NodeJS.Signals> {
    child = startChild(controller.host, way, more, node);
    await child.said("moving");
    const code = await child.ended;
    const arrived = await setpoints();
    const { last, most } = speeds(arrived);
    expect(most, "it moved").toBeGreaterThan(0.5);
    expect(last, "it was brought to rest by setpoints").toBeLessThan(0.01);
    expect(roughest(arrived), "within its limits").toBeLessThan(LARGEST_STEP_CHANGE_RAD);
    return code;
  }

  it("process.exit", async () => {
    expect(await endsAtRest("exit")).toBe(3);
  });

  it("an exception that nobody catches", async () => {
    expect(await endsAtRest("throw")).toBe(1);
  });

  it("nothing left to do", async () => {
    expect(await endsAtRest("natural")).toBe(0);
  });

  it("a worker that is terminated", async () => {
    expect(await endsAtRest("terminate")).toBe(0);
  });

  it("the driver is collected", async () => {
    expect(await endsAtRest("collect", {}, ["--expose-gc"])).toBe(0);
  });

  it("the lease lapses while JavaScript is in an endless loop", async () => {
    expect(await endsAtRest("spin", { exit_on_lease_lapse: true })).toBe(75);
  });

  it("the parent dies while JavaScript is in an endless loop", async () => {
    const parent = spawn("sleep", ["1000"]);
    child = startChild(controller.host, "spin", { parent_pid: parent.pid, exit_on_parent_gone: true });
    await child.said("spinning");
    parent.kill("SIGKILL");
    expect(await child.ended).toBe(76);
    const arrived = await setpoints();
    expect(speeds(arrived).last).toBeLessThan(0.01);
    expect(roughest(arrived)).toBeLessThan(LARGEST_STEP_CHANGE_RAD);
  });

  it("a stop request is served while JavaScript is in an endless loop", async () => {
    const address = `ipc://${join(folder, "stop")}`;
    child = startChild(controller.host, "spin", { stop_address: address });
    await child.said("spinning");
    const dealer = new Dealer({ linger: 0, receiveTimeout: 5000 });
    dealer.connect(address);
    const asked = Number(process.hrtime.bigint()) * 1e-9;
    await dealer.send(Buffer.from("these bytes are no request"));
    const [reply] = await dealer.receive();
    expect(reply?.[0], "field 1, the epoch").toBe(0x08);
    expect(reply?.[1]).toBe(1);
    dealer.close();
    await sleep(1000);
    const dumped = await controller.ask({ dump: "setpoints", after_s: asked });
    expect(Number(dumped.first_decelerating_s) - asked).toBeLessThan(0.5);
    const arrived = await setpoints();
    expect(speeds(arrived).last).toBeLessThan(0.001);
    expect(roughest(arrived)).toBeLessThan(LARGEST_STEP_CHANGE_RAD);
  });

  it("SIGKILL: the controller's watchdog stops the arm", async () => {
    child = startChild(controller.host, "wait", {});
    await child.said("moving");
    await sleep(1500);
    child.process.kill("SIGKILL");
    await child.ended;
    await sleep(1000);
    const first = await controller.ask({ dump: "setpoints" });
    await sleep(300);
    expect((await controller.ask({ dump: "setpoints" })).count, "nothing comes any more").toBe(first.count);
    // A new driver finds the controller free: the program of the old one ended.
    child = startChild(controller.host, "exit", {});
    await child.said("moving");
    expect(await child.ended).toBe(3);
  });
});
