import { describe, expect, it } from "vitest";
import type { DeviceReply, DeviceRequest } from "../../contract/generated/device.js";
import { replyCodec, requestCodec } from "../../contract/wire/device-codec.js";
import type { Init } from "../../contract/wire/init.js";
import { firstDifference } from "./compare-requests.js";
import { Playback } from "./playback.js";
import type { RecordedExchange, RecordedStop } from "./recording.js";

const request = (body: Init<DeviceRequest>): DeviceRequest => requestCodec.decode(requestCodec.encode(body));
const reply = (body: Init<DeviceReply>): DeviceReply => replyCodec.decode(replyCodec.encode(body));

function exchange(sequence: number, asked: Init<DeviceRequest>, answered: Init<DeviceReply>): RecordedExchange {
  const decoded = request({ ...asked, session: "s", request_id: `q${sequence}`, sequence, deadline_ms: 500 });
  return { sequence, verb: decoded.body!, request: decoded, reply: reply(answered) };
}

function playback(
  clock: "SIM" | "WALL",
  exchanges: RecordedExchange[],
  stops: RecordedStop[] = [],
  hello_epoch = 0,
): Playback {
  const hello = exchange(0, { hello: {} }, { stop_epoch: hello_epoch, hello: { capabilities: { clock } } });
  return new Playback({ hello, exchanges, stops });
}

const epochOf = (played: ReturnType<Playback["answer"]>): number | string =>
  "diverged" in played ? played.diverged : played.reply.time_s;

const moved = { execute: { stop_epoch: 0, motions: [{ gripper_move: { arm: "left", opening_m: 0.05 } }] } };

describe("Playback on a simulated clock", () => {
  it("answers in the recorded order, whoever asks and however long they would wait", () => {
    const play = playback("SIM", [
      exchange(1, { get_state: {} }, { time_s: 1, state: {} }),
      exchange(2, moved, { time_s: 2, execute: { group: 1 } }),
    ]);
    expect(epochOf(play.answer(request({ session: "other", request_id: "x", deadline_ms: 9, get_state: {} })))).toBe(1);
    expect(epochOf(play.answer(request({ sequence: 77, ...moved })))).toBe(2);
    expect(play.left).toBe(0);
    expect(play.time_s).toBe(2);
  });

  it("says where a request first differs, and says so ever after", () => {
    const play = playback("SIM", [
      exchange(1, moved, { execute: { group: 1 } }),
      exchange(2, { get_state: {} }, { state: {} }),
    ]);
    const other = { execute: { stop_epoch: 0, motions: [{ gripper_move: { arm: "left", opening_m: 0.06 } }] } };
    const told = play.answer(request(other));
    expect(told).toEqual({
      diverged: expect.stringContaining("execute.motions[0].gripper_move.opening_m is 0.06, recorded is 0.05"),
    });
    expect(play.answer(request(moved))).toEqual(told);
  });

  it("refuses another verb, and anything beyond the end", () => {
    const play = playback("SIM", [exchange(4, { get_state: {} }, { state: {} })]);
    expect(play.answer(request({ advance: { until_s: 1 } }))).toEqual({
      diverged: expect.stringContaining("asked is advance, recorded as request 4 is get_state"),
    });
    const short = playback("SIM", []);
    expect(short.answer(request({ get_state: {} }))).toEqual({ diverged: expect.stringContaining("recording ends") });
  });

  it("plays recorded refusals too", () => {
    const error = { code: "ERROR_CAMERA" as const, message: "too early" };
    const play = playback("SIM", [exchange(1, { get_frames: { cameras: ["a"] } }, { error })]);
    const played = play.answer(request({ get_frames: { cameras: ["a"] } }));
    expect("reply" in played && played.reply.error).toEqual(error);
  });

  it("begins the recorded epochs with its stops, and new ones after them", () => {
    const play = playback("SIM", [], [{ stop_epoch: 6, time_s: 1.5 }], 4);
    expect(play.stop()).toEqual({ stop_epoch: 6, time_s: 1.5 });
    expect(play.stoppedBeyondRecording).toBe(false);
    expect(play.stop().stop_epoch).toBe(7);
    expect(play.stoppedBeyondRecording).toBe(true);
  });

  it("takes an epoch that a reply brought before the stop itself for that stop's", () => {
    const play = playback(
      "SIM",
      [exchange(1, { advance: { until_s: 1 } }, { stop_epoch: 1, advance: {} })],
      [{ stop_epoch: 1, time_s: 0.2 }],
    );
    play.answer(request({ advance: { until_s: 1 } }));
    expect(play.stopEpoch).toBe(1);
    expect(play.stop().stop_epoch).toBe(1);
  });
});

describe("Playback on a wall clock", () => {
  const still = { group: 1, active: true, motions: [{ index: 0 }] };
  const ended = { group: 1, active: false, motions: [{ index: 0, end_reason: "END_COMPLETED" as const }] };
  const poll = (sequence: number, answered: Init<DeviceReply>): RecordedExchange => {
    const recorded = exchange(sequence, { get_state: {} }, answered);
    return { ...recorded, request: { ...recorded.request, request_id: `p${sequence}` } };
  };
  const recorded = () => [
    exchange(1, { get_state: {} }, { time_s: 1, state: {} }),
    exchange(2, moved, { time_s: 1.1, execute: { group: 1 } }),
    poll(3, { time_s: 1.2, state: { groups: [still] } }),
    poll(4, { time_s: 1.3, state: { groups: [still] } }),
    exchange(5, { get_state: {} }, { time_s: 1.35, state: { groups: [ended] } }),
    exchange(6, { get_frames: { cameras: ["a"], not_before_s: 1.35 } }, { time_s: 1.4, frames: {} }),
  ];
  const state = () => request({ request_id: "q7", get_state: {} });
  const polled = () => request({ request_id: "p7", get_state: {} });

  it("lets polls be fewer than recorded, and frames be asked for at another time", () => {
    const play = playback("WALL", recorded());
    play.answer(state());
    expect(epochOf(play.answer(request(moved)))).toBe(1.1);
    expect(epochOf(play.answer(polled()))).toBe(1.2);
    expect(epochOf(play.answer(state()))).toBe(1.35);
    expect(epochOf(play.answer(request({ get_frames: { cameras: ["a"], not_before_s: 1.2 } })))).toBe(1.4);
  });

  it("lets polls be more than recorded, and then tells how the motion ended", () => {
    const play = playback("WALL", recorded());
    play.answer(state());
    play.answer(request(moved));
    for (const time_s of [1.2, 1.3, 1.3, 1.3]) expect(epochOf(play.answer(polled()))).toBe(time_s);
    const played = play.answer(polled());
    expect("reply" in played && played.reply.state?.groups).toEqual([expect.objectContaining({ active: false })]);
    expect(epochOf(play.answer(state()))).toBe(1.35);
  });

  it("still refuses what was not recorded, states that a call needs among it", () => {
    const frames = playback("WALL", recorded());
    frames.answer(state());
    expect(frames.answer(request({ get_frames: { cameras: ["b"] } }))).toHaveProperty("diverged");
    const states = playback("WALL", recorded());
    states.answer(state());
    expect(states.answer(state())).toHaveProperty("diverged");
  });
});

describe("firstDifference", () => {
  it("finds the first leaf that differs, a missing one and a longer list too", () => {
    expect(firstDifference({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] })).toBeNull();
    expect(firstDifference({ a: [1, { b: 2 }] }, { a: [1, { b: 3 }] })).toBe("a[1].b is 3, recorded is 2");
    expect(firstDifference({ a: [1] }, { a: [1, 2] })).toBe("a[1] is 2, recorded is nothing");
    expect(firstDifference({ a: Number.NaN }, { a: Number.NaN })).toBeNull();
  });
});
