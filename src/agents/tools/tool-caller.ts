import { OperationFailure } from "../../runtime/operation.js";
import type { ForeignTool } from "./settings.js";
import type { ToolFailure } from "./tool-data.js";

/** What a function that stands for a foreign tool asks. Throws OperationFailure. */
export interface ToolCaller {
  /** Gives the fields of the result. `signal` ends the call: a stop does not wait for a server. */
  call(tool: ForeignTool, request: Record<string, unknown>, signal: AbortSignal): Promise<ToolFields>;
}
export type ToolFields = { text: string; structured: unknown; left_out: string };

export function toolFailure(reason: ToolFailure, message: string, text?: string): OperationFailure {
  return new OperationFailure("service_failed", message, { reason, ...(text === undefined ? {} : { text }) });
}
