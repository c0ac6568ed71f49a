import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { probeServices } from "./probe-services.js";
import { visionModel } from "./service-desk.js";
import { type ServiceSettings, serviceSettingsSchema, withoutSecrets } from "./settings.js";
import { skillServices } from "./vision-services.js";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A real endpoint; `answers` are what it replies to questions, in order. */
async function endpoint(
  answers: string[],
  other: (request: IncomingMessage, response: ServerResponse) => boolean = () => false,
): Promise<{ settings: ServiceSettings; asked: { content: unknown }[][] }> {
  const asked: { content: unknown }[][] = [];
  const server = createServer((request, response) => {
    if (other(request, response)) return;
    const json = (value: unknown): void => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(value));
    };
    if (request.url === "/v1/models") return json({ data: [{ id: "eye" }] });
    let body = "";
    request.on("data", (piece) => {
      body += piece;
    });
    request.on("end", () => {
      asked.push((JSON.parse(body) as { messages: { content: unknown }[] }).messages);
      json({ choices: [{ message: { role: "assistant", content: answers.shift() ?? "" }, finish_reason: "stop" }] });
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { settings: made(`http://127.0.0.1:${port}/v1`), asked };
}
const made = (base_url: string, more: Record<string, unknown> = {}): ServiceSettings =>
  serviceSettingsSchema.parse({
    pointer: "vlm",
    segmenter: "vlm",
    verifier: "vlm",
    model: { base_url, model: "eye", api_key: "s3cret", timeout_s: 5, ...more },
  });
const servicesOf = (settings: ServiceSettings) => {
  const model = visionModel(settings.model!);
  return skillServices(settings, (_role, messages) => model.complete(messages, new AbortController().signal));
};
const image = { pixels: new Uint8Array(100 * 50 * 3), width: 100, height: 50 };
const things = (...list: unknown[]): string => JSON.stringify({ things: list });
const CUP = { label: "cup", box: { x0: 10, y0: 5, x1: 30, y1: 25 }, point: { u: 20, v: 15 } };

describe("probing", () => {
  it("asks nobody where no role needs it, and says why each service is not there", async () => {
    const { at_hand, report } = await probeServices(serviceSettingsSchema.parse({}));
    expect(at_hand).toEqual(["pointer"]);
    expect(report.find(({ service }) => service === "segmenter")?.why).toBe('services.segmenter is "none"');
    expect((await probeServices(serviceSettingsSchema.parse({ pointer: "none" }))).at_hand).toEqual([]);
  });

  it("finds an endpoint that answers and knows the model", async () => {
    const { settings } = await endpoint([]);
    expect((await probeServices(settings)).at_hand).toEqual(["segmenter", "pointer", "vlm", "verifier"]);
    const other = { ...settings, model: { ...settings.model!, model: "ear" } };
    const { at_hand, report } = await probeServices(other);
    expect(at_hand).toEqual([]);
    expect(report.find(({ service }) => service === "pointer")?.why).toMatch(
      /does not know the model "ear"; it has eye/,
    );
  });

  it("ends in time, and says so, where nobody answers", async () => {
    const { settings } = await endpoint([], () => true);
    const { report } = await probeServices(settings, 0.2);
    expect(report.find(({ service }) => service === "pointer")?.why).toMatch(/did not answer within 0.2 s/);
    const closed = await probeServices(made("http://127.0.0.1:1/v1"), 2);
    expect(closed.at_hand).toEqual([]);
    expect(closed.report.find(({ service }) => service === "verifier")?.why).toMatch(/no endpoint answers/);
    const refusing = await endpoint([], (_request, response) => {
      response.statusCode = 401;
      response.end();
      return true;
    });
    expect((await probeServices(refusing.settings)).report[0]?.why).toMatch(/refuses the key \(401\)/);
  });
});

describe("a vision model", () => {
  it("as pointer: boxes and points in the image's pixels, in either unit", async () => {
    const { settings, asked } = await endpoint([`Here it is:\n\`\`\`json\n${things(CUP)}\n\`\`\``]);
    const { pointer } = servicesOf(settings);
    expect(await pointer!.find(image, "the cup")).toEqual([{ label: "cup", box: CUP.box, pixel: CUP.point }]);
    expect(JSON.stringify(asked[0])).toMatch(/the cup.*100 x 50.*data:image\/png;base64,/);

    const thousandths = await endpoint([things({ label: "cup", box: { x0: 100, y0: 100, x1: 300, y1: 500 } })]);
    const norm = made(thousandths.settings.model!.base_url, { coordinates: "norm1000" });
    expect(await servicesOf(norm).pointer!.find(image, "cup")).toEqual([
      { label: "cup", box: { x0: 10, y0: 5, x1: 30, y1: 25 }, pixel: { u: 20, v: 15 } },
    ]);
  });

  it.each([
    ["a box outside the image", things({ ...CUP, box: { x0: 10, y0: 5, x1: 130, y1: 25 } }), /does not lie within/],
    ["a box inside out", things({ ...CUP, box: { x0: 30, y0: 5, x1: 10, y1: 25 } }), /needs x0 < x1/],
    ["a point beside its box", things({ ...CUP, point: { u: 90, v: 15 } }), /does not lie in its box/],
    ["words", "I see a cup on the left.", /no JSON object/],
    ["other keys", '{"objects": []}', /things/],
  ])("is asked once more after %s, with what was wrong", async (_name, wrong, words) => {
    const { settings, asked } = await endpoint([wrong, things(CUP)]);
    expect(await servicesOf(settings).pointer!.find(image, "cup")).toHaveLength(1);
    expect(asked).toHaveLength(2);
    expect(JSON.stringify(asked[1]!.at(-1))).toMatch(words);
    const twice = await endpoint([wrong, wrong]);
    await expect(servicesOf(twice.settings).pointer!.find(image, "cup")).rejects.toMatchObject({
      status: "service_failed",
    });
    expect(twice.asked).toHaveLength(2);
  });

  it("as comparer: two pictures, evidence in words", async () => {
    const change = { differences: ["the cup is gone"], seen: "no cup", uncertainty: "" };
    const { settings, asked } = await endpoint([JSON.stringify(change)]);
    expect(await servicesOf(settings).verifier!.compare(image, image, "is the cup there?")).toEqual(change);
    expect(JSON.stringify(asked[0]).match(/data:image/g)).toHaveLength(2);
  });

  it("that fails is a status with its code, and its key is in no message and no record", async () => {
    const { settings } = await endpoint([], (request, response) => {
      if (request.method !== "POST") return false;
      response.statusCode = 500;
      response.end("broken");
      return true;
    });
    const failure = await servicesOf(settings)
      .pointer!.find(image, "cup")
      .catch((error: Error) => error);
    expect(failure).toMatchObject({ status: "service_failed", message: expect.stringMatching(/model_server_error/) });
    expect(JSON.stringify([String(failure), withoutSecrets(settings)])).not.toMatch(/s3cret|127\.0\.0\.1/);
  });
});
