import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  type CallToolResult,
  CallToolResultSchema,
  ListToolsResultSchema,
  type Tool,
} from "@modelcontextprotocol/sdk/types.js";
import { boundedBodies } from "./bounded-bodies.js";
import type { ToolServer } from "./settings.js";

/** Bytes of one message of a server. */
export const MOST_BYTES = 4_000_000;
const MOST_PAGES = 20;
const LAST_WORDS = 300;
/** What a server may take to end by itself once it is not wanted any more. */
const END_MS = 500;

type Asked = { signal: AbortSignal; deadline_ms: number };

/** A conversation with one foreign server, in the role of a client that offers nothing. */
export class ServerConnection {
  /** Whether anything can still be asked of it. */
  open = true;
  /** Whether it ended for sending too much. */
  flooded = false;
  readonly #client: Client;
  readonly #transport: StdioClientTransport | StreamableHTTPClientTransport;
  #lastWords = "";

  private constructor({ reach }: ToolServer) {
    this.#client = new Client({ name: "skill2real", version: "0.1" }, { capabilities: {} });
    const flooded = (): void => {
      this.flooded = true;
      void this.close();
    };
    if (reach.kind === "stdio") {
      const { command, args, env, cwd } = reach;
      const transport = new StdioClientTransport({
        command,
        args,
        env,
        cwd,
        stderr: "pipe",
        maxBufferSize: MOST_BYTES,
      });
      transport.stderr?.on("data", (chunk) => {
        this.#lastWords = `${this.#lastWords}${chunk}`.slice(-LAST_WORDS);
      });
      this.#transport = transport;
    } else {
      this.#transport = new StreamableHTTPClientTransport(new URL(reach.url), {
        fetch: boundedBodies(MOST_BYTES, flooded),
        // A token goes to the configured address alone.
        requestInit: {
          redirect: "error",
          ...(reach.token === undefined ? {} : { headers: { authorization: `Bearer ${reach.token}` } }),
        },
      });
    }
    this.#client.onclose = () => {
      this.open = false;
    };
    this.#client.onerror = (error) => {
      if (/maximum size/.test(error.message)) flooded();
    };
  }

  /** Starts or reaches a server. Rejects where it does not answer in time or is none. */
  static async open(server: ToolServer, asked: Asked): Promise<ServerConnection> {
    const connection = new ServerConnection(server);
    try {
      await inTime(connection.#client.connect(connection.#transport as Transport, options(asked)), asked);
      return connection;
    } catch (error) {
      await connection.close();
      const said = error instanceof Error ? error.message : String(error);
      throw new Error(`${said}${connection.lastWords}`, { cause: error instanceof Error ? error.cause : undefined });
    }
  }

  /** What it said last on its standard error, in one line. */
  get lastWords(): string {
    const words = this.#lastWords.replace(/\s+/g, " ").trim();
    return words === "" ? "" : `; its last words: ${words}`;
  }

  async tools(asked: Asked): Promise<Tool[]> {
    const tools: Tool[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const params = cursor === undefined ? {} : { cursor };
      const asking = this.#client.request({ method: "tools/list", params }, ListToolsResultSchema, options(asked));
      const listed = await inTime(asking, asked);
      tools.push(...listed.tools);
      cursor = listed.nextCursor;
      if (cursor === undefined) break;
    }
    return tools;
  }

  call(tool: string, args: Record<string, unknown>, asked: Asked): Promise<CallToolResult> {
    const params = { name: tool, arguments: args };
    const asking = this.#client.request({ method: "tools/call", params }, CallToolResultSchema, options(asked));
    return inTime(asking, asked);
  }

  /** Never rejects. A process that does not end when its input ends is killed. */
  async close(): Promise<void> {
    this.open = false;
    const pid = this.#transport instanceof StdioClientTransport ? this.#transport.pid : null;
    const ended = this.#client.close().catch(() => {});
    await Promise.race([ended, pause(END_MS)]);
    if (pid === null) return;
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended.
    }
    await Promise.race([ended, pause(END_MS)]);
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());
const options = ({ signal, deadline_ms }: Asked) => ({ signal, timeout: deadline_ms, maxTotalTimeout: deadline_ms });

/** The client's own deadline begins once a request is written, which a server that reads nothing can hold up. */
function inTime<T>(work: Promise<T>, { signal }: Asked): Promise<T> {
  work.catch(() => {});
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
