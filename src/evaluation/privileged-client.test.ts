import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Router } from "zeromq";
import type { PrivilegedReply, PrivilegedRequest } from "../contract/generated/privileged.js";
import type { Init } from "../contract/wire/init.js";
import { privilegedReplyCodec, privilegedRequestCodec } from "../contract/wire/privileged-codec.js";
import { PrivilegedClient } from "./privileged-client.js";

const TOKEN = Buffer.alloc(32, 5);

let dir: string;
let address: string;
let router: Router;
let received: PrivilegedRequest[];
let answer: (request: PrivilegedRequest) => Init<PrivilegedReply> | "silence";

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "s2r-privileged-"));
  address = `ipc://${join(dir, "p")}`;
  received = [];
  answer = (request) =>
    request.set_evidence_log ? { set_evidence_log: {} } : { state_hash: { state_hash: "h", time_s: 1 } };
  router = new Router({ linger: 0 });
  await router.bind(address);
  serve().catch(() => {}); // closing the socket ends the loop
});

afterEach(() => {
  router.close();
  rmSync(dir, { recursive: true, force: true });
});

async function serve(): Promise<void> {
  for await (const [peer, bytes] of router) {
    const request = privilegedRequestCodec.decode(bytes!);
    received.push(request);
    const reply = answer(request);
    if (reply === "silence") continue;
    await router.send([peer!, privilegedReplyCodec.encode({ request_id: request.request_id, ...reply })]);
  }
}

describe("PrivilegedClient", () => {
  it("sends its token with every request, and another id each time", async () => {
    const client = await PrivilegedClient.connect({ address, token: TOKEN });
    expect(await client.stateHash()).toEqual({ state_hash: "h", time_s: 1 });
    await client.setEvidenceLog("/somewhere");
    client.close();
    for (const request of received) expect(Buffer.compare(Buffer.from(request.token), TOKEN)).toBe(0);
    expect(new Set(received.map((request) => request.request_id)).size).toBe(received.length);
  });

  it("refuses a token that is not 32 bytes", async () => {
    const options = { address, token: Buffer.alloc(31) };
    await expect(PrivilegedClient.connect(options)).rejects.toMatchObject({ code: "bad_argument" });
  });

  it("says that nobody is there", async () => {
    const options = { address: `ipc://${join(dir, "nobody")}`, token: TOKEN, connectTimeoutMs: 100 };
    await expect(PrivilegedClient.connect(options)).rejects.toMatchObject({ code: "backend_unreachable" });
  });

  it("passes a refusal on with the protocol's code", async () => {
    const client = await PrivilegedClient.connect({ address, token: TOKEN });
    answer = () => ({ error: { code: "PRIVILEGED_BAD_ARGUMENT", message: "no task" } });
    const error = await client.reset({ task: "none", seed: 1 }).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: "backend_refused", details: { privileged_code: "PRIVILEGED_BAD_ARGUMENT" } });
    client.close();
  });

  it("refuses a seed that no number can hold", async () => {
    const client = await PrivilegedClient.connect({ address, token: TOKEN });
    await expect(client.reset({ task: "r1", seed: 2 ** 53 })).rejects.toMatchObject({ code: "bad_argument" });
    client.close();
  });

  it("refuses the body of another verb", async () => {
    const client = await PrivilegedClient.connect({ address, token: TOKEN });
    answer = () => ({ snapshot: { id: "x" } });
    await expect(client.evaluate()).rejects.toMatchObject({ code: "protocol_mismatch" });
    client.close();
  });

  it("sends the same request again where no answer comes", async () => {
    const client = await PrivilegedClient.connect({ address, token: TOKEN });
    received.length = 0;
    answer = () => (received.length === 1 ? "silence" : { reset: { instruction: "again" } });
    expect((await client.reset({ task: "r1", seed: 1, deadlineMs: 400 })).instruction).toBe("again");
    expect(received.map((request) => request.request_id)).toEqual([received[0]!.request_id, received[0]!.request_id]);
    client.close();
  });

  it("is lost when the simulator hangs up, and closed when it is closed", async () => {
    const client = await PrivilegedClient.connect({ address, token: TOKEN });
    const other = await PrivilegedClient.connect({ address, token: TOKEN });
    other.close();
    await expect(other.evaluate()).rejects.toMatchObject({ code: "session_closed" });
    answer = () => "silence";
    const pending = client.evaluate();
    router.close();
    await expect(pending).rejects.toMatchObject({ code: "backend_lost" });
  });
});
