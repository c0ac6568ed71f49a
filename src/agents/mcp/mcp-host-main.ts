/**
 * Entry of the process that serves an outside agent. Like an agent host it knows the public addresses of one backend and
 * nothing else; its first message over IPC says which. Standard input and output belong to the agent.
 *
 * @module
 */
import { z } from "zod";
import { SERVICES } from "../../config/skills/manifest.js";
import { isSkill2RealError, Skill2RealError } from "../../contract/errors.js";
import type { MotionSettings, PerceptionSettings } from "../../contract/settings.js";
import { ProgramChecker, Sandbox } from "../../program/index.js";
import { Exchanges } from "../exchanges/exchanges.js";
import { Accountant } from "../llm/model-account.js";
import { loadSkills } from "../load-skills.js";
import { openRecordedSession } from "../open-session.js";
import { ServiceDesk } from "../services/service-desk.js";
import { serviceSettingsSchema, vlmRoles } from "../services/settings.js";
import { skillServices } from "../services/vision-services.js";
import { StagePlayer } from "../stage-player.js";
import { foreignToolsSchema, toolServerSchema } from "../tools/settings.js";
import { ToolDesk } from "../tools/tool-desk.js";
import { RobotTools } from "./robot-tools.js";
import { createMcpServer, serveHttp, serveStdio } from "./serve.js";

export const mcpRequestSchema = z.strictObject({
  addresses: z.strictObject({ device: z.string(), stop: z.string(), events: z.string() }),
  /** Relative to the working folder. */
  folder: z.string().regex(/^[A-Za-z0-9._-]{1,128}$/),
  motion: z.record(z.string(), z.unknown()),
  perception: z.record(z.string(), z.unknown()),
  path_length_m: z.number().positive(),
  quotas: z.record(z.string(), z.number()),
  max_stages: z.number().int().positive(),
  skills: z.strictObject({
    paths: z.array(z.string()),
    enable: z.array(z.string()),
    disable: z.array(z.string()),
    services: z.array(z.enum(SERVICES)).optional(),
    tools: foreignToolsSchema.optional(),
  }),
  services: serviceSettingsSchema.optional(),
  tool_servers: z.array(toolServerSchema).optional(),
  version: z.string(),
  /** Left out: standard input and output. */
  http: z.strictObject({ port: z.number().int().min(0).max(65_535), token: z.string().min(16) }).optional(),
});
export type McpRequest = z.infer<typeof mcpRequestSchema>;
export type McpMessage = { type: "ready"; url: string | null } | { type: "failed"; code: string; message: string };

const say = (message: McpMessage): void => {
  if (process.connected) process.send?.(message);
};

async function serve(request: McpRequest): Promise<void> {
  const { services, folder } = request;
  const desk = new ServiceDesk();
  const foreign = new ToolDesk();
  const skills = await loadSkills(
    request.skills,
    services && skillServices(services, (role, messages) => desk.ask(role, messages)),
    foreign,
  );
  foreign.begin({ servers: request.tool_servers ?? [], exchanges: null });
  const checker = await ProgramChecker.create({ declarations: skills.declarations, names: skills.functionNames });
  const sandbox = await Sandbox.create();
  const { session, trace } = await openRecordedSession({
    addresses: request.addresses,
    folder: request.folder,
    client: "skill2real/mcp",
    leaseMs: 1500,
    operations: skills.operations,
    motion: request.motion as Partial<MotionSettings>,
    perception: request.perception as Partial<PerceptionSettings>,
    metadata: { episode: request.folder, instruction: "(an outside agent)" },
  });
  const stop = new AbortController();
  if (services?.model && vlmRoles(services).length > 0) {
    const { model } = services;
    const record = { folder, policy: "", models: { services: model.model }, episode_key: session.refKey };
    desk.begin({
      settings: model,
      exchanges: new Exchanges({ record }),
      accountant: new Accountant(model, "the vision model"),
      alsoSpent: () => null,
      limits: () => [],
      signal: stop.signal,
    });
  }
  const player = new StagePlayer({
    session,
    checker,
    sandbox,
    names: skills.functionNames,
    statusNames: skills.statusNames,
    randomSeed: 1,
    quotas: request.quotas,
    pathLength_m: request.path_length_m,
    trace,
  });
  const tools = new RobotTools({ session, skills, player, folder: request.folder, max_stages: request.max_stages });
  const make = () => createMcpServer(tools, request.version);
  try {
    if (request.http) {
      const service = await serveHttp(make, request.http.token, request.http.port);
      say({ type: "ready", url: service.url });
      await new Promise<void>((resolve) => process.once("disconnect", resolve));
      await service.close();
    } else {
      const serving = serveStdio(make());
      say({ type: "ready", url: null });
      await Promise.race([serving, new Promise<void>((resolve) => process.once("disconnect", resolve))]);
    }
  } finally {
    stop.abort();
    // Whatever still moves is stopped with the session.
    await session.close();
    await trace.close();
    await sandbox.close();
    await checker.close();
    await foreign.end();
  }
}

process.on("SIGINT", () => {});
process.once("message", (raw) => {
  const parsed = mcpRequestSchema.safeParse(raw);
  const served = parsed.success
    ? serve(parsed.data)
    : Promise.reject(
        new Skill2RealError("protocol_mismatch", `the request is not understood: ${parsed.error.message}`),
      );
  served.then(
    () => process.exit(0),
    (error: unknown) => {
      say({
        type: "failed",
        code: isSkill2RealError(error) ? error.code : "internal",
        message: error instanceof Error ? error.message : String(error),
      });
      process.exit(1);
    },
  );
});
