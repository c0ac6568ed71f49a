/**
 * Entry of the process that asks foreign servers for their tools before an episode: one request over IPC, one reply, and its end.
 *
 * @module
 */
import { isSkill2RealError } from "../../contract/errors.js";
import { probeTools } from "../tools/probe-tools.js";
import { type ProberReply, proberRequestSchema } from "./prober-messages.js";

const say = (reply: ProberReply): void => {
  process.send?.(reply, () => process.exit(0));
};

// Its end takes the servers with it.
process.once("disconnect", () => process.exit(1));
process.on("SIGINT", () => {});
process.once("message", async (raw) => {
  try {
    const { servers, deadline_s } = proberRequestSchema.parse(raw);
    say({ type: "probed", probed: await probeTools(servers, deadline_s) });
  } catch (error) {
    say({
      type: "failed",
      code: isSkill2RealError(error) ? error.code : "internal",
      message: error instanceof Error ? error.message : String(error),
    });
  }
});
