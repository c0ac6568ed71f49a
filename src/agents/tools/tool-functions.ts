import { z } from "zod";
import { describeIssues } from "../../contract/describe-issues.js";
import { Skill2RealError } from "../../contract/errors.js";
import { jsonValue } from "../../contract/schema-rules.js";
import { OperationFailure, type OperationTable, type SkillFunction } from "../../runtime/operation.js";
import { jsonCheck } from "./check-json.js";
import type { ForeignTool } from "./settings.js";
import { type ToolCaller, toolFailure } from "./tool-caller.js";
import { TOOL_FAILURES, TOOL_STATUSES } from "./tool-data.js";

/** Characters of one call's arguments. */
const MOST_ARGUMENTS = 16_000;

const message = z.string();
const resultSchema = z.discriminatedUnion("status", [
  z.strictObject({ status: z.literal("ok"), message, text: z.string(), structured: jsonValue, left_out: z.string() }),
  z.strictObject({
    status: z.enum(TOOL_STATUSES),
    message,
    reason: z.enum(TOOL_FAILURES).optional(),
    text: z.string().optional(),
  }),
]);

/** The functions that stand for foreign tools; without a caller they are there, and fail. */
export const toolFunctions = (tools: readonly ForeignTool[], caller: ToolCaller | null): OperationTable =>
  Object.fromEntries(tools.map((tool) => [tool.function_name, toolFunction(tool, caller)]));

function toolFunction(tool: ForeignTool, caller: ToolCaller | null): SkillFunction {
  const wrong = jsonCheck(tool.input);
  return {
    kind: "function",
    moves: false,
    exact: true,
    check: (value) => {
      const refuse = (why: string): never => {
        throw new OperationFailure("invalid_argument", `${tool.function_name}: ${why}`);
      };
      if (typeof value !== "object" || value === null || Array.isArray(value))
        return refuse("the request is no object");
      const size = JSON.stringify(value).length;
      if (size > MOST_ARGUMENTS) return refuse(`the request has ${size} characters; the most are ${MOST_ARGUMENTS}`);
      const problem = wrong(value);
      return problem === null
        ? value
        : refuse(`${problem.replace(/^data/, "the request")}, by the schema of the server`);
    },
    conform: (value) => {
      const parsed = resultSchema.safeParse(value);
      if (parsed.success) return parsed.data;
      const why = describeIssues(resultSchema, value, parsed.error.issues, "the result");
      throw new Skill2RealError("internal", `${tool.function_name} gave a result that it does not document: ${why}`);
    },
    run: async (context, request) => {
      if (!caller) throw toolFailure("unreachable", "no server is asked here");
      return caller.call(tool, request, context.signal);
    },
  };
}
