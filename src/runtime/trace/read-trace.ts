import { open } from "node:fs/promises";
import zstd from "@foxglove/wasm-zstd";
import { McapStreamReader } from "@mcap/core";
import { Skill2RealError } from "../../contract/errors.js";

export type TraceMessage = {
  topic: string;
  /** Name of the protobuf message. */
  schema: string;
  time_ns: bigint;
  /** The encoded message; valid until the next one is asked for. */
  data: Uint8Array;
};

export type ReadTraceOptions = {
  /** Only messages of these topics; left out: all. */
  topics?: readonly string[];
  /** Called where the file ends without its footer, as one does whose writer was killed. */
  onCut?: () => void;
  /** Called for each metadata record. */
  onMetadata?: (name: string, entries: ReadonlyMap<string, string>) => void;
};

const BLOCK_BYTES = 1 << 20;

/**
 * The messages of an MCAP file in the order in which they were written, read as a stream: a recording whose writer was
 * killed is read as far as it goes. Throws `not_found` for a file that is missing, `protocol_mismatch` for one that is not MCAP.
 */
export async function* readTrace(path: string, options: ReadTraceOptions = {}): AsyncGenerator<TraceMessage> {
  await zstd.isLoaded;
  const reader = new McapStreamReader({
    decompressHandlers: { zstd: (buffer, size) => zstd.decompress(buffer, Number(size)) },
  });
  const schemas = new Map<number, string>();
  const channels = new Map<number, { topic: string; schema: string }>();
  for await (const block of blocksOf(path)) {
    reader.append(block);
    for (let record = nextRecord(reader, path); record !== undefined; record = nextRecord(reader, path)) {
      if (record.type === "Schema") schemas.set(record.id, record.name);
      else if (record.type === "Channel")
        channels.set(record.id, { topic: record.topic, schema: schemas.get(record.schemaId) ?? "" });
      else if (record.type === "Metadata") options.onMetadata?.(record.name, record.metadata);
      else if (record.type === "Message") {
        const channel = channels.get(record.channelId);
        if (channel && (options.topics === undefined || options.topics.includes(channel.topic)))
          yield { ...channel, time_ns: record.logTime, data: record.data };
      }
    }
  }
  if (!reader.done()) options.onCut?.();
}

async function* blocksOf(path: string): AsyncGenerator<Uint8Array> {
  const file = await open(path, "r").catch((cause: NodeJS.ErrnoException) => {
    throw new Skill2RealError("not_found", `the recording ${path} cannot be read (${cause.code})`, { cause });
  });
  try {
    for (;;) {
      const { buffer, bytesRead } = await file.read(new Uint8Array(BLOCK_BYTES), 0, BLOCK_BYTES, null);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

function nextRecord(reader: McapStreamReader, path: string): ReturnType<McapStreamReader["nextRecord"]> {
  try {
    return reader.nextRecord();
  } catch (cause) {
    throw new Skill2RealError(
      "protocol_mismatch",
      `${path} is not a recording, or is damaged: ${(cause as Error).message}`,
      { cause },
    );
  }
}
