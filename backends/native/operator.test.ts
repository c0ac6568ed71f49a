import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Router } from "zeromq";
import { emulatedRig } from "../../src/config/index.js";
import { ArmDouble } from "../../tests/support/rig-doubles.js";
import { operatorRecover, operatorStatus } from "./operator.js";
import { serveOperator } from "./server/serve-operator.js";

const KEY = "ab".repeat(32);
let folder: string;
let arm: ArmDouble;
let socket: Router;
let address: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "s2r-operator-"));
  address = `ipc://${join(folder, "o")}`;
  arm = await ArmDouble.open(emulatedRig().rig, `ipc://${join(folder, "s")}`);
  socket = await serveOperator(address, KEY, { arm, gripper: null });
});
afterEach(async () => {
  socket.close();
  await arm.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("the operator's socket", () => {
  it("tells the fault, and gives the token that clears it once", async () => {
    arm.fault("protective_stop", "it met more than it may");
    const status = await operatorStatus({ address, key: KEY });
    expect(status).toMatchObject({ fault_code: "protective_stop", stop_latched: true, stop_epoch: 1 });
    const waits: number[] = [];
    const { token, count, stop_epoch } = await operatorRecover({ address, key: KEY }, (seconds) => waits.push(seconds));
    expect([count, stop_epoch, waits.length]).toEqual([1, 1, 1]);
    arm.resume(stop_epoch, token);
    expect((await operatorStatus({ address, key: KEY })).fault_code).toBe("");
    expect(() => arm.resume(stop_epoch + 1, token)).toThrow();
  });

  it("tells and does nothing without the key", async () => {
    arm.fault("protective_stop", "it met more than it may");
    for (const key of ["", "ab".repeat(31), "cd".repeat(32)])
      for (const ask of [operatorStatus, operatorRecover])
        await expect(ask({ address, key })).rejects.toMatchObject({ code: "backend_refused" });
  });

  it("does not recover an arm that has no fault", async () => {
    await expect(operatorRecover({ address, key: KEY })).rejects.toThrow(/has a fault to recover from/);
  });
});
