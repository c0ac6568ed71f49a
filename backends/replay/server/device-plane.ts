import { randomBytes } from "node:crypto";
import type {
  DeviceErrorCode,
  DeviceEvent,
  DeviceReply,
  DeviceRequest,
  Role,
} from "../../../src/contract/generated/device.js";
import {
  MAX_PART_BYTES,
  PROTOCOL_MAJOR,
  PROTOCOL_MINOR,
  replyCodec,
  requestCodec,
} from "../../../src/contract/wire/device-codec.js";
import type { Init } from "../../../src/contract/wire/init.js";
import { Playback } from "../playback.js";
import type { Recording } from "../recording.js";
import { ReplyCache } from "./reply-cache.js";

export type Answer = { reply: Buffer; parts: Buffer[] };
type Body = Init<DeviceReply>;
type Made = { body: Body; parts?: Buffer[] };

class Refusal extends Error {
  constructor(
    readonly code: DeviceErrorCode,
    message: string,
  ) {
    super(message);
  }
}

type ReplaySession = { id: string; role: Role; next: number; lease_ms: number; ended: boolean; replies: ReplyCache };

const LEAST_LEASE_MS = 100;
const MOST_LEASE_MS = 60_000;
const MOST_DEADLINE_MS = 600_000;
const MOST_ID_CHARS = 64;

/**
 * The device plane of a replay. One session, ever, plays the recording as its controller; others may look at the last
 * state. Nothing here can move, so that a lease never lapses.
 */
export class DevicePlane {
  readonly #recording: Recording;
  readonly #playback: Playback;
  readonly #sessions = new Map<string, ReplaySession>();
  readonly #hellos = new ReplyCache();
  readonly #publish: (event: DeviceEvent) => void;
  #controller: ReplaySession | null = null;

  /** `publish` gets the recorded events of a reply once it is made. */
  constructor(recording: Recording, publish: (event: DeviceEvent) => void) {
    this.#recording = recording;
    this.#playback = new Playback(recording);
    this.#publish = publish;
  }

  stop(): { stop_epoch: number; time_s: number } {
    return this.#playback.stop();
  }

  /** The reply to one message; always one, whatever the message is. */
  async answer(parts: readonly Buffer[]): Promise<Answer> {
    let id = "";
    try {
      const [bytes, ...more] = parts;
      if (!bytes || more.length > 0) throw new Refusal("ERROR_MALFORMED", `a request is one part, not ${parts.length}`);
      if (bytes.byteLength > MAX_PART_BYTES)
        throw new Refusal(
          "ERROR_TOO_LARGE",
          `a request of ${bytes.byteLength} bytes; at most ${MAX_PART_BYTES} are taken`,
        );
      const request = decoded(bytes);
      id = request.request_id;
      if (request.protocol_major !== PROTOCOL_MAJOR)
        throw new Refusal(
          "ERROR_PROTOCOL_VERSION",
          `this replay speaks version ${PROTOCOL_MAJOR}, not ${request.protocol_major}`,
        );
      if (!request.body) throw new Refusal("ERROR_MALFORMED", "the request has no body of this version");
      if (id.length < 1 || id.length > MOST_ID_CHARS)
        throw new Refusal("ERROR_BAD_ARGUMENT", `a request_id has 1 to ${MOST_ID_CHARS} characters, not ${id.length}`);
      if (request.hello)
        return await this.#once(this.#hellos, request, bytes, async () => ({ body: this.#hello(request) }));
      const session = this.#sessions.get(request.session);
      if (!session)
        throw new Refusal("ERROR_UNKNOWN_SESSION", `there is no session "${request.session}"; begin one with Hello`);
      return await this.#once(session.replies, request, bytes, () => this.#inOrder(session, request));
    } catch (error) {
      return { reply: this.#encode(id, { error: refusalOf(error) }), parts: [] };
    }
  }

  /** Does what a request asks for the first time that its id comes, and gives the same reply again after that. */
  async #once(replies: ReplyCache, request: DeviceRequest, bytes: Buffer, make: () => Promise<Made>): Promise<Answer> {
    const id = request.request_id;
    const kept = replies.get(id);
    if (kept?.request.equals(bytes)) return kept;
    if (kept) throw new Refusal("ERROR_DUPLICATE_ID", `request_id "${id}" was used with other bytes`);
    if (replies.expired(id)) throw new Refusal("ERROR_EXPIRED_ID", `the reply to "${id}" is no longer kept`);
    const { body, parts = [] } = await make();
    const answer = { reply: this.#encode(id, { ...body, raw_parts: parts.length }), parts };
    replies.add(id, { request: bytes, ...answer });
    return answer;
  }

  async #inOrder(session: ReplaySession, request: DeviceRequest): Promise<Made> {
    if (session.ended) throw new Refusal("ERROR_UNKNOWN_SESSION", "the session has ended with Bye");
    if (request.sequence !== session.next)
      throw new Refusal("ERROR_SEQUENCE", `sequence is ${request.sequence}; the next one is ${session.next}`);
    session.next += 1;
    try {
      checkDeadline(request);
      return await this.#act(session, request);
    } catch (error) {
      // It used up its sequence, so that its reply is kept as any other.
      return { body: { error: refusalOf(error) } };
    }
  }

  #hello(request: DeviceRequest): Body {
    const { role, lease_ms } = request.hello!;
    checkDeadline(request);
    if (role === "ROLE_UNSPECIFIED")
      throw new Refusal("ERROR_BAD_ARGUMENT", "Hello names no role: CONTROLLER, OBSERVER or STOPPER");
    const controls = role === "CONTROLLER";
    if (controls && (lease_ms < LEAST_LEASE_MS || lease_ms > MOST_LEASE_MS))
      throw new Refusal(
        "ERROR_BAD_ARGUMENT",
        `lease_ms is ${lease_ms}; a controller's is ${LEAST_LEASE_MS} to ${MOST_LEASE_MS}`,
      );
    if (controls && this.#controller)
      throw new Refusal(
        "ERROR_CONTROLLER_TAKEN",
        "a replay plays its recording once, to one controller: start another replay",
      );
    const session: ReplaySession = {
      id: `replay-${randomBytes(8).toString("hex")}`,
      role,
      next: 1,
      lease_ms: controls ? lease_ms : 0,
      ended: false,
      replies: new ReplyCache(),
    };
    this.#sessions.set(session.id, session);
    if (controls) this.#controller = session;
    const recorded = this.#recording.hello.reply.hello!;
    const capabilities = { ...recorded.capabilities!, backend: "replay" };
    return { hello: { session: session.id, capabilities, lease_ms: session.lease_ms } };
  }

  async #act(session: ReplaySession, request: DeviceRequest): Promise<Made> {
    switch (request.body) {
      case "bye":
        session.ended = true;
        return { body: { bye: {} } };
      case "renew":
        if (session.role !== "CONTROLLER") throw new Refusal("ERROR_ROLE", "only the controller has a lease");
        return { body: { renew: { lease_ms: session.lease_ms } } };
      default:
        return session.role === "CONTROLLER" ? this.#play(request) : { body: this.#look(session, request) };
    }
  }

  /** Observers and stoppers see the state that the controller saw last. */
  #look(session: ReplaySession, request: DeviceRequest): Body {
    if (request.body === "get_frames" && session.role === "OBSERVER")
      throw new Refusal("ERROR_UNSUPPORTED", "a replay shows its frames to the controller only");
    if (request.body !== "get_state")
      throw new Refusal("ERROR_ROLE", `${session.role} may not ask for ${request.body}`);
    const state = this.#playback.lastState;
    if (!state) throw new Refusal("ERROR_NOT_READY", "the controller has not yet asked for a state");
    return { state };
  }

  async #play(request: DeviceRequest): Promise<Made> {
    if (request.execute && this.#playback.stoppedBeyondRecording)
      throw new Refusal("ERROR_STOP_EPOCH", "a stop is latched that the recording does not have: start another replay");
    const played = this.#playback.answer(request);
    if ("diverged" in played) throw new Refusal("ERROR_DIVERGED", played.diverged);
    const { reply, exchange } = played;
    const parts = await this.#recording.parts(exchange);
    for (const event of reply.advance?.events ?? []) this.#publish(event);
    return { body: reply, parts };
  }

  #encode(request_id: string, body: Body): Buffer {
    const { time_s, stopEpoch } = this.#playback;
    return replyCodec.encode({
      ...body,
      protocol_major: PROTOCOL_MAJOR,
      protocol_minor: PROTOCOL_MINOR,
      request_id,
      time_s: body.time_s ?? time_s,
      stop_epoch: stopEpoch,
    });
  }
}

function decoded(bytes: Buffer): DeviceRequest {
  try {
    return requestCodec.decode(bytes);
  } catch {
    throw new Refusal("ERROR_MALFORMED", `${bytes.byteLength} bytes are not a Request`);
  }
}

function checkDeadline({ deadline_ms }: DeviceRequest): void {
  if (deadline_ms < 1 || deadline_ms > MOST_DEADLINE_MS)
    throw new Refusal("ERROR_BAD_ARGUMENT", `deadline_ms is ${deadline_ms}; it is 1 to ${MOST_DEADLINE_MS}`);
}

function refusalOf(error: unknown): { code: DeviceErrorCode; message: string } {
  if (error instanceof Refusal) return { code: error.code, message: error.message };
  return { code: "ERROR_INTERNAL", message: error instanceof Error ? error.message : String(error) };
}
