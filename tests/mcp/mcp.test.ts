/** The robot as tools of an outside agent, asked by the official client, over both transports. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { OPERATION_NAMES } from "../../src/contract/generated/robot-api-dispatch.js";
import { packageFile } from "../../src/contract/package-root.js";
import { CommandLine } from "../support/command-line.js";
import { until } from "../support/processes.js";

type Content = ({ type: "text"; text: string } | { type: "image"; data: string; mimeType: string })[];

let folder: string;
const endings: (() => unknown)[] = [];
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "s2r-mcp-"));
});
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ARGUMENTS = ["mcp", "--seed", "3", "--runs"];
const client = () => new Client({ name: "test", version: "1" });

async function overStdio(): Promise<Client> {
  const agent = client();
  await agent.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [packageFile("bin", "skill2real.js"), ...ARGUMENTS, join(folder, "runs")],
      stderr: "ignore",
    }),
  );
  endings.push(() => agent.close());
  return agent;
}

async function overHttp(): Promise<{ url: string; token: string; command: CommandLine }> {
  const command = new CommandLine([...ARGUMENTS, join(folder, "runs"), "--http", "0"]);
  endings.push(async () => {
    command.kill("SIGINT");
    await command.ended;
  });
  const [, url = "", token = ""] = await until("the service", () => {
    if (!command.running) throw new Error(`the command has ended: ${command.stderr}`);
    return /serving at (\S+)\n\s*Authorization: Bearer (\S+)/.exec(command.stderr);
  });
  return { url, token, command };
}
const httpTransport = (url: string, token: string) =>
  new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: `Bearer ${token}` } } });

async function call(agent: Client, name: string, args: Record<string, unknown> = {}) {
  const { content, isError = false } = await agent.callTool({ name, arguments: args });
  const parts = content as Content;
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const images = parts.flatMap((part) => (part.type === "image" ? [part] : []));
  return { text: texts.join("\n"), images, isError };
}

describe("an agent on standard input and output", { timeout: 120_000 }, () => {
  it("finds the operations, looks, moves, runs programs and stops, under the checks that programs have", async () => {
    const agent = await overStdio();
    const { tools } = await agent.listTools();
    const names = tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining([...OPERATION_NAMES, "localize", "run_program", "api", "stop"]));
    expect(tools.find(({ name }) => name === "gripper_goto")?.inputSchema).toMatchObject({
      type: "object",
      properties: { opening_m: { type: "number" } },
      additionalProperties: false,
    });

    const seen = await call(agent, "get_topdown_stereo_view");
    expect(JSON.parse(seen.text)).toMatchObject({ status: "ok", width: 640 });
    expect(
      Buffer.from(seen.images[0]?.data ?? "", "base64")
        .subarray(1, 4)
        .toString(),
    ).toBe("PNG");

    const wrong = await call(agent, "gripper_goto", { opening: 0.05 });
    expect(wrong).toMatchObject({ isError: true });
    expect(wrong.text).toMatch(/invalid_argument.*Did you mean/s);
    expect((await call(agent, "fly")).text).toMatch(/no tool "fly"/);
    expect(JSON.parse((await call(agent, "gripper_goto", { opening_m: 0.05 })).text)).toMatchObject({ status: "ok" });

    const refused = await call(agent, "run_program", { program: "await robot.fly({});" });
    expect(refused).toMatchObject({ isError: true });
    expect(refused.text).toMatch(/did not pass the check/);
    const ran = await call(agent, "run_program", {
      program:
        'const state = await robot.get_gripper_state({});\nconsole.log("here");\nreturn state.status === "ok" ? state.opening_m : null;',
    });
    expect(ran.text).toMatch(/get_gripper_state -> ok.*here.*Returned: 0\.05/s);

    expect((await call(agent, "api", { operation: "goto_home" })).text).toContain("goto_home(request");
    const { resources } = await agent.listResources();
    expect(resources.map(({ uri }) => uri)).toContain("skill2real://image/topdown");
    const picture = await agent.readResource({ uri: "skill2real://image/topdown" });
    expect(picture.contents[0]).toMatchObject({ mimeType: "image/png" });
    await expect(agent.readResource({ uri: "skill2real://seed" })).rejects.toThrow(/no resource/);

    expect((await call(agent, "stop", { reason: "enough" })).text).toMatch(/stopped: enough/);
    expect(JSON.parse((await call(agent, "goto_home")).text)).toMatchObject({ status: "stopped" });
  });
});

describe("an agent over HTTP", { timeout: 120_000 }, () => {
  it("needs the token and loopback's name, and is alone", async () => {
    const { url, token } = await overHttp();
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
    const ask = (headers: Record<string, string>) =>
      fetch(url, {
        method: "POST",
        body,
        headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
      });
    expect((await ask({})).status).toBe(401);
    expect((await ask({ authorization: "Bearer no" })).status).toBe(401);
    expect((await ask({ authorization: `Bearer ${token}` })).status).toBe(400);

    const owner = client();
    await owner.connect(httpTransport(url, token));
    endings.push(() => owner.close());
    expect(JSON.parse((await call(owner, "get_robot_state")).text)).toMatchObject({ status: "ok" });
    const second = client();
    await expect(second.connect(httpTransport(url, token))).rejects.toThrow(/409|owner/);
  });
});
