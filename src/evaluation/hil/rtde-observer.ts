import { connect, type Socket } from "node:net";
import { CheckFailed } from "./check.js";

/*
 * A small client of the controller's real-time data exchange (version 2), of its own making so that it can contradict
 * the driver: it only reads. Packages are: uint16 size, uint8 type, payload; big-endian. Types are letters.
 * Source: Universal Robots, "Real-Time Data Exchange (RTDE) Guide".
 */
const TYPE = { version: 0x56, urcontrol: 0x76, outputs: 0x4f, start: 0x53, data: 0x55, text: 0x4d } as const;
const RTDE_PORT = 30004;
const VERSION = 2;

const COUNTS: Record<string, { bytes: number; count: number; read: (view: DataView, at: number) => number }> = {
  DOUBLE: { bytes: 8, count: 1, read: (view, at) => view.getFloat64(at) },
  VECTOR6D: { bytes: 8, count: 6, read: (view, at) => view.getFloat64(at) },
  VECTOR3D: { bytes: 8, count: 3, read: (view, at) => view.getFloat64(at) },
  UINT32: { bytes: 4, count: 1, read: (view, at) => view.getUint32(at) },
  INT32: { bytes: 4, count: 1, read: (view, at) => view.getInt32(at) },
};

/** One package of the controller; `arrival_s` is CLOCK_MONOTONIC, `timestamp` the controller's own clock. */
export type RtdeSample = { arrival_s: number; values: Record<string, number[]> };

const monotonic_s = (): number => Number(process.hrtime.bigint()) / 1e9;

export class RtdeObserver {
  /** Major, minor, bugfix and build of the controller's software. */
  readonly controller: readonly number[];
  readonly samples: RtdeSample[] = [];
  readonly #socket: Socket;
  readonly #names: readonly string[];
  readonly #types: readonly string[];
  #most: number;

  /** Connects, negotiates version 2, and starts to receive `variables`; throws `CheckFailed` naming the step that was not answered. */
  static async open(
    host: string,
    variables: readonly string[],
    { hz = 125, keep = 20_000, timeoutMs = 5000 } = {},
  ): Promise<RtdeObserver> {
    const socket = connect({ host, port: RTDE_PORT });
    const reader = new PackageReader(socket);
    const ask = async (type: number, payload: Buffer, what: string): Promise<Buffer> => {
      socket.write(packed(type, payload));
      return reader.next(type, timeoutMs, what);
    };
    try {
      await reader.connected(timeoutMs);
      const version = Buffer.alloc(2);
      version.writeUInt16BE(VERSION);
      if ((await ask(TYPE.version, version, "the protocol's version"))[0] !== 1)
        throw new CheckFailed(`the controller refuses version ${VERSION} of its data exchange`);
      const about = await ask(TYPE.urcontrol, Buffer.alloc(0), "the controller's version");
      const controller = [0, 4, 8, 12].map((at) => about.readUInt32BE(at));
      const recipe = Buffer.alloc(8);
      recipe.writeDoubleBE(hz);
      const answer = await ask(TYPE.outputs, Buffer.concat([recipe, Buffer.from(variables.join(","))]), "the outputs");
      const types = answer.subarray(1).toString().split(",");
      const unknown = variables.filter((_, index) => !(types[index] && types[index] in COUNTS));
      if (unknown.length > 0)
        throw new CheckFailed(`the controller does not give ${unknown.join(", ")} (${types.join(",")})`);
      if ((await ask(TYPE.start, Buffer.alloc(0), "the start"))[0] !== 1)
        throw new CheckFailed("the controller does not start its data exchange");
      return new RtdeObserver(socket, reader, controller, variables, types, keep);
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }

  private constructor(
    socket: Socket,
    reader: PackageReader,
    controller: number[],
    names: readonly string[],
    types: readonly string[],
    keep: number,
  ) {
    this.#socket = socket;
    this.controller = controller;
    this.#names = names;
    this.#types = types;
    this.#most = keep;
    reader.onPackage((type, payload) => {
      if (type === TYPE.data) this.#take(payload);
    });
  }

  #take(payload: Buffer): void {
    const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
    let at = 1; // the recipe's number
    const values: Record<string, number[]> = {};
    for (const [index, name] of this.#names.entries()) {
      const { bytes, count, read } = COUNTS[this.#types[index]!]!;
      values[name] = Array.from({ length: count }, (_, i) => read(view, at + i * bytes));
      at += bytes * count;
    }
    this.samples.push({ arrival_s: monotonic_s(), values });
    if (this.samples.length > this.#most) this.samples.splice(0, this.#most / 2);
  }

  /** The newest sample that arrived after this call. */
  async fresh(timeoutMs = 3000): Promise<RtdeSample> {
    const from_s = monotonic_s();
    const give_up_ms = performance.now() + timeoutMs;
    for (;;) {
      const newest = this.samples.at(-1);
      if (newest && newest.arrival_s > from_s) return newest;
      if (performance.now() > give_up_ms)
        throw new CheckFailed(`no data of the controller came within ${timeoutMs} ms`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  /**
   * When the controller made a sample, on this machine's clock: its own stamp, shifted by the quickest way that any sample took,
   * so that a busy event loop here does not count as slowness there. Needs `timestamp` among the variables.
   */
  madeAt({ values }: RtdeSample): number {
    let shift_s = Number.POSITIVE_INFINITY;
    for (const sample of this.samples)
      shift_s = Math.min(shift_s, sample.arrival_s - (sample.values.timestamp?.[0] ?? Number.NaN));
    return (values.timestamp?.[0] ?? Number.NaN) + shift_s;
  }

  close(): void {
    this.#socket.destroy();
  }
}

function packed(type: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(3);
  head.writeUInt16BE(3 + payload.length);
  head.writeUInt8(type, 2);
  return Buffer.concat([head, payload]);
}

class PackageReader {
  readonly #socket: Socket;
  readonly #waiting: { type: number; resolve: (payload: Buffer) => void }[] = [];
  #rest = Buffer.alloc(0);
  #listener: (type: number, payload: Buffer) => void = () => {};

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("error", () => {}); // its end is noticed by whoever waits
    socket.on("data", (bytes) => this.#receive(bytes));
  }

  connected(timeoutMs: number): Promise<void> {
    return within(timeoutMs, "nothing accepts at the controller's data exchange (port 30004)", (resolve, reject) => {
      this.#socket.once("connect", () => resolve());
      this.#socket.once("error", (error) => reject(new CheckFailed(`port 30004: ${error.message}`)));
    });
  }

  next(type: number, timeoutMs: number, what: string): Promise<Buffer> {
    return within(timeoutMs, `the controller does not answer ${what}`, (resolve) =>
      this.#waiting.push({ type, resolve }),
    );
  }

  onPackage(listener: (type: number, payload: Buffer) => void): void {
    this.#listener = listener;
  }

  #receive(bytes: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    while (this.#rest.length >= 3) {
      const size = this.#rest.readUInt16BE(0);
      if (size < 3 || this.#rest.length < size) return;
      const [type, payload] = [this.#rest[2]!, Buffer.from(this.#rest.subarray(3, size))];
      this.#rest = this.#rest.subarray(size);
      const index = this.#waiting.findIndex((one) => one.type === type);
      if (index >= 0) this.#waiting.splice(index, 1)[0]!.resolve(payload);
      else this.#listener(type, payload);
    }
  }
}

function within<T>(
  timeoutMs: number,
  message: string,
  start: (resolve: (value: T) => void, reject: (error: Error) => void) => unknown,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new CheckFailed(`${message} within ${timeoutMs} ms`)), timeoutMs);
    start(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

/** One question to the controller's dashboard (port 29999), which greets first; throws `CheckFailed`. */
export async function askDashboard(host: string, question: string, timeoutMs = 3000): Promise<string> {
  const socket = connect({ host, port: 29999 });
  let text = "";
  try {
    return await within<string>(timeoutMs, `the dashboard does not answer "${question}"`, (resolve, reject) => {
      socket.on("error", (error) => reject(new CheckFailed(`port 29999: ${error.message}`)));
      socket.on("data", (bytes) => {
        const greeted = text.includes("\n");
        text += bytes.toString();
        if (!greeted && text.includes("\n")) socket.write(`${question}\n`);
        const lines = text.split("\n");
        if (lines.length >= 3) resolve(lines[1]!.trim());
      });
    });
  } finally {
    socket.destroy();
  }
}

/** The first bytes that a port sends by itself; throws `CheckFailed` where it sends none in time. */
export async function firstBytes(
  host: string,
  port: number,
  enough: (bytes: Buffer) => boolean,
  timeoutMs = 4000,
): Promise<Buffer> {
  const socket = connect({ host, port });
  let bytes = Buffer.alloc(0);
  try {
    return await within<Buffer>(timeoutMs, `port ${port} sends nothing that it should`, (resolve, reject) => {
      socket.on("error", (error) => reject(new CheckFailed(`port ${port}: ${error.message}`)));
      socket.on("data", (more) => {
        bytes = Buffer.concat([bytes, more]);
        if (enough(bytes)) resolve(bytes);
      });
    });
  } finally {
    socket.destroy();
  }
}
