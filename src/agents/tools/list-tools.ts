import type { Tool } from "@modelcontextprotocol/sdk/types.js";
import { canonicalJson, type Plain } from "../../config/lock/canonical-json.js";
import { suggest } from "../../contract/suggest.js";
import { jsonCheck } from "./check-json.js";
import type { ForeignTool } from "./settings.js";

/** Characters of a tool's schemas: what is larger has no place in a prompt. */
const MOST_SCHEMA = 32_000;
const DESCRIPTION_CHARS = 2_000;
const NAME_CHARS = 56;

export type NamelessTool = Omit<ForeignTool, "function_name">;

/** What is kept of a tool, as a server lists it. */
export const foreignTool = (server: string, tool: Tool): NamelessTool => ({
  server,
  tool: tool.name,
  description: (tool.description ?? tool.title ?? "").slice(0, DESCRIPTION_CHARS),
  input: tool.inputSchema as Record<string, unknown>,
  output: (tool.outputSchema as Record<string, unknown> | undefined) ?? null,
});

/** Whether a tool is still what programs and prompts were made from. */
export function isSame(known: ForeignTool, listed: Tool): boolean {
  const { function_name: _, ...before } = known;
  return canonicalJson(before as Plain) === canonicalJson(foreignTool(known.server, listed) as Plain);
}

/** Of what a server lists, what programs may call; `lacking` says in words what cannot be. */
export function allowedTools(
  server: string,
  listed: readonly Tool[],
  allowed: readonly string[],
): { tools: NamelessTool[]; lacking: string[] } {
  const names = listed.map(({ name }) => name);
  const lacking = allowed
    .filter((name) => name !== "*" && !names.includes(name))
    .map(
      (name) =>
        `it has no tool "${name}"${suggest(name, names) || `; it has ${names.slice(0, 8).join(", ") || "none"}`}`,
    );
  const tools: NamelessTool[] = [];
  for (const tool of listed) {
    if (!allowed.includes("*") && !allowed.includes(tool.name)) continue;
    const kept = foreignTool(server, tool);
    const why = unusable(kept);
    if (why === null) tools.push(kept);
    else lacking.push(`its tool "${tool.name.slice(0, 80)}" ${why}`);
  }
  return { tools, lacking };
}

function unusable({ tool, input, output }: NamelessTool): string | null {
  if (tool.length > 128) return "has a name of more than 128 characters";
  if (JSON.stringify([input, output]).length > MOST_SCHEMA) return `has schemas of more than ${MOST_SCHEMA} characters`;
  try {
    for (const schema of output === null ? [input] : [input, output]) jsonCheck(schema);
    return null;
  } catch (error) {
    return `has a schema that is none (${(error as Error).message.slice(0, 100)})`;
  }
}

/**
 * Gives each tool the name of its function, mcp_<server>_<tool> in lower case. Where two would share one, all but the first by
 * server and tool get a number.
 */
export function named(tools: readonly NamelessTool[]): ForeignTool[] {
  const key = ({ server, tool }: NamelessTool): string => `${server}\n${tool}`;
  const sorted = [...tools].sort((a, b) => (key(a) < key(b) ? -1 : 1));
  const taken = new Set<string>();
  return sorted.map((tool) => {
    const plain = tool.tool
      .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "_");
    const base = `mcp_${tool.server}_${plain}`.replace(/_+/g, "_").slice(0, NAME_CHARS).replace(/_$/, "");
    let function_name = base;
    for (let at = 2; taken.has(function_name); at += 1) function_name = `${base}_${at}`;
    taken.add(function_name);
    return { function_name, ...tool };
  });
}
