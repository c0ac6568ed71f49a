import { z } from "zod";

const name = z.string().min(1).max(128);
/** A JSON schema, as the server gave it. */
const jsonSchema = z.record(z.string(), z.unknown());

/** A tool of a foreign server as it was listed before the episode: what programs, prompts and locks are made from. */
export const foreignToolSchema = z.strictObject({
  /** Of the function that programs call. */
  function_name: z.string().regex(/^mcp_[a-z0-9_]{1,60}$/),
  server: name,
  tool: name,
  /** Words of the server. */
  description: z.string().max(2000),
  input: jsonSchema,
  /** Of its structured content; null where it promises none. */
  output: jsonSchema.nullable(),
});
export type ForeignTool = z.output<typeof foreignToolSchema>;

/** How a server is reached. Its secrets go to it and nowhere else. */
export const toolServerSchema = z.strictObject({
  name,
  deadline_s: z.number().positive(),
  reach: z.discriminatedUnion("kind", [
    z.strictObject({
      kind: z.literal("stdio"),
      command: z.string().min(1),
      args: z.array(z.string()),
      env: z.record(z.string(), z.string()),
      cwd: z.string(),
    }),
    z.strictObject({ kind: z.literal("http"), url: z.string(), token: z.string().min(1).optional() }),
  ]),
});
export type ToolServer = z.output<typeof toolServerSchema>;

export const foreignToolsSchema = z.array(foreignToolSchema).max(64);
