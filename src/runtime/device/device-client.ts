import { randomUUID } from "node:crypto";
import { z } from "zod";
import { Skill2RealError } from "../../contract/errors.js";
import type {
  AdvanceReply,
  Capabilities,
  DeviceEvent,
  DeviceReply,
  DeviceRequest,
  ExecuteReply,
  HelloReply,
  RenewReply,
  Role,
  StateReply,
} from "../../contract/generated/device.js";
import { PROTOCOL_MAJOR, PROTOCOL_MINOR, replyCodec, requestCodec } from "../../contract/wire/device-codec.js";
import type { Init } from "../../contract/wire/init.js";
import { advanceInSteps } from "./advance-in-steps.js";
import { DealerLink } from "./dealer-link.js";
import {
  type AdvanceOptions,
  type CallOptions,
  type Device,
  type DeviceConnectOptions,
  type DeviceExchange,
  type DeviceFrame,
  type ExecuteOptions,
  type Past,
  POLL_ID,
  type Stamped,
} from "./device.js";
import { EventChannel } from "./event-channel.js";
import { framesWithPixels } from "./frames.js";
import { refusal } from "./refusal.js";
import { RequestQueue } from "./request-queue.js";
import { StopChannel } from "./stop-channel.js";

type Body = Exclude<DeviceRequest["body"], undefined>;
type Answer = { reply: DeviceReply; header: Buffer; parts: Buffer[] };
/** `limitMs`: silence that means lost. `wireMs`: the deadline that the backend is told, where it is not the caller's. */
type AskLimits = { limitMs?: number; wireMs?: number; poll?: boolean };
type ReplyBody = Exclude<DeviceReply["body"], undefined>;

const REPLY_OF: Record<Body, ReplyBody> = {
  hello: "hello",
  get_state: "state",
  get_frames: "frames",
  execute: "execute",
  advance: "advance",
  renew: "renew",
  bye: "bye",
  resume: "resume",
};

/** What keeps a session alive is asked of the backend even while the past is asked for the rest. */
const OF_THE_PRESENT: readonly Body[] = ["hello", "renew", "bye"];
const TICK_MS = 50;
/** The longest that a session is left without a request: the first half of noticing a backend that hangs while idle. */
const QUIET_MS = 250;
/** Rendering takes longer than any other verb; on a simulated clock nothing moves meanwhile. */
const SIM_FRAMES_MS = 3000;
/** How long a backend may wait for an exposure that is not before the asked time. */
const EXPOSURE_MS = 5000;

const optionsSchema = z.strictObject({
  device: z.string().min(1),
  stop: z.string().min(1),
  events: z.string().min(1),
  role: z.enum(["CONTROLLER", "OBSERVER", "STOPPER"]),
  client: z.string().min(1).max(200),
  leaseMs: z.number().int().min(100).max(60_000).default(1500),
  curve: z
    .strictObject({
      serverPublicKey: z.string().length(40),
      publicKey: z.string().length(40),
      secretKey: z.string().length(40),
    })
    .optional(),
  lostAfterMs: z.number().min(400).max(60_000).default(800),
  connectTimeoutMs: z.number().min(1).max(600_000).default(5000),
  past: z.custom<Past>((value) => typeof value === "object" && value !== null).optional(),
  onExchange: z.custom<(exchange: DeviceExchange) => void>((value) => typeof value === "function").optional(),
});
type Options = z.infer<typeof optionsSchema>;

/**
 * A session with a backend over ZeroMQ. Its sockets live in the main thread of the process that calls `connect`.
 *
 * Exactly once: a request that is not answered in half of its time is sent again with the same bytes. Alive: a backend
 * is lost when its process goes away, or when it answers nothing for `lostAfterMs`; while nothing else is asked, a Renew
 * asks, which keeps the controller's lease too. Losing the backend is final, for a restarted one has forgotten what
 * this session did.
 */
export class DeviceClient implements Device {
  readonly #options: Options;
  readonly #queue: RequestQueue<Answer>;
  readonly #link: DealerLink;
  readonly #stop: StopChannel;
  readonly #lost_listeners = new Set<(error: Error) => void>();
  #events!: EventChannel;
  #hello!: HelloReply;
  #ticker: NodeJS.Timeout | undefined;
  #last_tick_ms = performance.now();
  #last_sent_ms = performance.now();
  #renewing = false;
  #sequence = 0;
  /** Of exchanges as they are told on: those with the past are no requests to the backend. */
  #exchanges = 0;
  /** What is asked of the past still; null once it is over, or where there is none. */
  #past: Past | null;
  /** What the backend says while the past is asked. */
  #present = { time_s: 0, stop_epoch: 0 };
  #session = "";
  #stop_epoch = 0;
  #time_s = 0;
  #failure: Error | null = null;
  #closed = false;

  /** Rejects with `backend_unreachable` when nobody answers, `backend_refused` for a role that is taken. */
  static async connect(options: DeviceConnectOptions): Promise<DeviceClient> {
    const parsed = optionsSchema.safeParse(options);
    if (!parsed.success)
      throw new Skill2RealError("bad_argument", `cannot connect to a backend: ${z.prettifyError(parsed.error)}`);
    const client = new DeviceClient(parsed.data);
    try {
      await client.#open();
    } catch (error) {
      client.close();
      throw error;
    }
    return client;
  }

  private constructor(options: Options) {
    this.#options = options;
    this.#past = options.past ?? null;
    const { curve } = options;
    this.#queue = new RequestQueue({
      send: (bytes) => this.#link.send(bytes),
      onSilent: (verb, waited_ms) => this.#lose(`it has not answered ${verb} for ${Math.round(waited_ms)} ms`),
    });
    this.#link = new DealerLink({
      address: options.device,
      ...(curve ? { curve } : {}),
      onMessage: (parts) => this.#receive(parts),
      onDisconnect: () => {
        // A local peer that hangs up is gone; over a network the connection may come back, and requests are sent twice.
        if (options.device.startsWith("ipc:")) this.#lose("its process hung up");
      },
      onError: (error) => this.#lose(`the connection failed (${String(error)})`),
    });
    this.#stop = new StopChannel({
      address: options.stop,
      ...(curve ? { curve } : {}),
      lostAfterMs: options.lostAfterMs,
    });
  }

  get session(): string {
    return this.#session;
  }
  get role(): Role {
    return this.#options.role;
  }
  get capabilities(): Capabilities {
    return this.#hello.capabilities!;
  }
  get leaseMs(): number {
    return this.#hello.lease_ms;
  }
  get stopEpoch(): number {
    return this.#stop_epoch;
  }
  get time_s(): number {
    return this.#time_s;
  }
  get lost(): boolean {
    return this.#failure !== null;
  }

  async getState({ poll = false, ...options }: CallOptions & { poll?: boolean } = {}): Promise<Stamped<StateReply>> {
    return stamped(await this.#ask("get_state", {}, options, { poll }), "state");
  }

  async getFrames(
    cameras: readonly string[],
    options: CallOptions & { not_before_s?: number } = {},
  ): Promise<DeviceFrame[]> {
    const limitMs = this.capabilities.clock === "SIM" ? Math.max(SIM_FRAMES_MS, this.#options.lostAfterMs) : undefined;
    const body = { cameras, not_before_s: options.not_before_s ?? 0 };
    const wireMs = options.deadlineMs ?? EXPOSURE_MS;
    const answer = await this.#ask("get_frames", body, options, {
      wireMs,
      ...(limitMs === undefined ? {} : { limitMs }),
    });
    return framesWithPixels(answer.reply.frames!.frames, answer.parts);
  }

  async execute({ stop_epoch, motions, ...options }: ExecuteOptions): Promise<Stamped<ExecuteReply>> {
    return stamped(await this.#ask("execute", { stop_epoch, motions }, options), "execute");
  }

  async advance(options: AdvanceOptions): Promise<Stamped<AdvanceReply>> {
    const through_motion_ends = options.through_motion_ends ?? false;
    return advanceInSteps({
      from_s: this.#time_s,
      until_s: options.until_s,
      control_period_s: this.capabilities.control_period_s,
      through_motion_ends,
      ...(options.deadlineMs === undefined ? {} : { deadlineMs: options.deadlineMs }),
      advance: async (until_s) => {
        const answer = await this.#ask("advance", { until_s, through_motion_ends }, {}, { wireMs: this.#step_ms });
        return stamped(answer, "advance");
      },
    });
  }

  async stop(reason: string): Promise<{ stop_epoch: number; time_s: number }> {
    // A backend whose protocol loop hangs may still listen for stops, so a lost one is asked too.
    if (this.#closed) throw this.#failure;
    const before = this.#past?.stop() ?? null;
    if (before) {
      this.#stop_epoch = Math.max(this.#stop_epoch, before.stop_epoch);
      this.#returnIfOver();
      return before;
    }
    const reply = await this.#stop.stop(this.#session, reason);
    this.#stop_epoch = Math.max(this.#stop_epoch, reply.stop_epoch);
    this.#present.stop_epoch = Math.max(this.#present.stop_epoch, reply.stop_epoch);
    return reply;
  }

  async resume(options: { stop_epoch: number; token?: string }): Promise<Stamped<Record<never, never>>> {
    const body = { stop_epoch: options.stop_epoch, token: options.token ?? "" };
    return stamped(await this.#ask("resume", body, {}), "resume");
  }

  async renew(): Promise<Stamped<RenewReply>> {
    return stamped(await this.#ask("renew", {}, {}), "renew");
  }

  onEvent(listener: (event: DeviceEvent) => void): () => void {
    return this.#events.onEvent(listener);
  }

  events(): AsyncIterableIterator<DeviceEvent> {
    return this.#events.events();
  }

  onLost(listener: (error: Error) => void): () => void {
    if (this.#failure) listener(this.#failure);
    else this.#lost_listeners.add(listener);
    return () => this.#lost_listeners.delete(listener);
  }

  async bye(): Promise<void> {
    if (!this.#closed && !this.#failure) {
      try {
        await this.#ask("bye", {}, {});
      } catch {
        // The session is over either way: a backend that does not hear of it stops the arm when the lease lapses.
      }
    }
    this.close();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#failure) this.#stop.close();
    this.#release(new Skill2RealError("session_closed", "the session with the backend was closed: connect again"));
  }

  /** A simulator that is merely slow answers an Advance in this time, with what it got done. */
  get #step_ms(): number {
    return this.#options.lostAfterMs * 0.4;
  }

  async #open(): Promise<void> {
    const { role, client, leaseMs, events, curve, connectTimeoutMs } = this.#options;
    this.#ticker = setInterval(() => this.#tick(), TICK_MS);
    this.#ticker.unref();
    this.#events = await EventChannel.connect({
      address: events,
      ...(curve ? { curve } : {}),
      timeoutMs: connectTimeoutMs,
    });
    this.#events.onEvent((event) => this.#note(event));
    const body = { role, client, lease_ms: role === "CONTROLLER" ? leaseMs : 0 };
    const { reply } = await this.#ask(
      "hello",
      body,
      { deadlineMs: connectTimeoutMs },
      { limitMs: connectTimeoutMs + 1000 },
    ).catch((error) => {
      if (!(error instanceof Skill2RealError) || error.code !== "deadline_exceeded" || error.details.device_code)
        throw error;
      throw new Skill2RealError(
        "backend_unreachable",
        `no backend answers at ${this.#options.device} within ${connectTimeoutMs} ms: is it running?`,
      );
    });
    this.#hello = reply.hello!;
    this.#session = reply.hello!.session;
    if (!reply.hello!.capabilities)
      throw new Skill2RealError("protocol_mismatch", "the backend's Hello reply has no capabilities");
  }

  async #ask<B extends Body>(
    verb: B,
    body: Init<NonNullable<DeviceRequest[B]>>,
    { deadlineMs }: CallOptions,
    { limitMs = this.#options.lostAfterMs, wireMs, poll = false }: AskLimits = {},
  ): Promise<Answer> {
    if (this.#failure) throw this.#failure;
    if (this.#past && !OF_THE_PRESENT.includes(verb)) return this.#askThePast(this.#past, verb, body, poll);
    const sequence = this.#sequence;
    const limit = Math.max(limitMs, deadlineMs ?? 0);
    const promisedMs = Math.ceil(Math.min(wireMs ?? deadlineMs ?? limit, 600_000));
    const request = {
      protocol_major: PROTOCOL_MAJOR,
      protocol_minor: PROTOCOL_MINOR,
      session: this.#session,
      // A session's ids are its own, so that a recorded session repeats byte for byte; Hello has no session yet.
      request_id: verb === "hello" ? randomUUID() : `${poll ? POLL_ID : "q"}${sequence}`,
      sequence,
      deadline_ms: promisedMs,
      [verb]: body,
    };
    const bytes = requestCodec.encode(request as Init<DeviceRequest>);
    this.#sequence += 1;
    const sent_ms = performance.now();
    this.#last_sent_ms = sent_ms;
    const answer = await this.#queue.add({
      id: request.request_id,
      verb,
      bytes,
      limitMs: limit,
      promisedMs,
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
    });
    if (!this.#past) this.#tell(verb, bytes, answer, sent_ms);
    else {
      const { time_s, stop_epoch } = answer.reply;
      this.#present = { time_s, stop_epoch: Math.max(this.#present.stop_epoch, stop_epoch) };
    }
    this.#accept(verb, answer);
    if (this.#past && verb === "hello") {
      // The session began when the past did, as far as anybody is told.
      const header = Buffer.from(replyCodec.encode(this.#past.hello.reply));
      const began = { ...answer, reply: this.#past.hello.reply, header };
      this.#tell(verb, bytes, began, sent_ms);
      this.#time_s = began.reply.time_s;
      this.#stop_epoch = began.reply.stop_epoch;
    }
    return answer;
  }

  /** A request as the backend got it then; it does not hear of it now. */
  async #askThePast<B extends Body>(
    past: Past,
    verb: B,
    body: Init<NonNullable<DeviceRequest[B]>>,
    poll: boolean,
  ): Promise<Answer> {
    const request_id = `${poll ? POLL_ID : "q"}${this.#exchanges}`;
    const bytes = requestCodec.encode({
      protocol_major: PROTOCOL_MAJOR,
      protocol_minor: PROTOCOL_MINOR,
      session: this.#session,
      request_id,
      sequence: this.#exchanges,
      [verb]: body,
    } as Init<DeviceRequest>);
    const sent_ms = performance.now();
    const { reply, parts } = await past.answer(requestCodec.decode(bytes));
    const answer = { reply, parts, header: Buffer.from(replyCodec.encode(reply)) };
    this.#tell(verb, bytes, answer, sent_ms);
    try {
      this.#accept(verb, answer, past);
    } finally {
      this.#returnIfOver();
    }
    return answer;
  }

  /** Nothing is left of the past: from here on the backend answers, whose world must stand where the past ended. */
  #returnIfOver(): void {
    const past = this.#past;
    if (!past?.over) return;
    this.#past = null;
    past.close().catch(() => {}); // only a reader is closed
    if (Math.abs(this.#present.time_s - past.time_s) > 1e-9)
      throw new Skill2RealError(
        "diverged",
        `the backend's world stands at ${this.#present.time_s} s, what is resumed ended at ${past.time_s} s`,
      );
    this.#time_s = this.#present.time_s;
    this.#stop_epoch = this.#present.stop_epoch;
  }

  #tell(verb: Body, request: Uint8Array, { header, parts }: Answer, sent_ms: number): void {
    const sequence = this.#exchanges;
    this.#exchanges += 1;
    const received_ms = performance.now();
    this.#options.onExchange?.({ sequence, verb, request, reply: header, parts, sent_ms, received_ms });
  }

  /** Takes note of a reply; where the past is asked, of one from there only. */
  #accept(verb: Body, { reply, parts }: Answer, past: Past | null = null): void {
    if (this.#past === past) {
      this.#time_s = reply.time_s;
      this.#stop_epoch = Math.max(this.#stop_epoch, reply.stop_epoch);
    }
    if (reply.error) {
      const error = refusal(verb, reply.error);
      if (error.code === "backend_lost") this.#lose("its process was started anew");
      throw error;
    }
    if (reply.body !== REPLY_OF[verb] || reply.raw_parts !== parts.length) {
      throw new Skill2RealError(
        "protocol_mismatch",
        `the reply to ${verb} has the body ${reply.body ?? "(none)"} and ${parts.length} of ${reply.raw_parts} raw parts`,
      );
    }
  }

  #receive([header, ...parts]: Buffer[]): void {
    if (!header) return;
    let reply: DeviceReply;
    try {
      reply = replyCodec.decode(header);
    } catch {
      return; // not a reply: the request that it should have answered is sent again, then the backend is lost
    }
    this.#queue.settle(reply.request_id, { reply, header, parts });
  }

  #note(event: DeviceEvent): void {
    if (event.ending) this.#lose(`it is ending (${event.ending.reason})`);
    this.#present.stop_epoch = Math.max(this.#present.stop_epoch, event.stopped?.stop_epoch ?? 0);
    if (this.#past) return;
    this.#stop_epoch = Math.max(this.#stop_epoch, event.stopped?.stop_epoch ?? 0);
    if (event.world_changed) this.#time_s = event.time_s;
  }

  #tick(): void {
    const now_ms = performance.now();
    this.#queue.tick(now_ms - this.#last_tick_ms);
    this.#last_tick_ms = now_ms;
    if (!this.#session || this.#failure || this.#renewing) return;
    const quiet_ms = this.role === "CONTROLLER" ? Math.min(QUIET_MS, this.leaseMs / 3) : QUIET_MS;
    if (now_ms - this.#last_sent_ms < quiet_ms) return;
    this.#renewing = true;
    // Only the controller has a lease to renew; for the others a state tells as well that somebody is there.
    this.#ask(
      this.role === "CONTROLLER" ? "renew" : "get_state",
      {},
      {},
      { limitMs: this.#options.lostAfterMs - QUIET_MS },
    )
      .catch(() => {}) // a refusal is an answer too; silence is the queue's to notice
      .finally(() => {
        this.#renewing = false;
      });
  }

  #lose(why: string): void {
    if (this.#failure) return;
    const error = new Skill2RealError(
      "backend_lost",
      `the backend at ${this.#options.device} is lost: ${why}. Its arm stops when the lease of ${this.#hello?.lease_ms ?? 0} ms lapses; start a new session`,
    );
    const listeners = [...this.#lost_listeners];
    this.#release(error);
    if (this.#session) this.#stop.stop(this.#session, "the session lost its backend").catch(() => {});
    for (const listener of listeners) listener(error);
  }

  #release(error: Error): void {
    this.#failure ??= error;
    clearInterval(this.#ticker);
    this.#queue.fail(this.#failure);
    this.#lost_listeners.clear();
    this.#events?.close();
    this.#link.close();
    if (this.#closed) this.#stop.close();
  }
}

function stamped<K extends "state" | "execute" | "advance" | "renew" | "resume">(
  { reply }: { reply: DeviceReply },
  body: K,
): Stamped<NonNullable<DeviceReply[K]>> {
  return { ...reply[body]!, time_s: reply.time_s, stop_epoch: reply.stop_epoch };
}
