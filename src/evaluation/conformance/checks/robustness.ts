import { randomBytes } from "node:crypto";
import { MAX_PART_BYTES } from "../../../contract/wire/device-codec.js";
import { type CheckGroup, ensure } from "../check.js";
import type { ConformanceContext } from "../context.js";
import { bodyOf, ensureRefused } from "../peer.js";

/** Demands that a new session is served. */
async function stillServes(ctx: ConformanceContext): Promise<void> {
  const session = await ctx.session("OBSERVER");
  await ctx.state(session);
}

export const robustness: CheckGroup = {
  group: "robustness",
  checks: [
    {
      name: "malformed_bytes_are_refused",
      reason: "a broken client must be told, and must break nobody else",
      run: async (ctx) => {
        const session = await ctx.session("OBSERVER");
        for (const bytes of [
          Buffer.from([0xff]),
          Buffer.from("{}"),
          Buffer.from("GET / HTTP/1.1\r\n\r\n"),
          Buffer.alloc(3, 0xff),
        ]) {
          const { reply } = await session.exchange(bytes);
          ensureRefused(reply, ["ERROR_MALFORMED", "ERROR_PROTOCOL_VERSION"]);
          ensure(reply.request_id === "", `the refusal names the request "${reply.request_id}"`);
        }
        await session.must("state", { get_state: {} });
      },
    },
    {
      name: "empty_message_is_refused",
      reason: "nothing is also a message",
      run: async (ctx) => {
        const session = await ctx.session("OBSERVER");
        const { reply } = await session.exchange(Buffer.alloc(0));
        ensureRefused(reply, ["ERROR_MALFORMED", "ERROR_PROTOCOL_VERSION"]);
        await session.must("state", { get_state: {} });
      },
    },
    {
      name: "random_bytes_are_refused",
      reason: "whatever comes, the server stays",
      run: async (ctx) => {
        const session = await ctx.session("OBSERVER");
        for (let count = 1; count <= 200; count += 1) {
          const { reply } = await session.exchange(randomBytes(count));
          ensure(reply.error, `${count} random bytes were accepted`);
        }
        await session.must("state", { get_state: {} });
      },
    },
    {
      name: "cut_off_requests_are_refused",
      reason: "half a motion is another motion",
      run: async (ctx) => {
        const session = await ctx.session("OBSERVER");
        const whole = session.encode({ get_frames: { cameras: ["left"], not_before_s: 1.5 } });
        for (let length = 1; length < whole.length; length += 1) {
          const { reply } = await session.exchange(whole.subarray(0, length));
          ensure(reply.error, `the first ${length} of ${whole.length} bytes were accepted`);
        }
        await session.must("state", { get_state: {} });
      },
    },
    {
      name: "oversized_part_is_refused",
      reason: "one client must not fill the memory of the process that moves the arm",
      run: async (ctx) => {
        const session = await ctx.session("OBSERVER");
        const { reply } = await session.exchange(Buffer.alloc(MAX_PART_BYTES + 1));
        ensureRefused(reply, "ERROR_TOO_LARGE");
        await session.must("state", { get_state: {} });
      },
    },
    {
      name: "huge_part_does_not_stop_the_server",
      reason: "above some size even a refusal is too much, but others must not notice",
      run: async (ctx) => {
        ctx.peer().send(Buffer.alloc(64 << 20));
        await stillServes(ctx);
      },
    },
    {
      name: "request_of_several_parts_is_refused",
      reason: "a request is one part; what more there is has no meaning",
      run: async (ctx) => {
        const session = await ctx.session("OBSERVER");
        const request = session.encode({ get_state: {} });
        session.peer.send(request, Buffer.from("more"));
        ensureRefused((await session.answer(request)).reply, "ERROR_MALFORMED");
        await session.must("state", { get_state: {} });
      },
    },
    {
      name: "request_without_a_body_is_refused",
      reason: "a verb that this version does not know arrives as no body at all",
      run: async (ctx) => {
        const session = await ctx.session("OBSERVER");
        await session.refused("ERROR_MALFORMED", {});
        await session.must("state", { get_state: {} });
      },
    },
    {
      name: "unknown_verb_of_a_later_version_is_refused",
      reason: "a later client must be told that this backend cannot",
      run: async (ctx) => {
        const session = await ctx.session("OBSERVER");
        // Field 99, a message of no bytes: what a later minor version might add to the oneof.
        const later = Buffer.concat([session.encode({}), Buffer.from([0x9a, 0x06, 0x00])]);
        ensureRefused((await session.exchange(later)).reply, "ERROR_MALFORMED");
        await session.must("state", { get_state: {} });
      },
    },
    {
      name: "request_id_is_1_to_64_characters",
      reason: "ids are kept, so they have a size",
      run: async (ctx) => {
        const session = await ctx.session("OBSERVER");
        for (const request_id of ["", "x".repeat(65), "x".repeat(100_000)]) {
          const { reply } = await session.exchange(session.encode({ get_state: {} }, { request_id }));
          ensureRefused(reply, ["ERROR_BAD_ARGUMENT", "ERROR_MALFORMED"]);
        }
        await session.must("state", { get_state: {} }, { request_id: "é".repeat(64) });
      },
    },
    {
      name: "many_sessions_are_served",
      reason: "watchers come and go without saying goodbye",
      run: async (ctx) => {
        const controller = await ctx.controller();
        for (let count = 0; count < 300; count += 1) {
          const stranger = ctx.stranger();
          await stranger.hello("OBSERVER", 0);
          stranger.ended = true;
          stranger.peer.close();
        }
        await controller.must("renew", { renew: {} });
        await stillServes(ctx);
      },
    },
    {
      name: "client_that_does_not_read_harms_nobody",
      reason: "a stopped process with an open connection must not block the arm's server",
      needs: ["cameras"],
      run: async (ctx) => {
        const camera = ctx.capabilities.cameras[0]!.name;
        const controller = await ctx.controller();
        const silent = await ctx.session("OBSERVER");
        for (let count = 0; count < 60; count += 1) {
          silent.peer.send(silent.encode({ get_frames: { cameras: [camera] } }));
          silent.sequence += 1;
        }
        const begun_ms = performance.now();
        await ctx.state(controller);
        ensure(performance.now() - begun_ms < 5000, "another client waited more than 5 s");
        silent.ended = true;
        silent.peer.close();
        await stillServes(ctx);
      },
    },
    {
      name: "bursts_of_requests_are_answered",
      reason: "a burst is late, not lost",
      run: async (ctx) => {
        const session = await ctx.session("OBSERVER");
        for (let burst = 0; burst < 5; burst += 1) {
          const requests = Array.from({ length: 200 }, () => {
            const request = session.encode({ get_state: {} }, { deadline_ms: 60_000 });
            session.sequence += 1;
            return request;
          });
          for (const request of requests) session.peer.send(request);
          for (const request of requests) bodyOf((await session.answer(request)).reply, "state");
        }
      },
    },
  ],
};
