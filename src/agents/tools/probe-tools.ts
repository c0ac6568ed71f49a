import { z } from "zod";
import { Skill2RealError } from "../../contract/errors.js";
import { ServerConnection } from "./connection.js";
import { allowedTools, type NamelessTool, named } from "./list-tools.js";
import { foreignToolSchema, toolServerSchema } from "./settings.js";
import { words } from "./words.js";

/** The most functions that servers may add to a program's. */
const MOST_TOOLS = 64;

export const askedServerSchema = toolServerSchema.extend({
  /** Names of tools, or "*". */
  allowed: z.array(z.string()),
  /** Why it cannot even be asked (a variable that is not set); null where it can. */
  trouble: z.string().nullable(),
});
export type AskedServer = z.output<typeof askedServerSchema>;

export const probedToolsSchema = z.strictObject({
  tools: z.array(foreignToolSchema),
  /** Those that answered. */
  servers: z.array(toolServerSchema),
  /** In words, by server: what it gives, or why it gives nothing. */
  report: z.array(z.strictObject({ server: z.string(), tools: z.number().int(), why: z.string() })),
});
export type ProbedTools = z.output<typeof probedToolsSchema>;

/** Starts or reaches every server and asks for its tools, all at once, within a deadline. Never throws for one that is not there. */
export async function probeTools(asked: readonly AskedServer[], deadline_s: number): Promise<ProbedTools> {
  const found = await Promise.all(asked.map((server) => probe(server, deadline_s)));
  const answered = found.filter(({ tools }) => tools.length > 0);
  const tools = named(answered.flatMap((one) => one.tools));
  if (tools.length > MOST_TOOLS)
    throw new Skill2RealError(
      "bad_config",
      `the servers of [mcp] give ${tools.length} tools; a program can have ${MOST_TOOLS}: name the ones it needs in "tools"`,
    );
  return {
    tools,
    servers: answered.map(({ server: { allowed: _allowed, trouble: _trouble, ...server } }) => server),
    report: found.map(({ server, tools, why }) => ({ server: server.name, tools: tools.length, why })),
  };
}

type Found = { server: AskedServer; tools: NamelessTool[]; why: string };

async function probe(server: AskedServer, deadline_s: number): Promise<Found> {
  if (server.trouble !== null) return { server, tools: [], why: server.trouble };
  const asked = { signal: AbortSignal.timeout(deadline_s * 1e3), deadline_ms: deadline_s * 1e3 };
  let connection: ServerConnection | null = null;
  try {
    connection = await ServerConnection.open(server, asked);
    const { tools, lacking } = allowedTools(server.name, await connection.tools(asked), server.allowed);
    return { server, tools, why: lacking.join("; ") || (tools.length === 0 ? "it lists no tool" : "") };
  } catch (error) {
    const why = asked.signal.aborted ? `it did not answer within ${deadline_s} s` : words(error, server);
    return { server, tools: [], why: `${why}${connection?.lastWords ?? ""}` };
  } finally {
    await connection?.close();
  }
}
