import { type FileHandle, open } from "node:fs/promises";
import zstd from "@foxglove/wasm-zstd";
import { McapWriter } from "@mcap/core";
import { Skill2RealError } from "../../contract/errors.js";
import type { TraceSchema } from "./schemas.js";

const CHUNK_BYTES = 4 << 20;
const ZSTD_LEVEL = 1;

/** Bytes that may wait to be written; beyond that the file counts as failed, rather than memory growing without bound. */
const MOST_WAITING_BYTES = 512 << 20;

/** The size at which a chunk ends, as a number that can change. */
class ChunkLimit {
  bytes = CHUNK_BYTES;

  valueOf(): number {
    return this.bytes;
  }
}

/**
 * One MCAP file, written in order by a queue: `add` returns at once. The first error (a full disk, a folder that is gone) is
 * kept in `failed`; nothing is written after it.
 */
export class McapFile {
  readonly #handle: FileHandle;
  readonly #writer: McapWriter;
  readonly #limit: ChunkLimit;
  readonly #channels = new Map<string, Promise<number>>();
  readonly #schemas = new Map<string, Promise<number>>();
  #queue: Promise<void> = Promise.resolve();
  #waiting_bytes = 0;
  #sequence = 0;
  #failed: Error | null = null;

  private constructor(handle: FileHandle, writer: McapWriter, limit: ChunkLimit) {
    this.#handle = handle;
    this.#writer = writer;
    this.#limit = limit;
  }

  /** Throws `storage_failed` where the file cannot be made. */
  static async create(path: string): Promise<McapFile> {
    await zstd.isLoaded;
    let handle: FileHandle;
    try {
      handle = await open(path, "wx", 0o600);
    } catch (cause) {
      throw new Skill2RealError(
        "storage_failed",
        `the trace cannot be made in the run's folder (${(cause as NodeJS.ErrnoException).code}): check that it exists, is writable and has space`,
        { cause },
      );
    }
    let position = 0n;
    const writable = {
      position: () => position,
      write: async (bytes: Uint8Array) => {
        await handle.appendFile(bytes);
        position += BigInt(bytes.byteLength);
      },
    };
    // The writer compares a chunk's size with this after each message, and has no other way to end a chunk.
    const limit = new ChunkLimit();
    const writer = new McapWriter({
      writable,
      chunkSize: limit as unknown as number,
      compressChunk: (data) => ({ compression: "zstd", compressedData: zstd.compress(data, ZSTD_LEVEL) }),
    });
    const file = new McapFile(handle, writer, limit);
    file.#enqueue(0, () => writer.start({ profile: "", library: "skill2real" }));
    return file;
  }

  get failed(): Error | null {
    return this.#failed;
  }

  /** `last`: ends the chunk with this message, so that `flush` brings it to the disk. */
  add(topic: string, schema: TraceSchema, message: Record<string, unknown>, time_ns: bigint, last = false): void {
    if (this.#failed) return;
    const data = schema.encode(message);
    if (this.#waiting_bytes + data.byteLength > MOST_WAITING_BYTES) {
      this.#failed = new Error(`the disk is too slow: more than ${MOST_WAITING_BYTES >> 20} MiB wait to be written`);
      return;
    }
    this.#enqueue(data.byteLength, async () => {
      const channelId = await this.#channel(topic, schema);
      this.#sequence += 1;
      this.#limit.bytes = last ? 0 : CHUNK_BYTES;
      await this.#writer.addMessage({
        channelId,
        sequence: this.#sequence,
        logTime: time_ns,
        publishTime: time_ns,
        data,
      });
    });
  }

  metadata(name: string, entries: Record<string, string>): void {
    this.#enqueue(0, () => this.#writer.addMetadata({ name, metadata: new Map(Object.entries(entries)) }));
  }

  /** All up to the last message that ended a chunk is on the disk. Never rejects: see `failed`. */
  async flush(): Promise<void> {
    this.#enqueue(0, () => this.#handle.datasync());
    await this.#queue;
  }

  /** Writes what waits and the index, and closes the file. Never rejects: see `failed`. */
  async close(): Promise<void> {
    this.#enqueue(0, () => this.#writer.end());
    await this.#queue;
    try {
      await this.#handle.close();
    } catch (error) {
      this.#failed ??= error as Error;
    }
  }

  #enqueue(bytes: number, work: () => Promise<unknown>): void {
    this.#waiting_bytes += bytes;
    this.#queue = this.#queue.then(async () => {
      try {
        if (!this.#failed) await work();
      } catch (error) {
        this.#failed = error as Error;
      } finally {
        this.#waiting_bytes -= bytes;
      }
    });
  }

  #channel(topic: string, schema: TraceSchema): Promise<number> {
    let channel = this.#channels.get(topic);
    if (!channel) {
      channel = this.#schema(schema).then((schemaId) =>
        this.#writer.registerChannel({ schemaId, topic, messageEncoding: "protobuf", metadata: new Map() }),
      );
      this.#channels.set(topic, channel);
    }
    return channel;
  }

  #schema(schema: TraceSchema): Promise<number> {
    let id = this.#schemas.get(schema.name);
    if (!id) {
      id = this.#writer.registerSchema({ name: schema.name, encoding: "protobuf", data: schema.data });
      this.#schemas.set(schema.name, id);
    }
    return id;
  }
}
