import { Skill2RealError } from "../../contract/errors.js";
import type { DeviceReply, DeviceRequest } from "../../contract/generated/device.js";
import { replyCodec, requestCodec } from "../../contract/wire/device-codec.js";
import { traceEventCodec, traceExchangeCodec } from "../../contract/wire/trace-codec.js";
import { readTrace, type TraceMessage } from "../trace/read-trace.js";

const EXCHANGES = "/device/exchange";
const EVENTS = "/events";

/** The event with which a trace marks that a decision stage has ended and everything before it is on the disk. */
export const STAGE_END = "stage_end";
const stageOf = (details_json: string): unknown => (JSON.parse(details_json) as { stage?: unknown }).stage;

export type RecordedExchange = { sequence: number; verb: string; request: DeviceRequest; reply: DeviceReply };
/** What the backend answered to a stop. */
export type RecordedStop = { stop_epoch: number; time_s: number };

/** What a Recording must give to be played; tests make their own. */
export type RecordingContent = {
  hello: RecordedExchange;
  /** The rest in their order, without what keeps or ends a session. */
  exchanges: readonly RecordedExchange[];
  stops: readonly RecordedStop[];
};

/**
 * The device traffic of one recorded episode. Requests and replies are in memory; pixels stay in the file and are read
 * again, in order, when they are asked for.
 */
export class Recording implements RecordingContent {
  readonly hello: RecordedExchange;
  readonly exchanges: readonly RecordedExchange[];
  readonly stops: readonly RecordedStop[];
  /** The file ends without its footer: whoever wrote it was killed. */
  readonly cut: boolean;
  readonly #path: string;
  #reading: AsyncGenerator<TraceMessage> | null = null;
  readonly #passed = new Map<number, Buffer[]>();

  private constructor(path: string, content: RecordingContent, cut: boolean) {
    this.#path = path;
    this.hello = content.hello;
    this.exchanges = content.exchanges;
    this.stops = content.stops;
    this.cut = cut;
  }

  /**
   * Throws `not_found` for a missing file, `protocol_mismatch` for one that holds no session with a backend, or not the mark at
   * which to end: with `until`, only what was recorded before that stage's end was marked is played.
   */
  static async open(path: string, { until }: { until?: number } = {}): Promise<Recording> {
    let cut = false;
    let marked = false;
    const all: RecordedExchange[] = [];
    const stops: RecordedStop[] = [];
    const onCut = (): void => {
      cut = true;
    };
    for await (const { topic, data } of readTrace(path, { topics: [EXCHANGES, EVENTS], onCut })) {
      if (topic === EXCHANGES) all.push(exchangeOf(data));
      else {
        const { kind, details_json } = traceEventCodec.decode(data);
        if (kind === "stop_latched") stops.push(JSON.parse(details_json) as RecordedStop);
        if (kind === STAGE_END && until !== undefined && stageOf(details_json) === until) {
          marked = true;
          break;
        }
      }
    }
    if (until !== undefined && !marked)
      throw new Skill2RealError("protocol_mismatch", `${path} does not reach the end of stage ${until}`);
    const [hello, ...rest] = all;
    if (!hello?.reply.hello?.capabilities)
      throw new Skill2RealError(
        "protocol_mismatch",
        `${path} does not begin with a session on a backend: record an episode with "skill2real run", which writes one into the run's folder`,
      );
    const exchanges = rest.filter(({ verb }) => verb !== "renew" && verb !== "bye");
    return new Recording(path, { hello, exchanges, stops }, cut);
  }

  /** Raw parts of a reply. To be asked for in the order of the recording. */
  async parts({ sequence, reply }: RecordedExchange): Promise<Buffer[]> {
    if (reply.raw_parts === 0) return [];
    this.#reading ??= readTrace(this.#path, { topics: [EXCHANGES] });
    while (!this.#passed.has(sequence)) {
      const next = await this.#reading.next();
      if (next.done) throw new Skill2RealError("storage_failed", `${this.#path} was changed while it is replayed`);
      const exchange = traceExchangeCodec.decode(next.value.data);
      // A copy: the decoder's are views of a whole chunk.
      if (exchange.parts.length > 0)
        this.#passed.set(
          exchange.sequence,
          exchange.parts.map((part) => Buffer.from(part)),
        );
    }
    const parts = this.#passed.get(sequence) ?? [];
    for (const passed of this.#passed.keys()) if (passed <= sequence) this.#passed.delete(passed);
    return parts;
  }

  async close(): Promise<void> {
    await this.#reading?.return(undefined);
  }
}

function exchangeOf(data: Uint8Array): RecordedExchange {
  const { sequence, verb, request, reply } = traceExchangeCodec.decode(data);
  return { sequence, verb, request: requestCodec.decode(request), reply: replyCodec.decode(reply) };
}
