import { randomUUID, timingSafeEqual } from "node:crypto";
import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import {
  CallToolRequestSchema,
  ErrorCode,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { RobotTools } from "./robot-tools.js";

const INSTRUCTIONS =
  "Operations of a robot arm as tools, with pictures in their results. Look before you move, and look again before you claim. run_program takes a whole TypeScript program; api documents everything.";

/** An MCP server over the robot's tools. */
export function createMcpServer(tools: RobotTools, version: string): Server {
  const server = new Server(
    { name: "skill2real", version },
    { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.tools() }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => tools.call(params.name, params.arguments ?? {}));
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: tools.resources() }));
  server.setRequestHandler(ReadResourceRequestSchema, async ({ params }) => {
    const found = await tools.read(params.uri);
    if (!found) throw new McpError(ErrorCode.InvalidParams, `there is no resource ${params.uri}`);
    return found;
  });
  return server;
}

/** Serves whoever is on the other end of standard input and output; resolves when that end is gone. */
export async function serveStdio(server: Server): Promise<void> {
  const transport = new StdioServerTransport();
  const ended = new Promise<void>((resolve) => {
    server.onclose = resolve;
    process.stdin.once("end", resolve);
  });
  await server.connect(transport);
  await ended;
}

export type HttpService = { url: string; close: () => Promise<void> };

/**
 * Streamable HTTP on loopback, for one owner: a bearer token, one session at a time, and only requests that name loopback as
 * their host, so that no page of a browser can reach it by another name.
 */
export async function serveHttp(make: () => Server, token: string, port: number): Promise<HttpService> {
  let transport: StreamableHTTPServerTransport | null = null;
  let starting = false;
  const http: HttpServer = createServer((request, response) => {
    void handle(request, response).catch(() => {
      if (!response.headersSent) refuse(response, 500, "the request failed");
    });
  });
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (!isLoopback(request.headers.host)) return refuse(response, 403, "this service answers on loopback alone");
    if (!holds(request.headers.authorization, token))
      return refuse(response, 401, "give the token: Authorization: Bearer …");
    const session = request.headers["mcp-session-id"];
    if (session === undefined) {
      if (transport || starting)
        return refuse(response, 409, "the robot has an owner already; it must end its session first");
      starting = true;
      try {
        const fresh = await begin();
        await fresh.handleRequest(request, response);
        // Whatever was no beginning of a session makes nobody the owner.
        if (fresh.sessionId === undefined) await fresh.close();
        else transport = fresh;
      } finally {
        starting = false;
      }
      return;
    }
    if (session !== transport?.sessionId) return refuse(response, 404, "there is no such session");
    await transport.handleRequest(request, response);
  };
  const begin = async (): Promise<StreamableHTTPServerTransport> => {
    const fresh = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID });
    const server = make();
    server.onclose = () => {
      if (transport === fresh) transport = null;
    };
    // The SDK's own type asks for exact optional properties that this class does not declare.
    await server.connect(fresh as unknown as Parameters<Server["connect"]>[0]);
    return fresh;
  };
  await new Promise<void>((resolve, reject) => {
    http.once("error", reject);
    http.listen(port, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    close: async () => {
      await transport?.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", error: { code: -32000, message }, id: null }));
}

const isLoopback = (host: string | undefined): boolean => /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(host ?? "");

function holds(header: string | undefined, token: string): boolean {
  const given = Buffer.from(header ?? "");
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
