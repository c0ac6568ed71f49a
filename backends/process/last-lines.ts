import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

/** Reads a stream by lines, passes them on and keeps the last ones. */
export class LastLines {
  readonly #kept: string[] = [];
  /** Resolves when the stream has ended and its last line was read. */
  readonly ended: Promise<void>;

  constructor(stream: Readable, count: number, onLine?: (line: string) => void) {
    const lines = createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY });
    lines.on("line", (line) => {
      this.#kept.push(line);
      if (this.#kept.length > count) this.#kept.shift();
      onLine?.(line);
    });
    this.ended = new Promise((resolve) => lines.on("close", resolve));
  }

  text(): string {
    return this.#kept.join("\n");
  }
}
