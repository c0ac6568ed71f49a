import { Skill2RealError } from "../../contract/errors.js";
import type { CameraEvent, CaptureInfo, CaptureListener } from "./camera-process.js";

/** What the process tells, for those who wait: the first frame, the next frame, the fault, the end. */
export class CaptureLink implements CaptureListener {
  readonly #name: string;
  readonly #faultListeners = new Set<(fault: Skill2RealError) => void>();
  readonly #eventListeners = new Set<(event: CameraEvent) => void>();
  readonly #waiters = new Set<() => void>();
  #info: CaptureInfo | undefined;
  fault: Skill2RealError | null = null;

  constructor(name: string) {
    this.#name = name;
  }

  ready(info: CaptureInfo): void {
    this.#info = info;
    this.#wake();
  }

  recovery(event: CameraEvent): void {
    for (const listener of this.#eventListeners) listener(event);
  }

  frame(): void {
    this.#wake();
  }

  end(): void {
    this.#wake();
  }

  onFault(listener: (fault: Skill2RealError) => void): () => void {
    if (this.fault) listener(this.fault);
    else this.#faultListeners.add(listener);
    return () => this.#faultListeners.delete(listener);
  }

  onEvent(listener: (event: CameraEvent) => void): () => void {
    this.#eventListeners.add(listener);
    return () => this.#eventListeners.delete(listener);
  }

  async opened(timeout_ms: number): Promise<CaptureInfo> {
    const until = performance.now() + timeout_ms;
    for (;;) {
      if (this.fault) throw this.fault;
      if (this.#info) return this.#info;
      const left_ms = until - performance.now();
      if (left_ms <= 0)
        throw new Skill2RealError("deadline_exceeded", `camera "${this.#name}" gave no frame within ${timeout_ms} ms`);
      await this.frameWithin(left_ms);
    }
  }

  /** Resolves at the next frame, fault or end, and after `timeout_ms` at the latest. */
  frameWithin(timeout_ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#waiters.delete(done);
        resolve();
      };
      const timer = setTimeout(done, Math.max(0, timeout_ms));
      this.#waiters.add(done);
    });
  }

  /** The work's result, or null where it is not done in time. */
  async within<T>(work: Promise<T>, timeout_ms: number): Promise<T | null> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), Math.max(0, timeout_ms));
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  failed(error: Skill2RealError): void {
    this.fault = error;
    for (const listener of this.#faultListeners) listener(error);
    this.#faultListeners.clear();
    this.#wake();
  }

  #wake(): void {
    for (const waiter of [...this.#waiters]) waiter();
  }
}
