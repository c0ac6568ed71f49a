import { randomUUID } from "node:crypto";
import { z } from "zod";
import { Skill2RealError } from "../contract/errors.js";
import type {
  EvaluateReply,
  PrivilegedReply,
  PrivilegedRequest,
  ResetReply,
  RestoreReply,
  SettleReply,
  SnapshotReply,
  StateHashReply,
  TrueStateReply,
} from "../contract/generated/privileged.js";
import { PROTOCOL_MAJOR } from "../contract/wire/device-codec.js";
import type { Init } from "../contract/wire/init.js";
import { privilegedReplyCodec, privilegedRequestCodec } from "../contract/wire/privileged-codec.js";
import { DealerLink } from "../runtime/device/dealer-link.js";
import { RequestQueue } from "../runtime/device/request-queue.js";
import type { Privileged, PrivilegedConnectOptions, ResetOptions } from "./privileged.js";

type Body = Exclude<PrivilegedRequest["body"], undefined>;
type ReplyBody = Exclude<PrivilegedReply["body"], undefined>;

const REPLY_OF: Record<Body, ReplyBody> = {
  reset: "reset",
  evaluate: "evaluate",
  get_true_state: "true_state",
  snapshot: "snapshot",
  restore: "restore",
  set_evidence_log: "set_evidence_log",
  mark_evidence: "mark_evidence",
  get_resume_token: "resume_token",
  get_state_hash: "state_hash",
  settle: "settle",
};

const TICK_MS = 50;
/** A reset builds a world; everything else takes well under a second. */
const RESET_MS = 60_000;
const DEADLINE_MS = 10_000;

const optionsSchema = z.strictObject({
  address: z.string().min(1),
  token: z.custom<Uint8Array>((value) => value instanceof Uint8Array && value.byteLength === 32, "must be 32 bytes"),
  connectTimeoutMs: z.number().min(1).max(600_000).default(5000),
});

/**
 * The evaluator's line to a simulator. Whoever holds one can see and change the true world: nothing in the runtime,
 * programs, agents or skills may import this file.
 */
export class PrivilegedClient implements Privileged {
  readonly #address: string;
  readonly #token: Uint8Array;
  readonly #queue: RequestQueue<PrivilegedReply>;
  readonly #link: DealerLink;
  readonly #ticker: NodeJS.Timeout;
  #last_tick_ms = performance.now();
  #failure: Error | null = null;

  /** Rejects with `backend_unreachable` when nobody answers, `backend_refused` for a token that is not the simulator's. */
  static async connect(options: PrivilegedConnectOptions): Promise<PrivilegedClient> {
    const parsed = optionsSchema.safeParse(options);
    if (!parsed.success)
      throw new Skill2RealError("bad_argument", `cannot connect to a simulator: ${z.prettifyError(parsed.error)}`);
    const { address, token, connectTimeoutMs } = parsed.data;
    const client = new PrivilegedClient(address, token);
    try {
      // Ending an evidence log that was never begun changes nothing, and proves the address and the token.
      await client.#ask("set_evidence_log", { path: "" }, connectTimeoutMs);
    } catch (error) {
      client.close();
      if (error instanceof Skill2RealError && error.code === "backend_lost")
        throw new Skill2RealError("backend_unreachable", `no simulator answers at ${address}: is it running?`);
      throw error;
    }
    return client;
  }

  private constructor(address: string, token: Uint8Array) {
    this.#address = address;
    this.#token = token;
    this.#queue = new RequestQueue({
      send: (bytes) => this.#link.send(bytes),
      onSilent: (verb, waited_ms) => this.#lose(`it has not answered ${verb} for ${Math.round(waited_ms)} ms`),
    });
    this.#link = new DealerLink({
      address,
      onMessage: ([header]) => this.#receive(header),
      onDisconnect: () => {
        if (address.startsWith("ipc:")) this.#lose("its process hung up");
      },
      onError: (error) => this.#lose(`the connection failed (${String(error)})`),
    });
    this.#ticker = setInterval(() => {
      const now_ms = performance.now();
      this.#queue.tick(now_ms - this.#last_tick_ms);
      this.#last_tick_ms = now_ms;
    }, TICK_MS);
    this.#ticker.unref();
  }

  async reset({ deadlineMs, ...options }: ResetOptions): Promise<ResetReply> {
    return (await this.#ask("reset", options, deadlineMs ?? RESET_MS)).reset!;
  }

  async evaluate(): Promise<EvaluateReply> {
    return (await this.#ask("evaluate", {})).evaluate!;
  }

  async trueState(): Promise<TrueStateReply> {
    return (await this.#ask("get_true_state", {})).true_state!;
  }

  async snapshot(path = ""): Promise<SnapshotReply> {
    return (await this.#ask("snapshot", { path })).snapshot!;
  }

  async restore(from: { id: string } | { path: string }): Promise<RestoreReply> {
    return (await this.#ask("restore", from)).restore!;
  }

  async setEvidenceLog(path: string | null): Promise<void> {
    await this.#ask("set_evidence_log", { path: path ?? "" });
  }

  async markEvidence(label: string): Promise<void> {
    await this.#ask("mark_evidence", { label });
  }

  async resumeToken(): Promise<string> {
    return (await this.#ask("get_resume_token", {})).resume_token!.token;
  }

  async stateHash(): Promise<StateHashReply> {
    return (await this.#ask("get_state_hash", {})).state_hash!;
  }

  async settle(duration_s: number): Promise<SettleReply> {
    return (await this.#ask("settle", { duration_s })).settle!;
  }

  close(): void {
    this.#release(new Skill2RealError("session_closed", "the line to the simulator was closed: connect again"));
  }

  async #ask<B extends Body>(
    verb: B,
    body: Init<NonNullable<PrivilegedRequest[B]>>,
    limitMs: number = DEADLINE_MS,
  ): Promise<PrivilegedReply> {
    if (this.#failure) throw this.#failure;
    const request = {
      protocol_major: PROTOCOL_MAJOR,
      request_id: randomUUID(),
      token: this.#token,
      deadline_ms: Math.ceil(limitMs),
      [verb]: body,
    };
    const bytes = privilegedRequestCodec.encode(request as Init<PrivilegedRequest>);
    const reply = await this.#queue.add({ id: request.request_id, verb, bytes, limitMs });
    if (reply.error) {
      const { code, message } = reply.error;
      throw new Skill2RealError("backend_refused", `the simulator refused ${verb} with ${code}: ${message}`, {
        details: { privileged_code: code, verb },
      });
    }
    if (reply.body !== REPLY_OF[verb])
      throw new Skill2RealError("protocol_mismatch", `the reply to ${verb} has the body ${reply.body ?? "(none)"}`);
    return reply;
  }

  #receive(header: Buffer | undefined): void {
    let reply: PrivilegedReply;
    try {
      reply = privilegedReplyCodec.decode(header ?? Buffer.alloc(0));
    } catch {
      return; // not a reply: its request is sent again, then the simulator is lost
    }
    this.#queue.settle(reply.request_id, reply);
  }

  #lose(why: string): void {
    this.#release(new Skill2RealError("backend_lost", `the simulator at ${this.#address} is lost: ${why}`));
  }

  #release(error: Error): void {
    if (this.#failure) return;
    this.#failure = error;
    clearInterval(this.#ticker);
    this.#queue.fail(error);
    this.#link.close();
  }
}
