import { join } from "node:path";
import sharp from "sharp";
import { isSkill2RealError } from "../../contract/errors.js";
import { LiveModel } from "./live-model.js";
import { TOOLS } from "./llm-proposer.js";
import { type ModelMessage, textMessage } from "./messages.js";
import type { ModelSettings } from "./settings.js";

export type ModelCheck = {
  model: string;
  answers: boolean;
  /** Whether it sees: "yes", it found the box; "no", the endpoint refuses images; "wrong", it answered something else. */
  vision: "yes" | "no" | "wrong" | "not asked";
  /** The unit in which it gave the box. */
  coordinates: "pixel" | "norm1000" | null;
  tools: "yes" | "no" | "not asked";
  latency_ms: number;
  notes: string[];
};

/** Not square, so that thousandths and pixels cannot be taken for each other. */
const SIZE = { width: 640, height: 480 };
const BOX = { x0: 400, y0: 96, x1: 560, y1: 216 };
/** How far a corner may be off [px]. */
const TOLERANCE_PX = 25;

const QUESTION = `The picture is ${SIZE.width} x ${SIZE.height}. It shows one red box on grey. Give its corners as one JSON object {"x0":…,"y0":…,"x1":…,"y1":…} and nothing else.`;

/** Asks three small questions. Troubles of the endpoint are in the notes; nothing is thrown for them. */
export async function checkModel(settings: ModelSettings, folder: string): Promise<ModelCheck> {
  const check: ModelCheck = {
    model: settings.model,
    answers: false,
    vision: "not asked",
    coordinates: null,
    tools: "not asked",
    latency_ms: 0,
    notes: [],
  };
  const { signal } = new AbortController();
  const ask = (messages: ModelMessage[], tools: typeof TOOLS = []) =>
    new LiveModel({
      settings: { ...settings, max_tokens: Math.min(settings.max_tokens, 512), retries: 0 },
      folder,
      tools,
    }).complete(messages, signal);
  const note = (what: string, error: unknown): void => {
    check.notes.push(`${what}: ${isSkill2RealError(error) ? `${error.message} (${error.code})` : String(error)}`);
  };
  try {
    const { latency_ms } = await ask([textMessage("user", "Reply with the word ready.")]);
    Object.assign(check, { answers: true, latency_ms });
  } catch (error) {
    note("a plain question", error);
    return check;
  }
  try {
    await drawBox(join(folder, "box.png"));
    const image = { type: "image" as const, name: "box 1", path: "box.png", ...SIZE };
    const { reply } = await ask([{ role: "user", parts: [{ type: "text", text: QUESTION }, image] }]);
    check.coordinates = unitOf(reply.text);
    check.vision = check.coordinates === null ? "wrong" : "yes";
    if (check.coordinates === null)
      check.notes.push(`the picture: it answered ${JSON.stringify(reply.text.slice(0, 200))}`);
    else if (check.coordinates !== settings.coordinates)
      check.notes.push(`it answers in ${check.coordinates}: set model.coordinates = "${check.coordinates}"`);
  } catch (error) {
    check.vision = isSkill2RealError(error, "model_image_refused") ? "no" : "wrong";
    note("the picture", error);
  }
  try {
    const { reply } = await ask(
      [textMessage("user", "Use the tool finish with claim unresolved and evidence none.")],
      TOOLS,
    );
    check.tools = reply.tool ? "yes" : "no";
  } catch (error) {
    check.tools = "no";
    note("tools", error);
  }
  return check;
}

async function drawBox(path: string): Promise<void> {
  const { x0, y0, x1, y1 } = BOX;
  const red = {
    create: { width: x1 - x0, height: y1 - y0, channels: 3 as const, background: { r: 200, g: 30, b: 30 } },
  };
  await sharp({ create: { ...SIZE, channels: 3, background: { r: 140, g: 140, b: 140 } } })
    .composite([{ input: await sharp(red).png().toBuffer(), left: x0, top: y0 }])
    .png()
    .toFile(path);
}

/** In which unit a reply names the drawn box; null where it names another place or none. */
export function unitOf(text: string): "pixel" | "norm1000" | null {
  const corners = ["x0", "y0", "x1", "y1"].map((key) =>
    Number(new RegExp(`"${key}"\\s*:\\s*(-?[\\d.]+)`).exec(text)?.[1]),
  );
  const fits = (scale: readonly number[]): boolean =>
    Object.values(BOX).every(
      (value, at) => Math.abs((corners[at] ?? Number.NaN) * (scale[at] ?? 1) - value) <= TOLERANCE_PX,
    );
  if (fits([1, 1, 1, 1])) return "pixel";
  const { width, height } = SIZE;
  return fits([width / 1000, height / 1000, width / 1000, height / 1000]) ? "norm1000" : null;
}
