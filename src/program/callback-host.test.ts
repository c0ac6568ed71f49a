import { describe, expect, it } from "vitest";
import { callbackHost } from "./callback-host.js";
import type { GuestReplies, GuestTurn, Settlement } from "./guest-host.js";

function recorder(): { replies: GuestReplies; settled: [Settlement, number | undefined][] } {
  const settled: [Settlement, number | undefined][] = [];
  const replies: GuestReplies = {
    settle: (settlements, time_s) =>
      settled.push(...settlements.map((one): [Settlement, number | undefined] => [one, time_s])),
    resolve: (id, value, time_s) => settled.push([{ id, value }, time_s]),
    reject: (id, error, time_s) => settled.push([{ id, error }, time_s]),
  };
  return { replies, settled };
}

const turn = (changes: Partial<GuestTurn>): GuestTurn => ({
  index: 0,
  calls: [],
  sleeps: [],
  pending: [],
  idle: true,
  ...changes,
});
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("callbackHost", () => {
  it("answers each call with what the callback gives", async () => {
    const { replies, settled } = recorder();
    callbackHost({ onCall: (name, args) => ({ name, args }) }).onTurn(
      turn({ calls: [{ id: 3, name: "look", args: [1] }] }),
      replies,
    );
    await settle();
    expect(settled).toEqual([[{ id: 3, value: { name: "look", args: [1] } }, undefined]]);
  });

  it("turns what the callback throws into a failure with its code", async () => {
    const { replies, settled } = recorder();
    const host = callbackHost({
      onCall: (name) => {
        throw name === "coded" ? Object.assign(new Error("no image yet"), { code: "no_image" }) : new Error("broken");
      },
    });
    host.onTurn(
      turn({
        calls: [
          { id: 1, name: "coded", args: [] },
          { id: 2, name: "plain", args: [] },
        ],
      }),
      replies,
    );
    await settle();
    expect(settled.map(([one]) => one)).toEqual([
      { id: 1, error: { code: "no_image", message: "no image yet" } },
      { id: 2, error: { code: "internal_error", message: "broken" } },
    ]);
  });

  it("moves the clock by each sleep, or to where onSleep says", async () => {
    const plain = recorder();
    const host = callbackHost({ onCall: () => null, startTime_s: 10 });
    host.onTurn(turn({ sleeps: [{ id: 1, seconds: 2 }] }), plain.replies);
    await settle();
    host.onTurn(turn({ sleeps: [{ id: 2, seconds: 3 }] }), plain.replies);
    await settle();
    expect(plain.settled.map(([, time_s]) => time_s)).toEqual([12, 15]);

    const told = recorder();
    callbackHost({ onCall: () => null, onSleep: async () => 99 }).onTurn(
      turn({ sleeps: [{ id: 1, seconds: 2 }] }),
      told.replies,
    );
    await settle();
    expect(told.settled.map(([, time_s]) => time_s)).toEqual([99]);
  });
});
