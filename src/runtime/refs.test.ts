import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OperationFailure } from "./operation.js";
import { newRefKey, RefStore } from "./refs.js";

const failureOf = (call: () => unknown): OperationFailure => {
  try {
    call();
  } catch (error) {
    if (error instanceof OperationFailure) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
};

describe("RefStore", () => {
  it("gives refs of kind, ordinal and tag, and what they stand for", () => {
    const refs = new RefStore("key");
    const value = { x: 1 };
    const first = refs.add("obs", value);
    expect(first).toMatch(/^obs_1_[a-km-np-z2-9]{4}$/);
    expect(refs.add("obs", {})).toMatch(/^obs_2_/);
    expect(refs.add("mask", {})).toMatch(/^mask_1_/);
    expect(refs.get("obs", first, "observation_ref")).toBe(value);
  });

  it("repeats under the same key and not under another", () => {
    const [a, b, c] = [new RefStore("k"), new RefStore("k"), new RefStore(newRefKey())];
    const all = (store: RefStore) => Array.from({ length: 8 }, () => store.add("depth", {})).join();
    const first = all(a);
    expect(all(b)).toBe(first);
    expect(all(c)).not.toBe(first);
  });

  it("resolves nothing that it did not give out, also where kind and ordinal exist", () => {
    const refs = new RefStore("key");
    const real = refs.add("obs", {});
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), (text) => {
        fc.pre(text !== real);
        expect(failureOf(() => refs.get("obs", text, "observation_ref")).status).toBe("unknown_ref");
      }),
    );
    const tampered = `${real.slice(0, -1)}${real.endsWith("a") ? "b" : "a"}`;
    expect(failureOf(() => refs.get("obs", tampered, "observation_ref")).message).toMatch(/never make them up/);
  });

  it("says when a ref is of another kind, and shows no more of a long one than helps", () => {
    const refs = new RefStore("key");
    const mask = refs.add("mask", {});
    expect(failureOf(() => refs.get("depth", mask, "depth_ref")).message).toBe(
      `depth_ref: "${mask}" is a mask ref; depth_ref needs a depth ref`,
    );
    expect(failureOf(() => refs.get("obs", "x".repeat(10_000), "observation_ref")).message.length).toBeLessThan(200);
  });

  it("lets all refs expire with the session", () => {
    const refs = new RefStore("key");
    const ref = refs.add("obs", {});
    refs.close();
    expect(failureOf(() => refs.get("obs", ref, "observation_ref")).status).toBe("expired_ref");
  });
});
