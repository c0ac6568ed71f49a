import { describe, expect, it } from "vitest";
import { RequestQueue } from "./request-queue.js";

function makeQueue() {
  const sent: string[] = [];
  const silent: string[] = [];
  const queue = new RequestQueue<string>({
    send: (bytes) => sent.push(Buffer.from(bytes).toString()),
    onSilent: (verb) => silent.push(verb),
  });
  const add = (id: string, extra: { limitMs?: number; deadlineMs?: number; promisedMs?: number } = {}) => {
    const answer = queue.add({ id, verb: `verb ${id}`, bytes: Buffer.from(id), limitMs: 900, ...extra });
    answer.catch(() => {});
    return answer;
  };
  const tick = (count: number, elapsed_ms = 50) => {
    for (let i = 0; i < count; i += 1) queue.tick(elapsed_ms);
  };
  return { queue, sent, silent, add, tick };
}

describe("RequestQueue", () => {
  it("sends the same bytes once more after half of the limit, and reports silence after all of it", () => {
    const { sent, silent, add, tick } = makeQueue();
    add("a");
    tick(8);
    expect(sent).toEqual(["a"]);
    tick(1);
    expect(sent).toEqual(["a", "a"]);
    tick(8);
    expect(sent).toEqual(["a", "a"]);
    expect(silent).toEqual([]);
    tick(1);
    expect(silent).toEqual(["verb a"]);
  });

  it("counts silence from the last answer, whichever request it was to", async () => {
    const { queue, silent, add, tick } = makeQueue();
    const first = add("a");
    add("b");
    tick(17);
    expect(queue.settle("a", "first")).toBe(true);
    expect(await first).toBe("first");
    tick(17);
    expect(silent).toEqual([]);
    tick(1);
    expect(silent).toEqual(["verb b"]);
  });

  it("does not count the time in which nothing was asked", () => {
    const { silent, add, tick } = makeQueue();
    tick(100);
    add("a");
    tick(17);
    expect(silent).toEqual([]);
  });

  it("waits for a request that the peer put off, as long as it promised, while it answers others", async () => {
    const { queue, silent, add, tick } = makeQueue();
    const put_off = add("frames", { promisedMs: 5000 });
    for (let count = 0; count < 20; count += 1) {
      add(`renew ${count}`);
      tick(5);
      queue.settle(`renew ${count}`, "alive");
    }
    expect(silent).toEqual([]);
    queue.settle("frames", "picture");
    expect(await put_off).toBe("picture");
  });

  it("gives up a request that is never answered while others are", async () => {
    const { queue, silent, add, tick } = makeQueue();
    const forgotten = add("a");
    for (let count = 0; count < 8; count += 1) {
      add(`renew ${count}`);
      tick(5);
      queue.settle(`renew ${count}`, "alive");
    }
    await expect(forgotten).rejects.toMatchObject({ code: "deadline_exceeded" });
    expect(silent).toEqual([]);
    expect(queue.size).toBe(0);
  });

  it("does not take its own absence for the peer's", () => {
    const { silent, sent, add, tick } = makeQueue();
    add("a");
    tick(1, 60_000);
    expect(silent).toEqual([]);
    expect(sent).toEqual(["a"]);
  });

  it("lets a caller give up before the peer counts as lost", async () => {
    const { queue, silent, add, tick } = makeQueue();
    const answer = add("a", { deadlineMs: 200 });
    tick(4);
    await expect(answer).rejects.toMatchObject({ code: "deadline_exceeded" });
    expect(silent).toEqual([]);
    tick(4);
    expect(queue.settle("a", "late")).toBe(true);
    tick(40);
    expect(silent).toEqual([]);
  });

  it("drops the second answer to a request that was sent twice", async () => {
    const { queue, add, tick } = makeQueue();
    const answer = add("a");
    tick(10);
    expect(queue.settle("a", "one")).toBe(true);
    expect(queue.settle("a", "two")).toBe(false);
    expect(await answer).toBe("one");
  });

  it("rejects what waits and what comes after a failure", async () => {
    const { queue, add, sent } = makeQueue();
    const before = add("a");
    queue.fail(new Error("gone"));
    await expect(before).rejects.toThrow("gone");
    await expect(add("b")).rejects.toThrow("gone");
    expect(sent).toEqual(["a"]);
  });
});
