import type { CallToolResult, Tool } from "@modelcontextprotocol/sdk/types.js";
import { OperationFailure } from "../../runtime/operation.js";
import { type JsonCheck, jsonCheck } from "./check-json.js";
import { type Asked, inTime, ServerConnection } from "./connection.js";
import { isSame } from "./list-tools.js";
import type { ForeignTool, ToolServer } from "./settings.js";
import { type ToolCaller, type ToolFields, toolFailure } from "./tool-caller.js";
import { words } from "./words.js";

/** Characters that a program gets of an answer. */
const MOST_TEXT = 16_000;
const MOST_STRUCTURED = 64_000;
const ERROR_TEXT = 2_000;

/** Asks the servers themselves. One is started or reached at the first call of a tool of it, and again after it was lost. */
export class LiveTools implements ToolCaller {
  readonly #servers: ReadonlyMap<string, ToolServer>;
  readonly #connections = new Map<string, ServerConnection>();
  /** Servers that are being started or reached: calls side by side share one. */
  readonly #opening = new Map<string, Promise<ServerConnection>>();
  readonly #outputs = new Map<string, JsonCheck>();
  readonly #closing = new Set<Promise<void>>();

  constructor(servers: readonly ToolServer[]) {
    this.#servers = new Map(servers.map((server) => [server.name, server]));
  }

  async call(tool: ForeignTool, request: Record<string, unknown>, signal: AbortSignal): Promise<ToolFields> {
    const server = this.#servers.get(tool.server);
    if (!server) throw toolFailure("unreachable", `no server "${tool.server}" is configured`);
    const late = AbortSignal.timeout(server.deadline_s * 1e3);
    const asked = { signal: AbortSignal.any([signal, late]), deadline_ms: server.deadline_s * 1e3 };
    let connection: ServerConnection | null = null;
    let stage: "unreachable" | "bad_reply" = "unreachable";
    let listed = false;
    try {
      connection = await this.#connection(server, asked);
      stage = "bad_reply";
      const tools = await connection.listed(asked);
      listed = true;
      this.#refuseChanged(connection, tool, tools);
      const answer = await connection.call(tool.tool, request, asked);
      if (answer.isError === true) await this.#refuseGone(connection, tool, asked);
      return this.#fields(tool, answer);
    } catch (error) {
      if (error instanceof OperationFailure) throw error;
      const lost = connection !== null && !connection.open;
      // One that does not say what it has is not asked any further.
      if (connection && (signal.aborted || late.aborted || !listed)) this.#drop(server.name, connection);
      if (signal.aborted)
        throw new OperationFailure(
          "stopped",
          `the call of ${tool.function_name} was given up: the program is being ended`,
        );
      if (late.aborted)
        throw toolFailure("no_answer", `the server "${server.name}" did not answer within ${server.deadline_s} s`);
      const said = `${words(error, server)}${connection?.lastWords ?? ""}`;
      if (connection?.flooded)
        throw toolFailure("too_large", `the answer of "${server.name}" was too large to be read`);
      if (lost) throw toolFailure("lost", `the server "${server.name}" ended: ${said}`);
      if (connection && listed) await this.#refuseGone(connection, tool, asked);
      throw toolFailure(
        stage,
        `the server "${server.name}" ${stage === "unreachable" ? "cannot be reached" : "refused"}: ${said}`,
      );
    }
  }

  /** Ends all conversations; the next call begins them anew. */
  async close(): Promise<void> {
    for (const [name, connection] of [...this.#connections]) this.#drop(name, connection);
    await Promise.all(this.#closing);
  }

  async #connection(server: ToolServer, asked: Asked): Promise<ServerConnection> {
    for (;;) {
      const known = this.#connections.get(server.name);
      if (known?.open) return known;
      if (known) this.#drop(server.name, known);
      const opening = this.#opening.get(server.name);
      if (!opening) break;
      // Another call's: where it fails or is given up, this one tries for itself.
      await inTime(
        opening.catch(() => {}),
        asked,
      );
    }
    const opening = this.#open(server, asked);
    this.#opening.set(server.name, opening);
    return opening;
  }

  async #open(server: ToolServer, asked: Asked): Promise<ServerConnection> {
    try {
      const fresh = await ServerConnection.open(server, asked);
      this.#connections.set(server.name, fresh);
      return fresh;
    } finally {
      this.#opening.delete(server.name);
    }
  }

  /** A tool that is not what programs were checked against is not called, and its server has to begin anew. */
  #refuseChanged(connection: ServerConnection, tool: ForeignTool, listed: readonly Tool[]): void {
    const now = listed.find(({ name }) => name === tool.tool);
    if (!now) throw toolFailure("gone", `the server "${tool.server}" has no tool "${tool.tool}" any more`);
    if (isSame(tool, now)) return;
    this.#drop(tool.server, connection);
    throw toolFailure(
      "changed",
      `the tool "${tool.tool}" of "${tool.server}" is not what it was when the episode began`,
    );
  }

  /** A refused call may mean that the tool has gone: the server's list tells. */
  async #refuseGone(connection: ServerConnection, tool: ForeignTool, asked: Asked): Promise<void> {
    const listed = await connection.tools(asked).catch(() => null);
    if (listed && !listed.some(({ name }) => name === tool.tool))
      throw toolFailure("gone", `the server "${tool.server}" has no tool "${tool.tool}" any more`);
  }

  #fields(tool: ForeignTool, { content, structuredContent, isError }: CallToolResult): ToolFields {
    const all = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
    const others = new Map<string, number>();
    for (const { type } of content) if (type !== "text") others.set(type, (others.get(type) ?? 0) + 1);
    const left_out = [...others].map(([type, many]) => `${many} ${PARTS[type] ?? "part"}${many === 1 ? "" : "s"}`);
    if (all.length > MOST_TEXT) left_out.push(`text beyond ${MOST_TEXT} of ${all.length} characters`);
    if (isError === true)
      throw toolFailure(
        "tool_error",
        `the tool "${tool.tool}" says that it failed: text has its words`,
        all.slice(0, ERROR_TEXT),
      );
    const structured = structuredContent ?? null;
    const size = JSON.stringify(structured).length;
    if (size > MOST_STRUCTURED)
      throw toolFailure(
        "too_large",
        `the tool "${tool.tool}" gave ${size} characters of structured content; the most are ${MOST_STRUCTURED}`,
      );
    const wrong = this.#wrong(tool, structured);
    if (wrong !== null)
      throw toolFailure("bad_reply", `the tool "${tool.tool}" gave what its own schema forbids: ${wrong}`);
    return { text: all.slice(0, MOST_TEXT), structured, left_out: left_out.join(", ") };
  }

  #wrong(tool: ForeignTool, structured: unknown): string | null {
    if (tool.output === null) return null;
    if (structured === null) return "there is no structured content";
    const known = this.#outputs.get(tool.function_name) ?? jsonCheck(tool.output);
    this.#outputs.set(tool.function_name, known);
    return known(structured);
  }

  #drop(name: string, connection: ServerConnection): void {
    if (this.#connections.get(name) === connection) this.#connections.delete(name);
    const closing = connection.close();
    this.#closing.add(closing);
    void closing.finally(() => this.#closing.delete(closing));
  }
}

const PARTS: Readonly<Record<string, string>> = {
  image: "image",
  audio: "sound",
  resource: "resource",
  resource_link: "link",
};
