import { spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { resolve } from "node:path";
import type { ErrorCode } from "../../contract/error-codes.js";
import { Skill2RealError } from "../../contract/errors.js";
import { compiledModule } from "../../contract/package-root.js";
import type { AskedServer, ProbedTools } from "../tools/probe-tools.js";
import { hostCommand, hostEnvironment } from "./host-isolation.js";
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
  const hidden = resolve(evaluatorFolder);
  await mkdir(hidden, { recursive: true, mode: 0o700 }).catch((cause: NodeJS.ErrnoException) => {
    throw new Skill2RealError(
      "storage_failed",
      `the folder ${hidden} cannot be made (${cause.code}): give another with --runs, or make it writable`,
      { cause },
    );
  });
  const node = [process.execPath, "--no-warnings", compiledModule("src/agents/host/tool-prober-main.ts")];
  const { file, args } = await hostCommand(node, hidden);
  const child = spawn(file, args, {
    env: hostEnvironment(),
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    serialization: "json",
    detached: true,
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
