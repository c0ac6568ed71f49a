import type { ErrorCode } from "../../contract/error-codes.js";
import { Skill2RealError } from "../../contract/errors.js";
import type { AskedServer, ProbedTools } from "../tools/probe-tools.js";
import { startHost } from "./host-isolation.js";
import { proberReplySchema } from "./prober-messages.js";

/** Start of the process and its way back, beside the time that servers have. */
const AROUND_MS = 30_000;
const LAST_WORDS_CHARS = 2_000;

/**
 * `probeTools` in a process that is isolated like an agent host: the servers on standard input and output are programs of
 * somebody else, and as children of the command line they could read its arguments and the evaluator's files.
 */
export async function probeToolsApart(
  servers: readonly AskedServer[],
  deadline_s: number,
  evaluatorFolder: string,
): Promise<ProbedTools> {
  const { child } = await startHost("src/agents/host/tool-prober-main.ts", {
    evaluatorFolder,
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  const timer = setTimeout(kill, deadline_s * 1e3 + AROUND_MS);
  let lastWords = "";
  child.stderr?.on("data", (chunk) => {
    lastWords = `${lastWords}${chunk}`.slice(-LAST_WORDS_CHARS);
  });
  try {
    const reply = await new Promise<unknown>((answered, failed) => {
      child.once("message", answered);
      child.once("error", failed);
      child.once("close", (code, signal) => failed(new Error(`${signal ?? `exit ${code}`}: ${lastWords}`)));
      child.send({ servers, deadline_s }, (error) => error && failed(error));
    }).catch((cause: Error) => {
      throw new Skill2RealError(
        "guest_failed",
        `the process that asks the servers of [mcp] ended before they were asked (${cause.message})`,
        { cause },
      );
    });
    const parsed = proberReplySchema.parse(reply);
    if (parsed.type === "failed") throw new Skill2RealError(parsed.code as ErrorCode, parsed.message);
    return parsed.probed;
  } finally {
    clearTimeout(timer);
    process.off("exit", kill);
    kill();
  }
}
