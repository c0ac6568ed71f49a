import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isSkill2RealError } from "../../../contract/errors.js";
import type {
  PrivilegedErrorCode,
  PrivilegedReply,
  PrivilegedRequest,
} from "../../../contract/generated/privileged.js";
import { requestCodec } from "../../../contract/wire/device-codec.js";
import type { Init } from "../../../contract/wire/init.js";
import { privilegedReplyCodec, privilegedRequestCodec } from "../../../contract/wire/privileged-codec.js";
import { CheckFailed, type CheckGroup, ensure, ensureNear } from "../check.js";
import type { ConformanceContext } from "../context.js";
import { distance, firstArm, jointTrajectory, nearby, play, start } from "../motion.js";
import { ensureRefused } from "../peer.js";
import { rigidityError } from "../transforms.js";

const needs = ["privileged"] as const;

/** Asks the privileged socket with a token of the check's choice; gives the reply and its bytes. */
async function askRaw(
  ctx: ConformanceContext,
  request: Init<PrivilegedRequest>,
): Promise<{ reply: PrivilegedReply; bytes: Buffer }> {
  const peer = ctx.peer(ctx.target.privileged!.address);
  const usual = {
    protocol_major: 1,
    request_id: randomUUID(),
    deadline_ms: 10_000,
    token: ctx.target.privileged!.token,
  };
  peer.send(privilegedRequestCodec.encode({ ...usual, ...request }));
  const [bytes] = await peer.receive();
  return { reply: privilegedReplyCodec.decode(bytes!), bytes: bytes! };
}

function ensureCode(reply: PrivilegedReply, code: PrivilegedErrorCode): void {
  ensure(reply.error?.code === code, () => `it was answered with ${reply.error?.code ?? reply.body}, not ${code}`);
}

async function ensureRejects(promise: Promise<unknown>, code: PrivilegedErrorCode): Promise<void> {
  try {
    await promise;
  } catch (error) {
    if (!isSkill2RealError(error)) throw error;
    ensure(
      error.details.privileged_code === code,
      `it was refused with ${String(error.details.privileged_code)}, not ${code}`,
    );
    return;
  }
  throw new CheckFailed(`it was accepted; it must be refused with ${code}`);
}

const reset = (ctx: ConformanceContext, seed = ctx.task.seed) => ctx.evaluator.reset({ task: ctx.task.name, seed });

export const privileged: CheckGroup = {
  group: "privileged",
  checks: [
    {
      name: "wrong_token_is_refused_and_tells_nothing",
      reason: "whoever finds the address must learn nothing about the world",
      needs,
      run: async (ctx) => {
        const { token } = ctx.target.privileged!;
        const almost = Buffer.from(token);
        almost[31]! ^= 1;
        const refusals: Buffer[] = [];
        for (const wrong of [
          Buffer.alloc(0),
          Buffer.alloc(32),
          almost,
          Buffer.concat([Buffer.from(token), Buffer.from([0])]),
        ])
          for (const body of [{ get_true_state: {} }, { restore: { id: "x" } }] as const) {
            const { reply, bytes } = await askRaw(ctx, { token: wrong, request_id: "same", ...body });
            ensureCode(reply, "PRIVILEGED_TOKEN");
            refusals.push(bytes);
          }
        for (const bytes of refusals)
          ensure(Buffer.compare(bytes, refusals[0]!) === 0, "refusals differ by what was asked");
      },
    },
    {
      name: "privileged_requests_mean_nothing_to_the_device_socket",
      reason: "the two planes are a wall, and a token on the public side is no key",
      needs,
      run: async (ctx) => {
        const session = await ctx.session("OBSERVER");
        const request = privilegedRequestCodec.encode({
          protocol_major: 1,
          request_id: randomUUID(),
          deadline_ms: 1000,
          token: ctx.target.privileged!.token,
          get_true_state: {},
        });
        const { reply } = await session.exchange(request);
        ensure(reply.error, `the device socket answered a privileged request with ${reply.body}`);
        await session.must("state", { get_state: {} });
      },
    },
    {
      name: "device_requests_mean_nothing_to_the_privileged_socket",
      reason: "a socket that serves both would let the token be skipped",
      needs,
      run: async (ctx) => {
        const peer = ctx.peer(ctx.target.privileged!.address);
        peer.send(
          requestCodec.encode({ protocol_major: 1, request_id: "x", deadline_ms: 1000, hello: { role: "OBSERVER" } }),
        );
        const [bytes] = await peer.receive();
        ensure(privilegedReplyCodec.decode(bytes!).error, "the privileged socket answered a device request");
      },
    },
    {
      name: "privileged_socket_survives_garbage",
      reason: "an evaluation of hours must not end by one bad message",
      needs,
      run: async (ctx) => {
        const peer = ctx.peer(ctx.target.privileged!.address);
        for (const parts of [[Buffer.alloc(0)], [Buffer.from([0xff, 0xfe])], [Buffer.from("a"), Buffer.from("b")]]) {
          peer.send(...parts);
          const [bytes] = await peer.receive();
          ensureCode(
            privilegedReplyCodec.decode(bytes!),
            parts[0]!.length === 0 ? "PRIVILEGED_TOKEN" : "PRIVILEGED_MALFORMED",
          );
        }
        ensureCode((await askRaw(ctx, { protocol_major: 2, evaluate: {} })).reply, "PRIVILEGED_PROTOCOL_VERSION");
        await ctx.evaluator.stateHash();
      },
    },
    {
      name: "privileged_requests_are_done_once",
      reason: "a Settle that is heard twice would let twice the time pass",
      needs,
      run: async (ctx) => {
        await ctx.controller();
        const request_id = randomUUID();
        const settle = { request_id, settle: { duration_s: 0.1 } };
        const first = await askRaw(ctx, settle);
        const second = await askRaw(ctx, settle);
        ensure(Buffer.compare(first.bytes, second.bytes) === 0, "the repeated Settle got another reply");
        ensureCode((await askRaw(ctx, { request_id, evaluate: {} })).reply, "PRIVILEGED_DUPLICATE_ID");
      },
    },
    {
      name: "seed_makes_the_world",
      reason: "a seed is the whole of a task instance",
      needs: ["privileged", "sim_clock"],
      run: async (ctx) => {
        const first = await reset(ctx);
        const other = await reset(ctx, ctx.task.seed + 1);
        const again = await reset(ctx);
        ensure(first.state_hash === again.state_hash, "one seed gave two worlds");
        ensure(first.state_hash !== other.state_hash, "two seeds gave one world");
        ensure(
          first.instruction === again.instruction && first.instruction.length > 0,
          `the instruction is "${first.instruction}"`,
        );
        ensure(
          again.world_epoch > other.world_epoch && other.world_epoch > first.world_epoch,
          "the world epoch does not rise",
        );
      },
    },
    {
      name: "unknown_task_is_refused_and_the_world_stays",
      reason: "a misspelled task must not leave an empty table",
      needs: ["privileged", "sim_clock"],
      run: async (ctx) => {
        const { state_hash } = await reset(ctx);
        await ensureRejects(ctx.evaluator.reset({ task: "no_such_task", seed: 1 }), "PRIVILEGED_BAD_ARGUMENT");
        await ensureRejects(
          ctx.evaluator.reset({ task: ctx.task.name, seed: 1, variant: "no_such_variant" }),
          "PRIVILEGED_BAD_ARGUMENT",
        );
        ensure((await ctx.evaluator.stateHash()).state_hash === state_hash, "the world changed");
      },
    },
    {
      name: "reset_starts_time_anew_and_is_published",
      reason: "whatever sessions knew about the old world is void, and they must hear so",
      needs,
      run: async (ctx) => {
        const record = await ctx.events();
        const session = await ctx.controller();
        await ctx.pass(session, 0.5);
        const { world_epoch } = await reset(ctx);
        await ctx.state(session);
        if (ctx.simulated) ensure(session.time_s === 0, `time is ${session.time_s} s after the reset`);
        await record.until("world_changed", (event) => event.world_changed?.world_epoch === world_epoch);
      },
    },
    {
      name: "reset_ends_motions_and_stops",
      reason: "an episode starts from a known state, whatever the last one left",
      needs: ["privileged", "motion"],
      run: async (ctx) => {
        const session = await ctx.controller();
        const { arm, q_rad } = await firstArm(ctx, session);
        await start(session, [{ joint_trajectory: jointTrajectory(arm, q_rad, nearby(q_rad, 0.5)) }]);
        await ctx.pass(session, 0.2);
        await ctx.stop("conformance");
        await reset(ctx);
        const found = await ctx.state(session);
        ensure(!found.stop_latched, "the stop outlived the reset");
        ensure(
          found.groups.every((group) => !group.active),
          "the motion outlived the reset",
        );
        ensure(distance(found.arms[0]!.q_rad, q_rad) < 0.02, "the arm is not where a reset puts it");
      },
    },
    {
      name: "restore_brings_back_the_world",
      reason: "many programs are tried from one moment",
      needs: ["privileged", "sim_clock", "motion"],
      run: async (ctx) => {
        const session = await ctx.controller();
        await ctx.pass(session, 0.3);
        const taken = await ctx.evaluator.snapshot();
        const future = async () => {
          const { arm, q_rad } = await firstArm(ctx, session);
          await play(ctx, session, [{ joint_trajectory: jointTrajectory(arm, q_rad, nearby(q_rad)) }]);
          return (await ctx.evaluator.stateHash()).state_hash;
        };
        const once = await future();
        const restored = await ctx.evaluator.restore({ id: taken.id });
        ensure(restored.state_hash === taken.state_hash, "the restored world is another one");
        await ctx.state(session);
        ensure((await future()) === once, "the same motion from the restored world ended elsewhere");
      },
    },
    {
      name: "unknown_snapshot_is_refused",
      reason: "a restore of nothing must not go unnoticed",
      needs,
      run: async (ctx) => {
        await ensureRejects(ctx.evaluator.restore({ id: "no_such_snapshot" }), "PRIVILEGED_BAD_ARGUMENT");
      },
    },
    {
      name: "fresh_world_is_not_solved",
      reason: "a task that is done at its start measures nothing",
      needs,
      run: async (ctx) => {
        await ctx.controller();
        const { success, predicates, failure_kind } = await ctx.evaluator.evaluate();
        ensure(!success, "the task is a success before anything was done");
        ensure(failure_kind !== "", "the failure has no kind");
        ensure(
          predicates.length > 0 && predicates.some((predicate) => !predicate.holds),
          "no predicate says what is missing",
        );
        for (const { name, measure, limit } of predicates)
          ensure(
            name !== "" && Number.isFinite(measure) && Number.isFinite(limit),
            `predicate "${name}" measures ${measure}`,
          );
      },
    },
    {
      name: "judging_changes_nothing",
      reason: "how often an evaluator looks must not change what happens",
      needs: ["privileged", "sim_clock"],
      run: async (ctx) => {
        await ctx.controller();
        const before = await ctx.evaluator.stateHash();
        await ctx.evaluator.evaluate();
        await ctx.evaluator.trueState();
        const after = await ctx.evaluator.stateHash();
        ensure(before.state_hash === after.state_hash && before.time_s === after.time_s, "the world changed");
      },
    },
    {
      name: "true_state_is_whole",
      reason: "verification compares what a program saw with what there is",
      needs,
      run: async (ctx) => {
        const session = await ctx.controller();
        const truth = await ctx.evaluator.trueState();
        ensure(
          truth.bodies.some((body) => body.role === "target"),
          "no body is the target",
        );
        ensure(new Set(truth.bodies.map((body) => body.name)).size === truth.bodies.length, "two bodies have one name");
        for (const body of truth.bodies) {
          ensure(rigidityError(body.X_world_body) < 1e-6, `${body.name}'s pose is not a rigid transform`);
          ensure(
            body.size_m.length === 3 && body.size_m.every((size) => size > 0),
            `${body.name}'s size is ${body.size_m.join(", ")}`,
          );
        }
        const { q_rad } = await firstArm(ctx, session);
        ensure(
          distance(truth.q_rad.slice(0, q_rad.length), q_rad) < 1e-3,
          "the true joints are not those of the public state",
        );
      },
    },
    {
      name: "settle_holds_the_arm",
      reason: "judging waits a second, in which nothing may be done",
      needs,
      run: async (ctx) => {
        const session = await ctx.controller();
        const { q_rad } = await firstArm(ctx, session);
        const from_s = session.time_s;
        const { time_s } = await ctx.evaluator.settle(1);
        ensureNear(
          time_s - from_s,
          1,
          ctx.simulated ? ctx.capabilities.control_period_s + 1e-9 : 0.5,
          "the time that passed",
        );
        ensure(distance((await firstArm(ctx, session)).q_rad, q_rad) < 0.005, "the arm moved");
      },
    },
    {
      name: "evidence_is_private_and_whole",
      reason: "the log of the true state is for the evaluator's eyes, and proves what happened",
      needs: ["privileged", "motion"],
      run: async (ctx) => {
        const folder = mkdtempSync(join(tmpdir(), "s2r-evidence-"));
        ctx.onCleanUp(() => rmSync(folder, { recursive: true, force: true }));
        const session = await ctx.controller();
        const path = join(folder, "evidence.jsonl");
        await ctx.evaluator.setEvidenceLog(path);
        await ctx.evaluator.markEvidence("conformance mark");
        const { arm, q_rad } = await firstArm(ctx, session);
        const from_s = session.time_s;
        await play(ctx, session, [{ joint_trajectory: jointTrajectory(arm, q_rad, nearby(q_rad)) }]);
        const duration_s = session.time_s - from_s;
        await ctx.evaluator.setEvidenceLog(null);
        const mode = statSync(path).mode & 0o777;
        ensure(mode === 0o600, `the log's mode is 0${mode.toString(8)}`);
        const lines = readFileSync(path, "utf8").trim().split("\n");
        for (const line of lines) ensure(typeof JSON.parse(line) === "object", "a line is not a JSON object");
        ensure(
          lines.some((line) => line.includes("conformance mark")),
          "the mark is not in the log",
        );
        const due = Math.floor(duration_s / 0.05);
        ensure(
          lines.length >= due,
          `${lines.length} records of a motion of ${duration_s.toFixed(2)} s; one is due every 50 ms`,
        );
      },
    },
    {
      name: "hidden_names_change_no_picture",
      reason: "what a program sees must not depend on what only the evaluator knows",
      needs: ["privileged", "sim_clock", "cameras"],
      run: async (ctx) => {
        const cameras = ctx.capabilities.cameras.map((camera) => camera.name);
        const seen: string[] = [];
        for (const hidden_salt of ["", "another"]) {
          const { instruction } = await ctx.evaluator.reset({ task: ctx.task.name, seed: ctx.task.seed, hidden_salt });
          const observer = await ctx.session("OBSERVER");
          const { parts } = await observer.ask({ get_frames: { cameras } });
          ensure(parts.length === cameras.length, "frames are missing");
          const state = JSON.stringify(await ctx.state(observer));
          seen.push([instruction, state, ...parts.map((part) => part.toString("base64"))].join("|"));
        }
        ensure(seen[0] === seen[1], "instruction, state or pictures changed with hidden names");
      },
    },
    {
      name: "resume_token_of_another_epoch_is_useless",
      reason: "a token that a person fetched for one fault must not clear the next",
      needs,
      run: async (ctx) => {
        const session = await ctx.controller();
        const first = await ctx.evaluator.resumeToken();
        const second = await ctx.evaluator.resumeToken();
        ensure(first !== second && first.length >= 16, "two tokens are one, or short enough to guess");
        const peer = await ctx.session("OBSERVER");
        const { reply } = await peer.ask({ resume: { stop_epoch: session.stop_epoch, token: second } });
        ensureRefused(reply, "ERROR_ROLE");
      },
    },
  ],
};
