import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Subscriber } from "zeromq";
import type { DeviceEvent } from "../../src/contract/generated/device.js";
import { eventCodec, replyCodec, requestCodec } from "../../src/contract/wire/device-codec.js";
import {
  traceCallCodec,
  traceEventCodec,
  traceExchangeCodec,
  traceProgramCodec,
} from "../../src/contract/wire/trace-codec.js";
import type { EpisodeResult } from "../../src/evaluation/episode-result.js";
import { type EpisodeSpec, EpisodeWorker, type EpisodeWorkerOptions } from "../../src/evaluation/episode-worker.js";
import { TRACE_FILE } from "../../src/runtime/trace/mcap-trace.js";
import { readTrace } from "../../src/runtime/trace/read-trace.js";
import { sleep } from "./processes.js";

/** One thing that crossed the wall, or that the public side wrote, with a name to tell it by. */
export type Item = { what: string; bytes: Buffer };
export type PublicTraffic = { result: EpisodeResult; items: Item[] };

type Exchange = { verb: string; request: Uint8Array; reply: Uint8Array; parts: Uint8Array[] };

const same = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

/** Bytes that a decoder passes over would be bytes that a comparison of what it decodes does not see. */
function reencoded<T>(
  what: string,
  codec: { decode(bytes: Uint8Array): T; encode(value: never): Uint8Array },
  bytes: Uint8Array,
): T {
  const value = codec.decode(bytes);
  if (!same(codec.encode(value as never), bytes))
    throw new Error(`${what} holds bytes that its message does not explain`);
  return value;
}

/**
 * The exchanges of a session as they would be if the host's clock did not show: without those that keep the lease, numbered anew,
 * without ids of session and request, and with an Advance that a slow machine cut short joined to the one that went on.
 */
function exchangeItems(exchanges: readonly Exchange[]): Item[] {
  const items: Item[] = [];
  let sequence = 0;
  let cut: DeviceEvent[] = [];
  for (const [i, { verb, parts, ...bytes }] of exchanges.entries()) {
    const request = reencoded(`the request ${verb}`, requestCodec, bytes.request);
    const reply = reencoded(`the reply to ${verb}`, replyCodec, bytes.reply);
    if (verb === "renew") continue;
    const advance = request.advance;
    if (advance && reply.advance) {
      const told = reply.advance.events.some(({ kind }) => kind !== "group_progress" && kind !== "group_started");
      if (reply.time_s < advance.until_s - 0.01 && !told && exchanges[i + 1]?.verb === "advance") {
        cut = [...cut, ...reply.advance.events];
        continue;
      }
      reply.advance.events = [...cut, ...reply.advance.events];
      cut = [];
    }
    const known = { session: "", request_id: "", sequence };
    if (reply.hello) reply.hello.session = "";
    items.push({
      what: `request ${sequence} (${verb})`,
      bytes: Buffer.from(requestCodec.encode({ ...request, ...known })),
    });
    items.push({
      what: `reply ${sequence} (${verb})`,
      bytes: Buffer.from(replyCodec.encode({ ...reply, request_id: "" })),
    });
    for (const [n, part] of parts.entries())
      items.push({ what: `part ${n} of reply ${sequence}`, bytes: Buffer.from(part) });
    sequence += 1;
  }
  return items;
}

/** JSON of a message without what the host's clock, its process ids and its dice put into it. */
function masked(value: unknown, run: string): Buffer {
  const text = JSON.stringify(value, (key, entry) => (key === "wall_s" ? 0 : key === "addresses" ? "masked" : entry));
  return Buffer.from(text.replaceAll(run, "<run>"));
}

/** Everything below the run's folder but the trace, whose content is taken apart. */
function fileItems(folder: string): Item[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== TRACE_FILE)
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => ({ what: `file ${path.slice(folder.length + 1)}`, bytes: readFileSync(path) }));
}

async function traceItems(path: string): Promise<Item[]> {
  const exchanges: Exchange[] = [];
  const items: Item[] = [];
  for await (const { topic, data } of readTrace(path)) {
    if (topic === "/device/exchange") exchanges.push(structuredClone(reencoded("a record", traceExchangeCodec, data)));
    for (const [name, codec] of [
      ["/calls", traceCallCodec],
      ["/programs", traceProgramCodec],
      ["/events", traceEventCodec],
    ] as const) {
      if (topic !== name) continue;
      reencoded(`a record of ${topic}`, codec as typeof traceCallCodec, data);
      items.push({ what: `record ${items.length} of ${topic}`, bytes: Buffer.from(data) });
    }
  }
  return [...exchangeItems(exchanges), ...items];
}

/** Plays one episode and gives all that the public side saw, heard, said and wrote in it. */
export async function playRecorded(options: EpisodeWorkerOptions, spec: EpisodeSpec): Promise<PublicTraffic> {
  const messages: { direction: string; message: unknown }[] = [];
  const events: Buffer[] = [];
  const worker = new EpisodeWorker({
    ...options,
    onMessage: (direction, message) => messages.push({ direction, message }),
  });
  const socket = new Subscriber({ linger: 0 });
  try {
    await worker.start();
    socket.connect(worker.addresses!.events);
    socket.subscribe();
    await sleep(300); // the subscription reaches the publisher
    const listening = (async () => {
      for await (const [event] of socket) events.push(event as Buffer);
    })();
    const result = await worker.play(spec);
    const folder = join(options.runsFolder, result.run);
    await sleep(100);
    socket.close();
    await listening;
    return {
      result,
      items: [
        ...(await traceItems(join(folder, TRACE_FILE))),
        ...events.map((bytes, i) => {
          reencoded("an event", eventCodec, bytes);
          return { what: `event ${i}`, bytes };
        }),
        ...messages.map(({ direction, message }, i) => ({
          what: `message ${i} ${direction}`,
          bytes: masked(message, result.run),
        })),
        ...fileItems(folder).map(({ what, bytes }) =>
          what === "file stages.json"
            ? { what, bytes: masked(JSON.parse(bytes.toString()), result.run) }
            : { what, bytes },
        ),
      ],
    };
  } finally {
    socket.close();
    await worker.close();
  }
}

/** What differs between two episodes' public traffic, by name; empty where every byte is the same. */
export function differences(a: PublicTraffic, b: PublicTraffic): string[] {
  const length = Math.max(a.items.length, b.items.length);
  return Array.from({ length }, (_, i) => [a.items[i], b.items[i]] as const).flatMap(([one, other]) => {
    if (!one || !other) return [`${(one ?? other)?.what} is on one side only`];
    if (one.what !== other.what) return [`${one.what} here, ${other.what} there`];
    return same(one.bytes, other.bytes) ? [] : [one.what];
  });
}
