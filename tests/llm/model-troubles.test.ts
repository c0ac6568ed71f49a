/** Everything that can go wrong between us and a model, against a real HTTP server: bounded, counted, with a code of its own. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LiveModel } from "../../src/agents/llm/live-model.js";
import { TOOLS } from "../../src/agents/llm/llm-proposer.js";
import { textMessage } from "../../src/agents/llm/messages.js";
import { retryAfter } from "../../src/agents/llm/model-client.js";
import { type ModelSettings, modelSettingsSchema } from "../../src/agents/llm/settings.js";
import {
  answering,
  beginning,
  failing,
  flooding,
  type Handler,
  hanging,
  ModelEndpoint,
  saying,
  trickling,
} from "../support/model-endpoint.js";

let endpoint: ModelEndpoint;
beforeAll(async () => {
  endpoint = await ModelEndpoint.start();
});
afterAll(() => endpoint.close());

const settings = (fields: Partial<ModelSettings> = {}): ModelSettings =>
  modelSettingsSchema.parse({ base_url: endpoint.base_url, model: "m", api_key: "secret-key", retries: 0, ...fields });
const ask = (fields: Partial<ModelSettings> = {}, signal = new AbortController().signal) =>
  new LiveModel({ settings: settings(fields), folder: ".", tools: TOOLS }).complete(
    [textMessage("user", "go")],
    signal,
  );

describe.each([true, false])("an endpoint with stream %s", (stream) => {
  it("gives text, calls of tools and usage", async () => {
    endpoint.answer([
      saying("hello"),
      saying({ content: null, tool: { name: "finish", arguments: '{"claim":"partial"}' } }, "tool_calls"),
    ]);
    expect(await ask({ stream, price_in: 1, price_out: 2 })).toMatchObject({
      reply: { text: "hello", tool: null, finish_reason: "stop" },
      usage: { tokens_in: 1000, tokens_out: 50, counted: true },
      cost: 0.0011,
      troubles: [],
    });
    expect((await ask({ stream })).reply).toMatchObject({
      text: "",
      tool: { name: "finish", arguments: '{"claim":"partial"}' },
    });
    expect(endpoint.keys.at(-1)).toBe("Bearer secret-key");
  });

  const wrong: readonly (readonly [string, Handler, string, Partial<ModelSettings>?])[] = [
    ["hangs", hanging, "model_timeout", { timeout_s: 0.3 }],
    ["refuses the key", failing(401, "bad key"), "model_unauthorized"],
    ["takes no more requests", failing(429, "slow down", { "retry-after": "3600" }), "model_rate_limited"],
    ["fails", failing(503, "overloaded"), "model_server_error"],
    ["answers HTML", answering("text/html", "<html>hi</html>"), "model_bad_reply"],
    ["answers JSON that is none", answering("application/json", "{ nope"), "model_bad_reply"],
    ["sends 50 MB", answering("application/json", Buffer.alloc(50_000_000, 0x20)), "model_reply_too_large"],
    ["refuses images", failing(400, "this model does not support image input"), "model_image_refused"],
    ["has a smaller context", failing(400, "maximum context length is 2048 tokens"), "model_context_overflow"],
    ["refuses the request", failing(400, "unknown field"), "model_refused_request"],
  ];
  it.each(wrong.map(([name, handler, code, fields]) => ({ name, handler, code, fields })))(
    "that $name",
    async ({ handler, code, fields }) => {
      endpoint.answer([handler, handler]);
      const error = await ask({ stream, tools: "off", ...fields }).catch((cause: unknown) => cause);
      expect(error).toMatchObject({ code });
      expect((error as Error).message).not.toContain("secret-key");
    },
  );
});

it("a refused temperature says which one to set", async () => {
  endpoint.answer([failing(400, "Unsupported value: 'temperature' does not support 0.0 with this model.")]);
  await expect(ask({ tools: "off" })).rejects.toMatchObject({
    code: "model_refused_request",
    message: expect.stringMatching(/set model\.temperature = 1$/),
  });
});

describe("streams", () => {
  it.each([
    ["fall silent", beginning("silence"), "model_timeout"],
    ["are cut", beginning("cut"), "model_stream_cut"],
    ["never end", trickling, "model_timeout"],
    ["are 50 MB", flooding, "model_reply_too_large"],
    ["are JSON in one piece", answering("application/json", JSON.stringify({ choices: [] })), "model_bad_reply"],
  ])("that %s", async (_name, handler, code) => {
    endpoint.answer([handler]);
    await expect(ask({ idle_s: 0.3, timeout_s: 3 })).rejects.toMatchObject({ code });
  });
});

describe("further tries", () => {
  it("end a passing trouble, and are counted", async () => {
    endpoint.answer([failing(503, "busy"), failing(429, "slow", { "retry-after": "0.05" }), saying("at last")]);
    const { reply, troubles } = await ask({ retries: 2 });
    expect(reply.text).toBe("at last");
    expect(troubles).toEqual(["model_server_error", "model_rate_limited"]);
  });

  it("are not made for what no try ends, and not without end", async () => {
    endpoint.answer([], failing(401, "no"));
    await expect(ask({ retries: 5 })).rejects.toMatchObject({ code: "model_unauthorized" });
    expect(endpoint.requests).toHaveLength(1);
    endpoint.answer([], failing(500, "broken"));
    await expect(ask({ retries: 1, max_wait_s: 0.01 })).rejects.toMatchObject({ code: "model_server_error" });
    expect(endpoint.requests).toHaveLength(2);
  });

  it("go on without tools where the endpoint refuses them", async () => {
    endpoint.answer([failing(400, "tools are not supported by this model"), saying("plain"), saying("again")]);
    const model = new LiveModel({ settings: settings(), folder: ".", tools: TOOLS });
    const { signal } = new AbortController();
    expect((await model.complete([textMessage("user", "go")], signal)).reply.text).toBe("plain");
    await model.complete([textMessage("user", "go")], signal);
    expect(endpoint.requests.map(({ tools }) => tools?.length ?? 0)).toEqual([2, 0, 0]);
  });

  it("end at once when the episode is stopped", async () => {
    endpoint.answer([], failing(429, "slow", { "retry-after": "30" }));
    const stop = new AbortController();
    const asked = ask({ retries: 3 }, stop.signal);
    setTimeout(() => stop.abort(), 100);
    await expect(asked).rejects.toMatchObject({ code: "stopped" });
  });

  it("no endpoint at all", async () => {
    await expect(ask({ base_url: "http://127.0.0.1:9/v1" })).rejects.toMatchObject({ code: "model_unreachable" });
  });
});

describe("retryAfter", () => {
  it("reads seconds and dates", () => {
    expect(retryAfter("2.5")).toBe(2.5);
    expect(retryAfter("Mon, 30 Nov 2026 12:00:10 GMT", Date.parse("2026-11-30T12:00:00Z"))).toBe(10);
    expect(retryAfter("soon")).toBeNull();
    expect(retryAfter(null)).toBeNull();
  });
});

describe("what an endpoint says back", () => {
  const key = "sk-0123456789";
  const echo: readonly (readonly [string, Handler])[] = [
    ["in an error", failing(500, `bad ${"x".repeat(270)} ${key}`)],
    ["in a refusal", failing(400, `no ${key}`)],
    ["as the kind of its answer", answering(`${"x".repeat(70)}${key}`, "x")],
    ["as an answer that is no JSON", answering("application/json", key)],
  ];
  it.each(echo.map(([name, handler]) => ({ name, handler })))("$name shows no key", async ({ handler }) => {
    endpoint.answer([handler, handler]);
    const words = async (stream: boolean): Promise<string> =>
      ask({ stream, api_key: key, tools: "off" }).then(String, (error: Error) => error.message);
    for (const stream of [true, false]) expect(await words(stream)).not.toContain("sk-01");
  });

  it.each([true, false])("as a reply holds no key, with stream %s", async (stream) => {
    const given = { content: `it is ${key}`, tool: { name: "finish", arguments: `{"evidence":"${key}"}` } };
    endpoint.answer([saying(given, "tool_calls")]);
    expect((await ask({ stream, api_key: key })).reply).toMatchObject({
      text: "it is [key]",
      tool: { name: "finish", arguments: '{"evidence":"[key]"}' },
    });
  });

  it("does not meet a key that no header can carry: it is refused before, unseen", () => {
    for (const bad of ["sk-abc\ndef", "sk-ä", "sk abc"])
      expect(() => settings({ api_key: bad })).toThrow(/(?!.*sk-).*the key holds a character/s);
  });
});

describe("endpoints that differ", () => {
  it("take the limit of a reply under its newer name, once they say so", async () => {
    const model = new LiveModel({ settings: settings({ max_tokens: 77 }), folder: ".", tools: TOOLS });
    const { signal } = new AbortController();
    endpoint.answer([
      failing(400, "'max_tokens' is not supported. Use 'max_completion_tokens' instead."),
      saying("a"),
      saying("b"),
    ]);
    await model.complete([textMessage("user", "go")], signal);
    expect((await model.complete([textMessage("user", "go")], signal)).reply.text).toBe("b");
    expect(endpoint.requests.map((one) => [one.max_tokens, one.max_completion_tokens])).toEqual([
      [77, undefined],
      [undefined, 77],
      [undefined, 77],
    ]);
  });

  it("stream a call of a tool without its index", async () => {
    const call = { id: "a", type: "function", function: { name: "finish", arguments: "{}" } };
    const chunk = { choices: [{ delta: { tool_calls: [call] }, finish_reason: "tool_calls" }] };
    endpoint.answer([answering("text/event-stream", `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`)]);
    expect((await ask()).reply.tool).toEqual({ name: "finish", arguments: "{}" });
  });
});
