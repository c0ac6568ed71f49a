/** A fetch whose bodies end at a size; `flooded` is told before the reader gets the error. */
export function boundedBodies(
  most: number,
  flooded: () => void,
): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (!response.body) return response;
    let bytes = 0;
    const bounded = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength;
        if (bytes <= most) return controller.enqueue(chunk);
        flooded();
        controller.error(new Error(`the answer is beyond the maximum size of ${most} bytes`));
      },
    });
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(bounded), { status, statusText, headers });
  };
}
