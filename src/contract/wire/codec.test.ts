import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Skill2RealError } from "../errors.js";
import { eventCodec, replyCodec, requestCodec } from "./device-codec.js";
import { privilegedReplyCodec, privilegedRequestCodec } from "./privileged-codec.js";

const codeOf = (call: () => unknown): string => {
  try {
    call();
  } catch (error) {
    if (error instanceof Skill2RealError) return error.code;
    throw error;
  }
  return "none";
};

describe("encoding", () => {
  it("gives back what was sent, with defaults where nothing was", () => {
    const bytes = requestCodec.encode({
      protocol_major: 1,
      session: "s",
      request_id: "q1",
      sequence: 4,
      deadline_ms: 900,
      execute: { stop_epoch: 2, motions: [{ gripper_move: { arm: "left", opening_m: 0.05 } }] },
    });
    const request = requestCodec.decode(bytes);
    expect(request.body).toBe("execute");
    expect(request.execute?.stop_epoch).toBe(2);
    expect(request.execute?.motions[0]).toEqual({
      kind: "gripper_move",
      gripper_move: { arm: "left", opening_m: 0.05, force_n: 0, speed_m_s: 0 },
    });
    expect(request.protocol_minor).toBe(0);
    expect(request.get_state).toBeUndefined();
  });

  it("keeps an empty body apart from no body", () => {
    expect(requestCodec.decode(requestCodec.encode({ get_state: {} })).body).toBe("get_state");
    expect(requestCodec.decode(requestCodec.encode({})).body).toBeUndefined();
  });

  it("takes what was decoded", () => {
    const event = eventCodec.decode(eventCodec.encode({ number: 3, stopped: { stop_epoch: 1, reason: "why" } }));
    expect(eventCodec.decode(eventCodec.encode(event))).toEqual(event);
  });

  it("refuses an unknown field and suggests the known one", () => {
    expect(() => requestCodec.encode({ get_frames: { camera: ["a"] } } as never)).toThrow(
      /get_frames\.camera is unknown.*"cameras"/,
    );
  });

  it("refuses wrong types, ranges, enum names and two members of one oneof", () => {
    expect(codeOf(() => requestCodec.encode({ sequence: -1 }))).toBe("bad_argument");
    expect(codeOf(() => requestCodec.encode({ sequence: 2 ** 53 }))).toBe("bad_argument");
    expect(codeOf(() => requestCodec.encode({ deadline_ms: 1.5 }))).toBe("bad_argument");
    expect(codeOf(() => requestCodec.encode({ session: 3 } as never))).toBe("bad_argument");
    expect(codeOf(() => requestCodec.encode({ hello: { role: "CONTROLER" } } as never))).toBe("bad_argument");
    expect(codeOf(() => requestCodec.encode({ renew: {}, bye: {} }))).toBe("bad_argument");
    expect(codeOf(() => requestCodec.encode({ get_frames: { cameras: "left" } } as never))).toBe("bad_argument");
  });

  it("lets NaN and infinities through to the receiver, which must refuse them", () => {
    const bytes = requestCodec.encode({ advance: { until_s: Number.NaN } });
    expect(requestCodec.decode(bytes).advance?.until_s).toBeNaN();
  });

  it("round-trips any 53-bit number and any double", () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.double({ noNaN: true }), (count, value) => {
        const reply = replyCodec.decode(replyCodec.encode({ stop_epoch: count, time_s: value }));
        expect(reply.stop_epoch).toBe(count);
        expect(reply.time_s).toBe(value);
      }),
    );
  });
});

describe("decoding", () => {
  it("never throws anything but protocol_mismatch, whatever the bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(["none", "protocol_mismatch"]).toContain(codeOf(() => replyCodec.decode(bytes)));
        expect(["none", "protocol_mismatch"]).toContain(codeOf(() => privilegedReplyCodec.decode(bytes)));
      }),
      { numRuns: 500 },
    );
  });

  it("refuses an enum value that it does not know", () => {
    // Reply.error (6) = { code (1): 99 }
    expect(codeOf(() => replyCodec.decode(Buffer.from([0x32, 0x02, 0x08, 0x63])))).toBe("protocol_mismatch");
  });

  it("refuses a 64-bit number that a double cannot hold", () => {
    // Reply.stop_epoch (5) = 2^64 - 1
    const bytes = Buffer.from([0x28, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]);
    expect(codeOf(() => replyCodec.decode(bytes))).toBe("protocol_mismatch");
  });

  it("shows an unset message as null and a map as a record", () => {
    expect(replyCodec.decode(Buffer.alloc(0)).error).toBeNull();
    const reset = privilegedReplyCodec.decode(
      privilegedReplyCodec.encode({ reset: { instruction: "x", rejected_reasons: { overlap: "2" } } }),
    ).reset;
    expect(reset?.rejected_reasons).toEqual({ overlap: "2" });
    expect(reset?.rejected_draws).toBe(0);
  });

  it("keeps a token's bytes", () => {
    const token = Buffer.from(Array.from({ length: 32 }, (_, index) => index * 7));
    const request = privilegedRequestCodec.decode(privilegedRequestCodec.encode({ token, evaluate: {} }));
    expect(Buffer.compare(Buffer.from(request.token), token)).toBe(0);
  });
});
