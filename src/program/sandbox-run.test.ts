import { afterEach, describe, expect, it } from "vitest";
import type { GuestListener, GuestProcess } from "./guest-process.js";
import { resolveQuotas } from "./quotas.js";
import { SandboxRun } from "./sandbox-run.js";

/** A guest whose death a test decides: it is told to die at once, and is dead when the test says so. */
class DyingGuest {
  listener: GuestListener | undefined;
  readonly events: string[] = [];
  readonly sent: unknown[] = [];
  die: () => void = () => {};
  readonly #dead = new Promise<void>((resolve) => {
    this.die = resolve;
  });

  listen(listener: GuestListener | undefined): void {
    this.listener = listener;
  }
  send(message: unknown): void {
    this.sent.push(message);
  }
  kill(): Promise<void> {
    this.events.push("kill");
    return this.#dead.then(() => void this.events.push("dead"));
  }
}

describe("a program that is killed", () => {
  let runs: SandboxRun[] = [];
  afterEach(() => {
    for (const run of runs) run.stop("the test is over");
    runs = [];
  });

  function start(): { guest: DyingGuest; run: SandboxRun; turns: unknown[] } {
    const guest = new DyingGuest();
    const turns: unknown[] = [];
    const run = new SandboxRun(guest as unknown as GuestProcess, {
      javascript: "",
      fileName: "x.ts",
      names: ["go"],
      statusNames: [],
      seed: 1,
      startTime_s: 0,
      quotas: resolveQuotas({}),
      host: { onTurn: (turn) => void turns.push(turn) },
      onKill: (code) => void guest.events.push(`told ${code}`),
    });
    runs.push(run);
    run.done.then(() => guest.events.push("ended")).catch(() => {});
    return { guest, run, turns };
  }

  it("is told of before its process is sent to death, which nobody waits for", async () => {
    const { guest, run } = start();
    guest.listener?.onMessage({ type: "killed", code: "memory_quota", message: "too much", guestCpu_s: 0 });
    expect(guest.events).toEqual(["told memory_quota", "kill"]);
    guest.die();
    expect(await run.done).toMatchObject({ outcome: "killed", code: "memory_quota" });
    expect(guest.events).toEqual(["told memory_quota", "kill", "dead", "ended"]);
  });

  it("is told of when its pipe closes, and reaches nobody from then on; its last words are still heard", async () => {
    const { guest, run, turns } = start();
    const listener = guest.listener;
    listener?.onSilent?.();
    expect(guest.events).toEqual(["told guest_failed"]);
    const call = { id: 1, json: JSON.stringify({ name: "go", args: [] }) };
    listener?.onMessage({
      type: "turn",
      sequence: 0,
      calls: [call],
      sleeps: [],
      guestCpu_s: 0,
      processCpu_s: 0,
    });
    expect(turns).toEqual([]);
    listener?.onExit("out of memory");
    guest.die();
    expect(await run.done).toMatchObject({
      outcome: "killed",
      code: "guest_failed",
      message: expect.stringContaining("out of memory"),
    });
    expect(guest.events.filter((event) => event.startsWith("told"))).toHaveLength(1);
  });

  it("says nothing of a program that ends by itself", async () => {
    const { guest, run } = start();
    guest.listener?.onMessage({ type: "returned", json: "1", guestCpu_s: 0 });
    expect(await run.done).toMatchObject({ outcome: "returned", value: 1 });
    expect(guest.events).toEqual(["ended"]);
  });
});
