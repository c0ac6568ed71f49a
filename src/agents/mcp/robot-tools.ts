import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { CallToolResult, ReadResourceResult, Resource, Tool } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { OPERATIONS, REQUEST_SCHEMAS } from "../../contract/generated/robot-api-dispatch.js";
import { ROBOT_API_TEXT } from "../../contract/generated/robot-api-text.js";
import { requestSchema } from "../../contract/info-schemas.js";
import { suggest } from "../../contract/suggest.js";
import type { Session } from "../../runtime/session.js";
import { ending } from "../llm/stage-messages.js";
import type { LoadedSkills } from "../load-skills.js";
import type { ImageRecord, StageRecord } from "../proposer.js";
import type { StagePlayer } from "../stage-player.js";

export type RobotToolsOptions = {
  session: Session;
  skills: LoadedSkills;
  player: StagePlayer;
  /** The run's folder, in which the images are. */
  folder: string;
  /** Further stages that this session may have. */
  max_stages: number;
};

const text = (value: string): { type: "text"; text: string } => ({ type: "text", text: value });
const failure = (message: string): CallToolResult => ({ isError: true, content: [text(message)] });

const OWN_TOOLS: Tool[] = [
  {
    name: "run_program",
    description:
      "Checks and runs one TypeScript program (the body of an async function) against the robot. Nothing of a program that does not pass the check is run.",
    inputSchema: {
      type: "object",
      properties: { program: { type: "string" } },
      required: ["program"],
      additionalProperties: false,
    },
  },
  {
    name: "api",
    description: "The documentation of one operation, or of everything.",
    inputSchema: { type: "object", properties: { operation: { type: "string" } }, additionalProperties: false },
  },
  {
    name: "stop",
    description: "Stops the robot now. The stop stays: this session can do nothing more.",
    inputSchema: { type: "object", properties: { reason: { type: "string" } }, additionalProperties: false },
  },
];

/** The robot as tools and resources: the same operations, checks and limits as programs have, one call at a time. */
export class RobotTools {
  readonly #options: RobotToolsOptions;
  readonly #images = new Map<string, ImageRecord>();
  #stages = 0;
  #working: Promise<unknown> = Promise.resolve();

  constructor(options: RobotToolsOptions) {
    this.#options = options;
  }

  tools(): Tool[] {
    const { skills } = this.#options;
    const operations = OPERATIONS.filter(({ name }) => skills.functionNames.includes(name)).map(
      ({ name, summary }): Tool => ({
        name,
        description: summary,
        inputSchema: inputSchema(REQUEST_SCHEMAS[name]),
      }),
    );
    const others = [...skills.functionInfos.values()].map(
      ({ name, documentation, request, request_schema }): Tool => ({
        name,
        description: documentation,
        inputSchema: (request_schema as Tool["inputSchema"] | undefined) ?? inputSchema(requestSchema(request)),
      }),
    );
    return [...operations, ...others, ...OWN_TOOLS];
  }

  /** One at a time, save for `stop`, which goes before everything. */
  call(name: string, given: Record<string, unknown>): Promise<CallToolResult> {
    if (name === "stop")
      return this.#stop(typeof given.reason === "string" ? given.reason.slice(0, 200) : "an agent asked for it");
    const next = this.#working.then(() => this.#call(name, given));
    this.#working = next.catch(() => {});
    return next;
  }

  async #call(name: string, given: Record<string, unknown>): Promise<CallToolResult> {
    const { skills, max_stages } = this.#options;
    if (name === "api") return this.#api(given.operation);
    const known = [...skills.functionNames, ...OWN_TOOLS.map((tool) => tool.name)];
    if (!known.includes(name)) return failure(`there is no tool "${name}".${suggest(name, known)}`);
    if (this.#stages >= max_stages) return failure(`${max_stages} stages are used up; end this session`);
    if (name === "run_program") return this.#program(given.program);
    this.#stages += 1;
    const { stage, result } = await this.#options.player.one(this.#stages, name, given);
    const status = stage.calls.at(-1)?.status ?? "internal_error";
    const content = [text(JSON.stringify(result ?? null, null, 1)), ...(await this.#pictures(stage))];
    return { content, ...(status === "ok" || status === "returned" ? {} : { isError: true }) };
  }

  async #program(program: unknown): Promise<CallToolResult> {
    if (typeof program !== "string" || program.trim() === "")
      return failure("run_program takes the program's text in `program`");
    this.#stages += 1;
    const stage = await this.#options.player.play(this.#stages, program, `program-${this.#stages}.ts`, {});
    const calls = stage.calls.map(({ operation, status, result }) => `- ${operation} -> ${status} ${result}`);
    const printed = stage.printed.map((line) => `  ${line.text}`);
    const returned = stage.end.kind === "returned" ? [`Returned: ${JSON.stringify(stage.end.working_state)}`] : [];
    const lines = [ending(stage), ...calls, ...(printed.length > 0 ? ["Printed:", ...printed] : []), ...returned];
    return {
      content: [text(lines.join("\n")), ...(await this.#pictures(stage))],
      ...(stage.end.kind === "returned" ? {} : { isError: true }),
    };
  }

  #api(operation: unknown): CallToolResult {
    const { functionTexts, functionNames } = this.#options.skills;
    if (operation === undefined)
      return {
        content: [
          text(
            [
              ROBOT_API_TEXT.conventions,
              ...functionNames.map((name) => this.#about(name)),
              ROBOT_API_TEXT.types,
              ROBOT_API_TEXT.statuses,
            ].join("\n\n"),
          ),
        ],
      };
    if (typeof operation !== "string" || !functionNames.includes(operation))
      return failure(`there is no operation ${JSON.stringify(operation)}.${suggest(String(operation), functionNames)}`);
    return { content: [text(functionTexts.get(operation) ?? this.#about(operation))] };
  }

  #about(name: string): string {
    return (
      this.#options.skills.functionTexts.get(name) ??
      (ROBOT_API_TEXT.operations as Record<string, string>)[name] ??
      name
    );
  }

  async #stop(reason: string): Promise<CallToolResult> {
    await this.#options.session.stop(reason);
    return { content: [text(`stopped: ${reason}`)] };
  }

  async #pictures(stage: StageRecord): Promise<{ type: "image"; data: string; mimeType: string }[]> {
    return Promise.all(
      stage.images.map(async (image) => {
        this.#images.set(image.kind === "view" ? image.view : `mask on ${image.view}`, image);
        return { type: "image" as const, data: await this.#png(image), mimeType: "image/png" };
      }),
    );
  }

  async #png(image: ImageRecord): Promise<string> {
    return (await readFile(join(this.#options.folder, image.path))).toString("base64");
  }

  resources(): Resource[] {
    return [
      { uri: "skill2real://api", name: "api", mimeType: "text/markdown", description: "What the robot can be asked." },
      ...[...this.#images].map(([name, { observation_ref, width, height }]) => ({
        uri: `skill2real://image/${encodeURIComponent(name)}`,
        name,
        mimeType: "image/png",
        description: `The newest picture: ${name}, ${width} x ${height}, ${observation_ref}.`,
      })),
    ];
  }

  /** Null where there is none of that address. */
  async read(uri: string): Promise<ReadResourceResult | null> {
    if (uri === "skill2real://api") {
      const [first] = this.#api(undefined).content;
      return { contents: [{ uri, mimeType: "text/markdown", text: first?.type === "text" ? first.text : "" }] };
    }
    const name = /^skill2real:\/\/image\/(.+)$/.exec(uri)?.[1];
    const image = name === undefined ? undefined : this.#images.get(decodeURIComponent(name));
    return image ? { contents: [{ uri, mimeType: "image/png", blob: await this.#png(image) }] } : null;
  }
}

/** The JSON schema of a request. A choice among several sets of fields stays an object for agents that know no unions. */
function inputSchema(request: z.ZodType): Tool["inputSchema"] {
  const schema = z.toJSONSchema(request, { io: "input", unrepresentable: "any" }) as Record<string, unknown>;
  delete schema.$schema;
  return schema.type === "object" ? (schema as Tool["inputSchema"]) : { ...schema, type: "object" };
}
