import { type FileHandle, open } from "node:fs/promises";
import zstd from "@foxglove/wasm-zstd";
import { McapWriter } from "@mcap/core";
import { Skill2RealError } from "../../contract/errors.js";
import type { TraceSchema } from "./schemas.js";

const CHUNK_BYTES = 4 << 20;
const ZSTD_LEVEL = 1;

/** Bytes that may wait to be written; beyond that the file counts as failed, rather than memory growing without bound. */
const MOST_WAITING_BYTES = 512 << 20;

/**
 * One MCAP file, written in order by a queue: `add` returns at once. The first error (a full disk, a folder that is gone) is
 * kept in `failed`; nothing is written after it.
 */
export class McapFile {
  readonly #handle: FileHandle;
  readonly #writer: McapWriter;
  readonly #channels = new Map<string, Promise<number>>();
  readonly #schemas = new Map<string, Promise<number>>();
  #queue: Promise<void> = Promise.resolve();
  #waiting_bytes = 0;
  #sequence = 0;
  #failed: Error | null = null;

  private constructor(handle: FileHandle, writer: McapWriter) {
    this.#handle = handle;
    this.#writer = writer;
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
    const writer = new McapWriter({
      writable,
      chunkSize: CHUNK_BYTES,
      compressChunk: (data) => ({ compression: "zstd", compressedData: zstd.compress(data, ZSTD_LEVEL) }),
    });
    const file = new McapFile(handle, writer);
    file.#enqueue(0, () => writer.start({ profile: "", library: "skill2real" }));
    return file;
  }

  get failed(): Error | null {
    return this.#failed;
  }

  add(topic: string, schema: TraceSchema, message: Record<string, unknown>, time_ns: bigint): void {
    if (this.#failed) return;
    const data = schema.encode(message);
    if (this.#waiting_bytes + data.byteLength > MOST_WAITING_BYTES) {
      this.#failed = new Error(`the disk is too slow: more than ${MOST_WAITING_BYTES >> 20} MiB wait to be written`);
      return;
    }
    this.#enqueue(data.byteLength, async () => {
      const channelId = await this.#channel(topic, schema);
      this.#sequence += 1;
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
