import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  type CallToolResult,
  CallToolResultSchema,
  ListToolsResultSchema,
  type Tool,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { boundedBodies } from "./bounded-bodies.js";
import { ProcessTransport } from "./process-transport.js";
import type { ToolServer } from "./settings.js";
import { masked } from "./words.js";

/** Bytes of one message of a server. */
export const MOST_BYTES = 4_000_000;
const MOST_PAGES = 20;
const LAST_WORDS = 300;
/** The longest that an end is waited for. */
const CLOSE_MS = 2_000;

export type Asked = { signal: AbortSignal; deadline_ms: number };

/** A conversation with one foreign server, in the role of a client that offers nothing. */
export class ServerConnection {
  /** Whether anything can still be asked of it. */
  open = true;
  /** Whether it ended for sending too much. */
  flooded = false;
  readonly #client: Client;
  readonly #transport: ProcessTransport | StreamableHTTPClientTransport;
  readonly #server: ToolServer;
  #listed: Tool[] | null = null;
  /** How often it said that its tools changed. */
  #changes = 0;

  private constructor(server: ToolServer) {
    const { reach } = server;
    this.#server = server;
    this.#client = new Client({ name: "skill2real", version: "0.1" }, { capabilities: {} });
    const flooded = (): void => {
      this.flooded = true;
      void this.close();
    };
    if (reach.kind === "stdio") {
      this.#transport = new ProcessTransport({ ...reach, maxBytes: MOST_BYTES });
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
    this.#client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      this.#changes += 1;
      this.#listed = null;
    });
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

  /** What it said last on its standard error, in one line, masked as a whole before it is shortened. */
  get lastWords(): string {
    const said = this.#transport instanceof ProcessTransport ? this.#transport.said : "";
    const words = masked(said, this.#server).replace(/\s+/g, " ").trim().slice(-LAST_WORDS);
    return words === "" ? "" : `; its last words: ${words}`;
  }

  /** Its tools: asked for once, and again after it said that they changed. */
  async listed(asked: Asked): Promise<readonly Tool[]> {
    while (this.#listed === null) {
      const before = this.#changes;
      const tools = await this.tools(asked);
      if (this.#changes === before) this.#listed = tools;
    }
    return this.#listed;
  }

  /** Asks for its tools now. */
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

  /** Never rejects; a process that does not end by itself is killed. */
  async close(): Promise<void> {
    this.open = false;
    await Promise.race([this.#client.close().catch(() => {}), pause(CLOSE_MS)]);
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());
const options = ({ signal, deadline_ms }: Asked) => ({ signal, timeout: deadline_ms, maxTotalTimeout: deadline_ms });

/** The client's own deadline begins once a request is written, which a server that reads nothing can hold up. */
export function inTime<T>(work: Promise<T>, { signal }: Asked): Promise<T> {
  work.catch(() => {});
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
