import { z } from "zod";
import { fromTo, notes, text } from "./parts.js";

/** Names of servers become part of the names of functions. */
const SERVER_NAME = /^[a-z][a-z0-9_]{0,23}$/;
const MOST_SERVERS = 16;

const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/);

const server = z
  .strictObject({
    command: text.optional().meta(notes("Program to start, which speaks MCP on its standard input and output.")),
    args: z.array(z.string().max(1000)).max(64).default([]).meta(notes("Its arguments.")),
    env: z
      .array(variable)
      .max(64)
      .default([])
      .meta(notes("Names of environment variables that it is given. It sees PATH, HOME and the like anyway.")),
    cwd: text.optional().meta(notes("Its working folder. Left out: that of this file.")),
    url: text.optional().meta(notes("In place of a command: address of a server that speaks streamable HTTP.")),
    token_env: variable
      .optional()
      .meta(notes("Environment variable that holds the token for this address. The token itself is never in a file.")),
    tools: z.array(text).min(1).max(64).meta(notes('Which of its tools programs may call, by name; ["*"]: all.')),
    deadline_s: fromTo(0.1, 300).default(30).meta(notes("Wall time of one call, its start included [s].")),
  })
  .check(({ value, issues }) => {
    const refuse = (path: string[], message: string): void =>
      void issues.push({ code: "custom", path, input: undefined, message });
    const { command, url, args, env, cwd, token_env } = value;
    if ((command === undefined) === (url === undefined)) return refuse([], "needs one of command and url.");
    if (url !== undefined && !/^https?:\/\/[^/?@\s]+([/?]|$)/.test(url))
      return refuse(["url"], "must be an address that begins with http:// or https:// and holds no password");
    const lone = url === undefined ? { token_env } : { args: args[0], env: env[0], cwd };
    const other = Object.entries(lone).find(([, given]) => given !== undefined);
    if (other) refuse([other[0]], `goes with ${url === undefined ? "url" : "command"}`);
  });

/** `[mcp]`: servers whose tools programs may call, by name. */
export const mcpSchema = z.strictObject({
  servers: z
    .record(z.string(), server)
    .check(({ value, issues }) => {
      const names = Object.keys(value);
      const wrong = names.find((name) => !SERVER_NAME.test(name));
      const message =
        wrong !== undefined
          ? `holds "${wrong}": a server's name is a letter, then up to 23 lower-case letters, digits and underscores`
          : names.length > MOST_SERVERS
            ? `holds ${names.length} servers; the most are ${MOST_SERVERS}`
            : null;
      if (message !== null) issues.push({ code: "custom", path: [], input: value, message });
    })
    .default({})
    .meta(
      notes(
        'Servers of the Model Context Protocol, each a table [mcp.servers.NAME] with "command" or "url", and the "tools" that programs may call once the skill "mcp" is enabled.',
      ),
    ),
  probe_s: fromTo(0.1, 120)
    .default(10)
    .meta(notes("Time in which a server must start and list its tools before an episode [s].")),
});

export type McpConfig = z.output<typeof mcpSchema>;
export type McpServerConfig = McpConfig["servers"][string];
