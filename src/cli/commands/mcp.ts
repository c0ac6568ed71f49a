import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { startHost } from "../../agents/host/host-isolation.js";
import type { McpMessage, McpRequest } from "../../agents/mcp/mcp-host-main.js";
import { type Config, quotasOf } from "../../config/index.js";
import type { ErrorCode } from "../../contract/error-codes.js";
import { Skill2RealError } from "../../contract/errors.js";
import { packageFile } from "../../contract/package-root.js";
import { evaluatorFolder, newRunName } from "../../evaluation/run-folder.js";
import { SimWorld } from "../../evaluation/sim-world.js";
import { StopChannel } from "../../runtime/device/stop-channel.js";
import { EXIT } from "../exit-codes.js";
import { onInterrupt } from "../interrupt.js";
import type { Ended } from "../main.js";
import { addRigOptions, chooseNative, type RigOptions, slowed } from "../rigs.js";
import { commandConfig, probedSettings, seedRange } from "../settings.js";

type McpOptions = RigOptions & { seed: string; http?: string };

const STOP_ANSWER_MS = 1000;

export function addMcp(program: Command, ended: Ended): void {
  addRigOptions(program.command("mcp"))
    .description(
      "give an outside agent the operations as MCP tools, on standard input and output or over loopback HTTP",
    )
    .option("--seed <number>", "seed of the simulated world (task r1)", "7")
    .option("--http <port>", "serve streamable HTTP on this loopback port (0: any) with a token, which is printed")
    .option("--runs <folder>", "folder of runs")
    .option("--config <file>", "configuration file")
    .action(async (options: McpOptions) => {
      const config = commandConfig(options);
      const native = config.backend.kind === "native" ? await chooseNative(options, "an outside agent over MCP") : null;
      const world = native ? native.world() : new SimWorld({ realtime: config.backend.realtime });
      const say = (line: string): void => void process.stderr.write(`${line}\n`);
      let child: ChildProcess | null = null;
      try {
        const { instruction } = await world.begin({ task: "r1", seed: seedRange(options.seed).from });
        const { addresses } = world;
        if (!addresses) throw new Skill2RealError("internal", "the backend was not started");
        const stopper = new StopChannel({ address: addresses.stop, lostAfterMs: STOP_ANSWER_MS });
        const interrupt = onInterrupt(async (reason) => {
          await stopper.stop("", reason);
          child?.disconnect();
        });
        const token = randomBytes(24).toString("base64url");
        const motion = native ? slowed(config.motion, native.speed) : config.motion;
        child = await spawnHost(
          config.runs.folder,
          {
            addresses,
            folder: newRunName(),
            ...(await requestOf({ ...config, motion })),
            ...(options.http === undefined ? {} : { http: { port: portOf(options.http), token } }),
          },
          (url) => {
            if (url !== null) say(`serving at ${url}\n  Authorization: Bearer ${token}`);
            if (instruction !== null) say(`on the table: ${instruction}`);
          },
        );
        const code = await new Promise<number | null>((resolve) => child?.once("exit", resolve));
        interrupt.dispose();
        stopper.close();
        if (interrupt.interrupted()) ended(EXIT.interrupted);
        else if (code !== 0) ended(EXIT.infrastructure);
      } finally {
        child?.kill("SIGKILL");
        await world.close();
      }
    });
}

function portOf(words: string): number {
  const port = Number(words);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new Skill2RealError("usage", `--http ${words}: give a port from 0 to 65535`);
}

const requestOf = async (config: Config): Promise<Omit<McpRequest, "addresses" | "folder" | "http">> => ({
  motion: config.motion,
  perception: config.perception,
  path_length_m: config.program.path_length_m,
  quotas: quotasOf(config),
  max_stages: 10_000,
  ...(({ skills, services, tool_servers }) => ({ skills, services, tool_servers }))(await probedSettings(config)),
  version: (JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as { version: string }).version,
});

/** Starts the serving process, isolated like an agent host; standard input and output go through to it. */
async function spawnHost(
  runs: string,
  request: McpRequest,
  onReady: (url: string | null) => void,
): Promise<ChildProcess> {
  const { child } = await startHost("src/agents/mcp/mcp-host-main.ts", {
    evaluatorFolder: evaluatorFolder(runs),
    cwd: runs,
    stdio: ["inherit", "inherit", "inherit", "ipc"],
  });
  child.send(request);
  await new Promise<void>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) =>
      reject(new Skill2RealError("guest_failed", `the serving process ended (exit ${code})`)),
    );
    child.once("message", (raw) => {
      const message = raw as McpMessage;
      if (message.type === "failed") return reject(new Skill2RealError(message.code as ErrorCode, message.message));
      onReady(message.url);
      resolve();
    });
  });
  return child;
}
