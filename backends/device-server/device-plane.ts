import type { DeviceReply, DeviceRequest, Role } from "../../src/contract/generated/device.js";
import {
  MAX_PART_BYTES,
  PROTOCOL_MAJOR,
  PROTOCOL_MINOR,
  replyCodec,
  requestCodec,
} from "../../src/contract/wire/device-codec.js";
import type { Init } from "../../src/contract/wire/init.js";
import type { DeviceDesk, Outcome } from "./desk.js";
import { type Lease, NO_LEASE } from "./lease.js";
import { badArgument, Refusal } from "./refusal.js";
import { type Answer, digestOf, type LookedUp, ReplyBudget, ReplyCache } from "./reply-cache.js";
import { type DeviceSession, Sessions } from "./sessions.js";

type Verb = NonNullable<DeviceRequest["body"]>;

const MOST_DEADLINE_MS = 600_000;
const MOST_ID_CHARS = 64;
const KEPT_HELLOS = 1024;

const EVERYBODY: readonly Role[] = ["CONTROLLER", "OBSERVER", "STOPPER"];
const ROLES: Record<Exclude<Verb, "hello">, readonly Role[]> = {
  get_state: EVERYBODY,
  get_frames: ["CONTROLLER", "OBSERVER"],
  execute: ["CONTROLLER"],
  advance: ["CONTROLLER"],
  resume: ["CONTROLLER"],
  renew: ["CONTROLLER"],
  bye: EVERYBODY,
};
/** What a controller that lapsed and was followed by another may still do. */
const WITHOUT_CONTROL: readonly Verb[] = ["get_state", "get_frames", "bye"];

export type DevicePlaneOptions = { desk: DeviceDesk; lease?: Lease };

/** From a message of the device socket to its answer. One answer to each, whatever the message is. */
export class DevicePlane {
  readonly sessions: Sessions;
  readonly #desk: DeviceDesk;
  readonly #hellos: ReplyCache;

  constructor({ desk, lease = NO_LEASE }: DevicePlaneOptions) {
    const budget = new ReplyBudget();
    this.sessions = new Sessions(budget, lease);
    this.#desk = desk;
    this.#hellos = new ReplyCache(budget, KEPT_HELLOS);
  }

  /** The answer to one message; a promise only where the verb has to wait. Never throws or rejects. */
  answer(parts: readonly Buffer[], received_ms: number = performance.now()): Answer | Promise<Answer> {
    let id = "";
    try {
      const { request, bytes } = readRequest(parts);
      id = request.request_id;
      return this.#answer(request, bytes, received_ms);
    } catch (error) {
      return this.#refuse(id, error);
    }
  }

  #answer(request: DeviceRequest, bytes: Buffer, received_ms: number): Answer | Promise<Answer> {
    const { request_id: id, body: verb } = request;
    if (request.protocol_major !== PROTOCOL_MAJOR)
      throw new Refusal(
        "ERROR_PROTOCOL_VERSION",
        `protocol major is ${request.protocol_major}; this server speaks ${PROTOCOL_MAJOR}.${PROTOCOL_MINOR}`,
      );
    const length = [...id].length;
    if (length < 1 || length > MOST_ID_CHARS)
      throw badArgument(`request_id has ${length} characters; give 1 to ${MOST_ID_CHARS}`);
    if (!verb) throw new Refusal("ERROR_MALFORMED", "the request has no body that this server knows");
    const digest = digestOf(bytes);
    if (verb === "hello") return this.#hello(request, digest, bytes.byteLength);

    const session = this.sessions.find(request.session);
    if (!session)
      throw new Refusal(
        "ERROR_UNKNOWN_SESSION",
        "no such session in this process; begin with Hello (nothing old continues)",
      );
    this.sessions.enter(session);
    let answer: Answer | Promise<Answer>;
    try {
      const known = session.replies.lookUp(id, digest);
      answer = known.known === "same" ? known.answer : this.#first(session, request, known, digest, bytes, received_ms);
    } catch (error) {
      this.sessions.leave(session);
      throw error;
    }
    if (answer instanceof Promise) void answer.then(() => this.sessions.leave(session));
    else this.sessions.leave(session);
    return answer;
  }

  /** A request whose id is new: in its order, and its reply is kept whatever it is. */
  #first(
    session: DeviceSession,
    request: DeviceRequest,
    known: LookedUp,
    digest: string,
    bytes: Buffer,
    received_ms: number,
  ): Answer | Promise<Answer> {
    refuseRepeat(known);
    if (session.ended)
      throw new Refusal("ERROR_UNKNOWN_SESSION", "this session ended with Bye; begin another with Hello");
    if (request.sequence !== session.next_sequence)
      throw new Refusal("ERROR_SEQUENCE", `sequence is ${request.sequence}; the next one is ${session.next_sequence}`);
    session.next_sequence += 1;
    const answer = this.#begin(session, request, bytes.byteLength, received_ms);
    session.replies.keep(request.request_id, digest, answer);
    return answer;
  }

  #begin(session: DeviceSession, request: DeviceRequest, size: number, received_ms: number): Answer | Promise<Answer> {
    const id = request.request_id;
    try {
      requireLimits(request, size);
      const deadline_ms = received_ms + request.deadline_ms;
      if (performance.now() > deadline_ms)
        throw new Refusal("ERROR_DEADLINE", `not begun within ${request.deadline_ms} ms of receipt; nothing was done`);
      const verb = request.body as Exclude<Verb, "hello">;
      if (!ROLES[verb].includes(session.role))
        throw new Refusal("ERROR_ROLE", `a session of role ${session.role} may not ${verb}`);
      if (session.role === "CONTROLLER" && !WITHOUT_CONTROL.includes(verb)) this.sessions.requireControl(session);
      const outcome = this.#act(session, request, deadline_ms);
      if (!(outcome instanceof Promise)) return this.#encode(id, outcome);
      return outcome.then(
        (made) => this.#encode(id, made),
        (error: unknown) => this.#refuse(id, error),
      );
    } catch (error) {
      return this.#refuse(id, error);
    }
  }

  #act(session: DeviceSession, request: DeviceRequest, deadline_ms: number): Outcome | Promise<Outcome> {
    if (request.renew) return { body: { renew: { lease_ms: session.lease_ms } } };
    if (request.bye) {
      if (this.sessions.controls(session)) this.#desk.controllerLeft();
      this.sessions.end(session);
      return { body: { bye: {} } };
    }
    return this.#desk.serve(request, { session, deadline_ms });
  }

  #hello(request: DeviceRequest, digest: string, size: number): Answer | Promise<Answer> {
    const id = request.request_id;
    const known = this.#hellos.lookUp(id, digest);
    if (known.known === "same") return known.answer;
    refuseRepeat(known);
    if (request.session !== "") throw badArgument("Hello carries a session; it must be empty, the reply names it");
    if (request.sequence !== 0)
      throw new Refusal("ERROR_SEQUENCE", `sequence of Hello is ${request.sequence}; it must be 0`);
    let answer: Answer;
    try {
      requireLimits(request, size);
      const hello = request.hello!;
      this.#desk.admit?.(hello.role);
      const session = this.sessions.open(hello);
      this.#desk.admitted?.(session);
      const { name, lease_ms } = session;
      answer = this.#encode(id, {
        body: { hello: { session: name, capabilities: this.#desk.capabilities(), lease_ms } },
      });
    } catch (error) {
      answer = this.#refuse(id, error);
    }
    this.#hellos.keep(id, digest, answer);
    return answer;
  }

  #encode(request_id: string, { body, parts = [] }: Outcome): Answer {
    const { time_s, stop_epoch } = this.#desk.stamp();
    const reply = replyCodec.encode({
      ...body,
      protocol_major: PROTOCOL_MAJOR,
      protocol_minor: PROTOCOL_MINOR,
      request_id,
      time_s: body.time_s ?? time_s,
      stop_epoch,
      raw_parts: parts.length,
    } as Init<DeviceReply>);
    return { reply, parts };
  }

  #refuse(request_id: string, error: unknown): Answer {
    if (error instanceof Refusal)
      return this.#encode(request_id, { body: { error: { code: error.code, message: error.message } } });
    this.#desk.onDefect?.(error);
    const name = error instanceof Error ? error.name : "an error";
    const message = `${name} while serving; the backend's log says more`;
    return this.#encode(request_id, { body: { error: { code: "ERROR_INTERNAL", message } } });
  }
}

/** A part that is too large is still read here, so that its refusal can carry the request's id. */
function readRequest(parts: readonly Buffer[]): { request: DeviceRequest; bytes: Buffer } {
  const largest = Math.max(0, ...parts.map((part) => part.byteLength));
  const tooLarge = new Refusal("ERROR_TOO_LARGE", `a part has ${largest} bytes; at most ${MAX_PART_BYTES}`);
  const [bytes] = parts;
  if (!bytes || parts.length !== 1) {
    if (largest > MAX_PART_BYTES) throw tooLarge;
    throw new Refusal("ERROR_MALFORMED", `the request has ${parts.length} parts; it must be one`);
  }
  if (bytes.byteLength === 0) throw new Refusal("ERROR_MALFORMED", "the request is empty");
  try {
    return { request: requestCodec.decode(bytes), bytes };
  } catch {
    if (largest > MAX_PART_BYTES) throw tooLarge;
    throw new Refusal("ERROR_MALFORMED", "the bytes are not a Request");
  }
}

function requireLimits({ deadline_ms }: DeviceRequest, size: number): void {
  if (size > MAX_PART_BYTES)
    throw new Refusal("ERROR_TOO_LARGE", `the request has ${size} bytes; at most ${MAX_PART_BYTES}: send fewer points`);
  if (deadline_ms < 1 || deadline_ms > MOST_DEADLINE_MS)
    throw badArgument(`deadline_ms is ${deadline_ms}; give 1 to ${MOST_DEADLINE_MS}`);
}

function refuseRepeat({ known }: LookedUp): void {
  if (known === "other_bytes")
    throw new Refusal("ERROR_DUPLICATE_ID", "this request_id was used with other bytes; give each request its own");
  if (known === "expired")
    throw new Refusal("ERROR_EXPIRED_ID", "this request_id was used and its reply is no longer kept");
}
