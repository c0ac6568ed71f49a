import { createServer, type Server } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { freeLoopbackHost, portIsFree } from "./loopback-host.js";

const servers: Server[] = [];

async function listen(host: string, port = 0): Promise<number> {
  const server = createServer();
  servers.push(server);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => resolve());
  });
  return (server.address() as { port: number }).port;
}

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
});

describe("freeLoopbackHost", () => {
  it("passes over an address at which somebody listens", async () => {
    const taken = "127.201.7.1";
    const port = await listen(taken);
    const drawn = [taken, taken, "127.201.7.2"];
    expect(await freeLoopbackHost([port], () => drawn.shift() ?? "")).toBe("127.201.7.2");
    expect(drawn).toEqual([]);
  });

  it("gives an address of this machine alone", async () => {
    const host = await freeLoopbackHost();
    expect(host).toMatch(/^127\.[1-9]\d{0,2}\.\d{1,3}\.[1-9]\d{0,2}$/);
    await listen(host, 30_004);
    expect(await portIsFree(host, 30_004)).toBe(false);
    expect(await portIsFree("127.201.7.3", 30_004)).toBe(true);
  });

  it("says that none was found", async () => {
    const port = await listen("127.201.7.4");
    await expect(freeLoopbackHost([port], () => "127.201.7.4")).rejects.toMatchObject({ code: "backend_unreachable" });
  });
});
