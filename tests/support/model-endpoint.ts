import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type ChatRequest = {
  model: string;
  stream?: boolean;
  tools?: { function: { name: string } }[];
  max_tokens?: number;
  max_completion_tokens?: number;
  messages: {
    role: string;
    content: string | ({ type: "text"; text: string } | { type: "image_url"; image_url: { url: string } })[];
  }[];
};
export type Answer = {
  response: ServerResponse;
  request: ChatRequest;
  headers: IncomingMessage["headers"];
  number: number;
};
/** Answers one request as it likes. */
export type Handler = (answer: Answer) => void | Promise<void>;

/** A real HTTP server that speaks OpenAI's chat completions, well or badly, as its handlers say. */
export class ModelEndpoint {
  readonly requests: ChatRequest[] = [];
  readonly keys: string[] = [];
  readonly #server: Server;
  #handlers: Handler[] = [];
  #always: Handler | null = null;

  private constructor() {
    this.#server = createServer((message, response) => void this.#serve(message, response));
  }

  static async start(): Promise<ModelEndpoint> {
    const endpoint = new ModelEndpoint();
    await new Promise<void>((resolve) => endpoint.#server.listen(0, "127.0.0.1", resolve));
    return endpoint;
  }

  get base_url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** One handler per request, in order; then `always`, or 500. */
  answer(handlers: Handler[], always: Handler | null = null): void {
    this.#handlers = [...handlers];
    this.#always = always;
    this.requests.length = 0;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk as Buffer);
    const request = JSON.parse(Buffer.concat(chunks).toString() || "{}") as ChatRequest;
    this.requests.push(request);
    this.keys.push(message.headers.authorization ?? "");
    const handler = this.#handlers.shift() ?? this.#always ?? failing(500, "no more answers");
    await handler({ response, request, headers: message.headers, number: this.requests.length });
  }
}

const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const USAGE = { prompt_tokens: 1000, completion_tokens: 50, total_tokens: 1050 };
type Message = { content?: string | null; refusal?: string; tool?: { name: string; arguments: string } };

/** The whole reply at once, as a stream or as one JSON object, whatever was asked for. */
export const saying =
  (
    said: string | Message | ((request: ChatRequest) => string | Message | Promise<string | Message>),
    finish = "stop",
  ): Handler =>
  async ({ response, request }) => {
    const given = typeof said === "function" ? await said(request) : said;
    const { content = null, refusal, tool } = typeof given === "string" ? { content: given } : given;
    const message = {
      role: "assistant",
      content,
      ...(refusal ? { refusal } : {}),
      ...(tool ? { tool_calls: [{ index: 0, id: "call_1", type: "function", function: tool }] } : {}),
    };
    const base = { id: "x", created: 1, model: request.model };
    if (!request.stream) {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(
        JSON.stringify({
          ...base,
          object: "chat.completion",
          choices: [{ index: 0, message, finish_reason: finish }],
          usage: USAGE,
        }),
      );
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const chunk = { ...base, object: "chat.completion.chunk" };
    response.write(event({ ...chunk, choices: [{ index: 0, delta: message, finish_reason: null }] }));
    response.write(event({ ...chunk, choices: [{ index: 0, delta: {}, finish_reason: finish }] }));
    response.write(event({ ...chunk, choices: [], usage: USAGE }));
    response.end("data: [DONE]\n\n");
  };

export const failing =
  (status: number, message: string, headers: Record<string, string> = {}): Handler =>
  ({ response }) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify({ error: { message, type: "error" } }));
  };

/** Takes the request and never answers. */
export const hanging: Handler = () => {};

/** Begins a stream and stays silent, or cuts it. */
export const beginning =
  (then: "silence" | "cut"): Handler =>
  ({ response, request }) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const delta = { role: "assistant", content: "I will " };
    response.write(
      event({
        id: "x",
        created: 1,
        model: request.model,
        object: "chat.completion.chunk",
        choices: [{ index: 0, delta, finish_reason: null }],
      }),
    );
    if (then === "cut") setTimeout(() => response.destroy(), 20);
  };

/** A stream that never falls silent and never ends. */
export const trickling: Handler = ({ response, request }) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const base = { id: "x", created: 1, model: request.model, object: "chat.completion.chunk" };
  const piece = event({ ...base, choices: [{ index: 0, delta: { content: "and " }, finish_reason: null }] });
  const timer = setInterval(() => response.write(piece), 20);
  response.once("close", () => clearInterval(timer));
};

/** A stream of far more than any program. */
export const flooding: Handler = async ({ response, request }) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const base = { id: "x", created: 1, model: request.model, object: "chat.completion.chunk" };
  const delta = { content: "x".repeat(100_000) };
  const piece = event({ ...base, choices: [{ index: 0, delta, finish_reason: null }] });
  const closed = new Promise<void>((resolve) => response.once("close", () => resolve()));
  for (let sent = 0; sent < 50_000_000 && !response.destroyed; sent += piece.length)
    if (!response.write(piece))
      await Promise.race([closed, new Promise<void>((resolve) => response.once("drain", () => resolve()))]);
  response.end();
};

export const answering =
  (type: string, body: string | Buffer): Handler =>
  ({ response }) => {
    response.writeHead(200, { "content-type": type });
    response.end(body);
  };
