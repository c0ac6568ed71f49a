import type { ErrorCode } from "../../contract/error-codes.js";

/** Bytes of a reply, headers apart. A program is a few kilobytes. */
export const MAX_REPLY_BYTES = 2_000_000;

/** Why a body was given up. */
export class BoundedBody extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.name = "BoundedBody";
    this.code = code;
  }
}

export type BoundedFetchOptions = {
  /** Between two pieces of a body. */
  idle_ms: number;
  max_bytes?: number;
  /** What of the endpoint's words may be shown. */
  shown?: (text: string) => string;
};

/** A fetch whose bodies end: too large, silent too long, or of a kind that no model's reply has. */
export function boundedFetch({
  idle_ms,
  max_bytes = MAX_REPLY_BYTES,
  shown = String,
}: BoundedFetchOptions): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const type = response.headers.get("content-type") ?? "";
    if (response.ok && !/json|event-stream/i.test(type)) {
      await response.body?.cancel();
      throw new BoundedBody(
        "model_bad_reply",
        `the answer is of type "${shown(type).slice(0, 80)}", not JSON or events; is model.base_url right?`,
      );
    }
    if (!response.body) return response;
    const body = response.body.pipeThrough(limited(idle_ms, max_bytes));
    return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers });
  };
}

function limited(idle_ms: number, max_bytes: number): TransformStream<Uint8Array, Uint8Array> {
  let timer: NodeJS.Timeout | undefined;
  let bytes = 0;
  const watch = (controller: TransformStreamDefaultController<Uint8Array>): void => {
    clearTimeout(timer);
    timer = setTimeout(
      () =>
        controller.error(
          new BoundedBody("model_timeout", `nothing came for ${idle_ms / 1e3} s in the middle of a reply`),
        ),
      idle_ms,
    );
    // A body that nobody reads any more must not keep the process.
    timer.unref();
  };
  return new TransformStream<Uint8Array, Uint8Array>({
    start: watch,
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > max_bytes) {
        clearTimeout(timer);
        controller.error(new BoundedBody("model_reply_too_large", `the reply is larger than ${max_bytes} bytes`));
        return;
      }
      watch(controller);
      controller.enqueue(chunk);
    },
    flush: () => clearTimeout(timer),
  });
}
