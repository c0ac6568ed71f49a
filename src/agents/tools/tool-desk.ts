import { z } from "zod";
import { OperationFailure } from "../../runtime/operation.js";
import type { Answer, Json } from "../exchanges/exchange.js";
import type { Exchanges } from "../exchanges/exchanges.js";
import type { LiveTools } from "./live-tools.js";
import type { ForeignTool, ToolServer } from "./settings.js";
import { type ToolCaller, type ToolFields, toolFailure } from "./tool-caller.js";
import { TOOL_FAILURES } from "./tool-data.js";

/** Of exchanges with foreign tools. */
const KIND = "mcp";

const replySchema = z.union([
  z.strictObject({ text: z.string(), structured: z.unknown(), left_out: z.string() }),
  z.strictObject({
    reason: z.enum(TOOL_FAILURES),
    message: z.string(),
    failed_text: z.string().optional(),
  }),
]);

export type ToolEpisode = {
  servers: readonly ToolServer[];
  /** Keeps what is asked, or answers in place of the servers; null: neither. */
  exchanges: Exchanges | null;
};

/** Where calls of foreign tools go in the episode under way. Skills are loaded once for many episodes, and ask here. */
export class ToolDesk implements ToolCaller {
  #episode: ToolEpisode | null = null;
  #live: LiveTools | null = null;

  begin(episode: ToolEpisode): void {
    this.#episode = episode;
  }

  /** Ends the conversations with all servers. */
  async end(): Promise<void> {
    this.#episode = null;
    const live = this.#live;
    this.#live = null;
    await live?.close();
  }

  /** Throws OperationFailure; Skill2RealError `diverged` where a recording answers and does not hold the call. */
  async call(tool: ForeignTool, request: Record<string, unknown>, signal: AbortSignal): Promise<ToolFields> {
    if (!this.#episode) throw toolFailure("unreachable", "a tool was called outside of an episode");
    const { exchanges } = this.#episode;
    if (!exchanges) return this.#ask(tool, request, signal);
    const asked = { server: tool.server, tool: tool.tool, arguments: request } as Json;
    const { reply } = await exchanges.ask({ kind: KIND, request: asked, pixels: [], survives: true }, () =>
      this.#answer(tool, request, signal),
    );
    const given = replySchema.parse(reply);
    if ("reason" in given) throw toolFailure(given.reason, given.message, given.failed_text);
    return given;
  }

  async #ask(tool: ForeignTool, request: Record<string, unknown>, signal: AbortSignal): Promise<ToolFields> {
    if (!this.#live) {
      // Only here: it brings the protocol's client along.
      const { LiveTools } = await import("./live-tools.js");
      // Calls side by side may all have waited for it.
      this.#live ??= new LiveTools(this.#episode?.servers ?? []);
    }
    return this.#live.call(tool, request, signal);
  }

  /** What a server's failure means for the program is part of the answer; a stop has none. */
  async #answer(tool: ForeignTool, request: Record<string, unknown>, signal: AbortSignal): Promise<Answer> {
    const began = performance.now();
    const answer = (reply: Json): Answer => ({
      reply,
      usage: null,
      latency_ms: performance.now() - began,
      cost: null,
      troubles: [],
    });
    try {
      return answer((await this.#ask(tool, request, signal)) as Json);
    } catch (error) {
      if (!(error instanceof OperationFailure) || error.status !== "service_failed") throw error;
      const { reason, text } = error.fields;
      return answer({
        reason: reason as string,
        message: error.message,
        ...(typeof text === "string" ? { failed_text: text } : {}),
      });
    }
  }
}
