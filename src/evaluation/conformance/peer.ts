import { randomUUID } from "node:crypto";
import { Dealer } from "zeromq";
import type { DeviceErrorCode, DeviceReply, DeviceRequest, Role, StopReply } from "../../contract/generated/device.js";
import {
  PROTOCOL_MAJOR,
  replyCodec,
  requestCodec,
  stopReplyCodec,
  stopRequestCodec,
} from "../../contract/wire/device-codec.js";
import type { Init } from "../../contract/wire/init.js";
import { curveOptions } from "../../runtime/device/dealer-link.js";
import type { CurveKeys } from "../../runtime/device/device.js";
import { CheckFailed, ensure } from "./check.js";

const PATIENCE_MS = 10_000;

/** A DEALER that sends whatever it is told, well-formed or not, and hands out what comes back in order. */
export class RawPeer {
  readonly #socket: Dealer;
  readonly #arrived: Buffer[][] = [];
  #waiting: ((parts: Buffer[]) => void) | null = null;
  #sends: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(address: string, curve?: CurveKeys) {
    this.#socket = new Dealer({ linger: 0, ...curveOptions(curve) });
    this.#socket.connect(address);
    this.#read().catch(() => {});
  }

  send(...parts: Uint8Array[]): void {
    this.#sends = this.#sends.then(() => (this.#closed ? undefined : this.#socket.send(parts))).catch(() => {});
  }

  receive(timeoutMs: number = PATIENCE_MS): Promise<Buffer[]> {
    const arrived = this.#arrived.shift();
    if (arrived) return Promise.resolve(arrived);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting = null;
        reject(new CheckFailed(`nothing was answered within ${timeoutMs} ms`));
      }, timeoutMs);
      this.#waiting = (parts) => {
        clearTimeout(timer);
        this.#waiting = null;
        resolve(parts);
      };
    });
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#socket.close();
  }

  async #read(): Promise<void> {
    for await (const parts of this.#socket) {
      if (this.#waiting) this.#waiting(parts as Buffer[]);
      else this.#arrived.push(parts as Buffer[]);
    }
  }
}

export type Answer = {
  reply: DeviceReply;
  /** Raw parts after the reply. */
  parts: Buffer[];
  /** The request and the whole reply as they were on the wire. */
  request: Buffer;
  wire: Buffer[];
};

type Body = Exclude<DeviceRequest["body"], undefined>;
type RequestBody = { [K in Body]?: Init<NonNullable<DeviceRequest[K]>> };
type RequestHead = Omit<Init<DeviceRequest>, Body | "body">;
type ReplyBody = Exclude<DeviceReply["body"], undefined>;

/** Refusals of bytes that did not count as a request of the session: its sequence stands where it was. */
const UNCOUNTED: readonly DeviceErrorCode[] = [
  "ERROR_MALFORMED",
  "ERROR_TOO_LARGE",
  "ERROR_PROTOCOL_VERSION",
  "ERROR_UNKNOWN_SESSION",
  "ERROR_DUPLICATE_ID",
  "ERROR_EXPIRED_ID",
  "ERROR_SEQUENCE",
];

/** One session, one request at a time, with every field of a request in the check's hands. */
export class RawSession {
  readonly peer: RawPeer;
  session = "";
  sequence = 0;
  /** The controller's stop epoch and device time as the newest reply told them. */
  stop_epoch = 0;
  time_s = 0;
  ended = false;

  constructor(peer: RawPeer) {
    this.peer = peer;
  }

  /** Encodes the next request, with the fields of `head` in place of the usual ones. */
  encode(body: RequestBody, head: RequestHead = {}): Buffer {
    return requestCodec.encode({
      protocol_major: PROTOCOL_MAJOR,
      session: this.session,
      request_id: randomUUID(),
      sequence: this.sequence,
      deadline_ms: 10_000,
      ...head,
      ...body,
    } as Init<DeviceRequest>);
  }

  /** Sends bytes and takes the next answer, without minding the sequence. */
  async exchange(request: Buffer, timeoutMs?: number): Promise<Answer> {
    this.peer.send(request);
    return this.answer(request, timeoutMs);
  }

  async answer(request: Buffer, timeoutMs?: number): Promise<Answer> {
    const wire = await this.peer.receive(timeoutMs);
    const [header, ...parts] = wire;
    const reply = replyCodec.decode(header!);
    ensure(reply.raw_parts === parts.length, `the reply counts ${reply.raw_parts} raw parts, ${parts.length} came`);
    this.stop_epoch = reply.stop_epoch;
    this.time_s = reply.time_s;
    return { reply, parts, request, wire };
  }

  async ask(body: RequestBody, head: RequestHead = {}): Promise<Answer> {
    const answer = await this.exchange(this.encode(body, head));
    if (!answer.reply.error || !UNCOUNTED.includes(answer.reply.error.code)) this.sequence += 1;
    return answer;
  }

  /** Asks and demands success; gives the reply's body. */
  async must<K extends ReplyBody>(
    kind: K,
    body: RequestBody,
    head: RequestHead = {},
  ): Promise<NonNullable<DeviceReply[K]>> {
    const { reply } = await this.ask(body, head);
    return bodyOf(reply, kind);
  }

  /** Asks and demands a refusal with one of the codes. */
  async refused(
    codes: DeviceErrorCode | readonly DeviceErrorCode[],
    body: RequestBody,
    head: RequestHead = {},
  ): Promise<Answer> {
    const answer = await this.ask(body, head);
    ensureRefused(answer.reply, codes);
    return answer;
  }

  async hello(role: Role, lease_ms: number): Promise<NonNullable<DeviceReply["hello"]>> {
    const hello = await this.must("hello", { hello: { role, client: "conformance", lease_ms } });
    this.session = hello.session;
    return hello;
  }

  async bye(): Promise<void> {
    if (this.ended || !this.session) return;
    this.ended = true;
    await this.ask({ bye: {} });
  }
}

export function bodyOf<K extends ReplyBody>(reply: DeviceReply, kind: K): NonNullable<DeviceReply[K]> {
  ensure(!reply.error, () => `it was refused with ${reply.error?.code}: ${reply.error?.message}`);
  const body = reply[kind];
  ensure(body !== undefined, () => `the reply's body is ${reply.body ?? "missing"}, not ${kind}`);
  return body as NonNullable<DeviceReply[K]>;
}

export function ensureRefused(reply: DeviceReply, codes: DeviceErrorCode | readonly DeviceErrorCode[]): void {
  const expected = typeof codes === "string" ? [codes] : codes;
  const code = reply.error?.code;
  ensure(code !== undefined, () => `it was accepted (${reply.body}); it must be refused with ${expected.join(" or ")}`);
  ensure(
    expected.includes(code),
    () => `it was refused with ${code} (${reply.error?.message}), not ${expected.join(" or ")}`,
  );
  ensure(reply.error!.message.length > 0, `the refusal ${code} has no message`);
}

/** Sends one stop on a connection of its own. */
export async function rawStop(
  address: string,
  curve: CurveKeys | undefined,
  request: Uint8Array | string,
): Promise<StopReply> {
  const bytes =
    typeof request === "string"
      ? stopRequestCodec.encode({ protocol_major: PROTOCOL_MAJOR, session: "", reason: request })
      : request;
  const peer = new RawPeer(address, curve);
  try {
    peer.send(bytes);
    const [part] = await peer.receive();
    return stopReplyCodec.decode(part!);
  } finally {
    peer.close();
  }
}
