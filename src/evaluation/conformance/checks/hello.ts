import { type CheckGroup, ensure } from "../check.js";
import { bodyOf, ensureRefused } from "../peer.js";

export const hello: CheckGroup = {
  group: "hello",
  checks: [
    {
      name: "hello_names_a_session",
      reason: "every later request carries the session, and replies to others must not be mistaken for one's own",
      run: async (ctx) => {
        const first = await ctx.session("OBSERVER");
        const second = await ctx.session("OBSERVER");
        ensure(first.session !== "", "the session of the first Hello is empty");
        ensure(first.session !== second.session, `two Hellos gave the same session ${first.session}`);
      },
    },
    {
      name: "hello_repeated_opens_one_session",
      reason: "a Hello whose reply was late is sent again, and must not leave a second session behind",
      run: async (ctx) => {
        const stranger = ctx.stranger();
        const bytes = stranger.encode({ hello: { role: "OBSERVER", client: "conformance" } });
        const once = await stranger.exchange(bytes);
        const again = await stranger.exchange(bytes);
        ensure(Buffer.compare(once.wire[0]!, again.wire[0]!) === 0, "the repeated Hello got another reply");
        stranger.session = bodyOf(once.reply, "hello").session;
        stranger.sequence = 1;
      },
    },
    {
      name: "hello_answers_any_minor_version",
      reason: "a newer client must be able to speak to an older backend of the same major version",
      run: async (ctx) => {
        const stranger = ctx.stranger();
        const { reply } = await stranger.ask({ hello: { role: "OBSERVER" } }, { protocol_minor: 4_000_000_000 });
        ensure(reply.protocol_major === 1, `the reply's major version is ${reply.protocol_major}`);
        stranger.session = bodyOf(reply, "hello").session;
      },
    },
    {
      name: "another_major_version_is_refused",
      reason: "a peer that means something else by the same bytes must be told so before it moves anything",
      run: async (ctx) => {
        for (const protocol_major of [0, 2, 4_294_967_295])
          await ctx.stranger().refused("ERROR_PROTOCOL_VERSION", { hello: { role: "OBSERVER" } }, { protocol_major });
      },
    },
    {
      name: "hello_without_a_role_is_refused",
      reason: "rights follow from the role, so a session without one would have undefined rights",
      run: async (ctx) => {
        await ctx.stranger().refused("ERROR_BAD_ARGUMENT", { hello: { client: "conformance" } });
      },
    },
    {
      name: "hello_with_a_sequence_is_refused",
      reason: "a session's numbering starts at Hello, or gaps could not be seen",
      run: async (ctx) => {
        await ctx.stranger().refused("ERROR_SEQUENCE", { hello: { role: "OBSERVER" } }, { sequence: 3 });
      },
    },
    {
      name: "controller_names_a_lease_in_range",
      reason: "a lease of zero would stop the arm at once, and an endless one would never stop it",
      run: async (ctx) => {
        for (const lease_ms of [0, 99, 60_001, 4_000_000_000])
          await ctx.stranger().refused("ERROR_BAD_ARGUMENT", { hello: { role: "CONTROLLER", lease_ms } });
      },
    },
    {
      name: "hello_grants_the_lease",
      reason: "a controller times its renewals by the lease that it was granted",
      run: async (ctx) => {
        const stranger = ctx.stranger();
        const granted = await stranger.hello("CONTROLLER", 2000);
        ensure(
          granted.lease_ms >= 100 && granted.lease_ms <= 2000,
          `a lease of 2000 ms was granted as ${granted.lease_ms}`,
        );
      },
    },
    {
      name: "second_controller_is_refused",
      reason: "two programs that move one arm are a crash",
      run: async (ctx) => {
        await ctx.session("CONTROLLER");
        const second = ctx.stranger();
        const { reply } = await second.ask({ hello: { role: "CONTROLLER", lease_ms: 1000 } });
        ensureRefused(reply, "ERROR_CONTROLLER_TAKEN");
      },
    },
    {
      name: "controller_is_free_after_bye",
      reason: "the next session must not wait for the lease of one that said goodbye",
      run: async (ctx) => {
        const first = await ctx.session("CONTROLLER");
        await first.bye();
        await ctx.session("CONTROLLER");
      },
    },
    {
      name: "bye_ends_the_session",
      reason: "a request that was delayed past the end of its session must not act",
      run: async (ctx) => {
        const session = await ctx.session("OBSERVER");
        await session.bye();
        await session.refused("ERROR_UNKNOWN_SESSION", { get_state: {} });
      },
    },
    {
      name: "unknown_session_is_refused",
      reason: "a session of an earlier process must never continue after a restart",
      run: async (ctx) => {
        const session = await ctx.session("OBSERVER");
        await session.refused("ERROR_UNKNOWN_SESSION", { get_state: {} }, { session: "of-an-earlier-process" });
        await session.refused("ERROR_UNKNOWN_SESSION", { get_state: {} }, { session: "" });
        await session.must("state", { get_state: {} });
      },
    },
  ],
};
