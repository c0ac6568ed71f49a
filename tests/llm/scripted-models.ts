/** Models that are scripts: they know what a good model could know, and see nothing but the request. */
import sharp from "sharp";
import { classify } from "../../skills/pointing/classify-shape.js";
import { parseQuery, type Query } from "../../skills/pointing/parse-query.js";
import { colourRegions, type Region } from "../../skills/pointing/regions.js";
import { packageFile } from "../../src/contract/package-root.js";
import { composeProgram, readMemories, triggeredBy } from "../../src/memory/index.js";
import { type ChatRequest, type Handler, saying } from "../support/model-endpoint.js";

const { brain, cerebellum } = readMemories(packageFile("memories", "starter"));
const template = (id: string): string => cerebellum.entries.find(({ front }) => front.id === id)?.code[0]?.source ?? "";

const textOf = ({ content }: ChatRequest["messages"][number]): string =>
  typeof content === "string" ? content : content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
const everything = (request: ChatRequest): string => request.messages.map(textOf).join("\n");
const goalOf = (request: ChatRequest): string => /^Goal: (.*)$/m.exec(everything(request))?.[1] ?? "";

/** What the last stage's program returned, as the request tells it; null where none did. */
function returned(request: ChatRequest): Record<string, unknown> | null {
  const last = request.messages.map(textOf).findLast((text) => /^Stage \d+, /m.test(text));
  const json = last === undefined ? undefined : /^Returned: (.*)$/m.exec(last)?.[1];
  return json === undefined ? null : (JSON.parse(json) as Record<string, unknown>);
}
const failedStages = (request: ChatRequest): number =>
  request.messages.filter((message) => /the program (threw|was ended|did not pass)/.test(textOf(message))).length;

type Decided = { program: string } | { finish: string; evidence: string };

/** Plays the entry of the starter library that fits the goal, stage by stage. */
function fromLibrary(request: ChatRequest): Decided {
  const chosen = triggeredBy(brain, goalOf(request));
  if (!chosen) return { finish: "unresolved", evidence: "no entry fits" };
  const state = returned(request);
  if (typeof state?.finish === "string") return { finish: state.finish, evidence: String(state.evidence) };
  if (failedStages(request) > 3) return { finish: "execution_failure", evidence: "programs failed" };
  return { program: composeProgram(cerebellum, chosen, typeof state?.next === "string" ? state.next : "observe") };
}

/** Style 1: calls of tools, without words. */
export const toolCalls: Handler = saying((request) => {
  const decided = fromLibrary(request);
  const call =
    "program" in decided
      ? { name: "run_program", arguments: JSON.stringify({ program: decided.program, purpose: "the next stage" }) }
      : { name: "finish", arguments: JSON.stringify({ claim: decided.finish, evidence: decided.evidence }) };
  return { content: null, tool: call };
}, "tool_calls");

/** Style 2: prose around one fenced program. */
export const fencedPrograms: Handler = saying((request) => spoken(fromLibrary(request)));

const spoken = (decided: Decided): string =>
  "program" in decided
    ? `I go on with the next step.\n\n\`\`\`typescript\n${decided.program}\`\`\`\n\nThen I look again.`
    : `\`\`\`json\n${JSON.stringify({ finish: decided.finish, evidence: decided.evidence })}\n\`\`\``;

/** Style 3: no pointer; boxes come from the pixels and captions of the request alone. */
export const seeingModel: Handler = saying(async (request) => spoken(await fromPixels(request)));

type Picture = { observation_ref: string; pixels: Uint8Array; width: number; height: number };

/** The newest top-down image of a request, decoded, with the ref in its caption. */
async function newestTopdown(request: ChatRequest): Promise<Picture | null> {
  for (const { content } of request.messages.toReversed()) {
    if (typeof content === "string") continue;
    for (let at = content.length - 1; at > 0; at -= 1) {
      const [part, caption] = [content[at], content[at - 1]];
      if (part?.type !== "image_url" || caption?.type !== "text") continue;
      const said = /^\[topdown \d+\] observation_ref (\S+),/.exec(caption.text);
      if (!said) continue;
      const png = Buffer.from(part.image_url.url.replace(/^data:image\/png;base64,/, ""), "base64");
      const { data, info } = await sharp(png).removeAlpha().raw().toBuffer({ resolveWithObject: true });
      return { observation_ref: said[1] ?? "", pixels: data, width: info.width, height: info.height };
    }
  }
  return null;
}

const GOAL = /^(?:please )?(?:put|place|move|set) the ([a-z ]+?) (?:into|in|onto|on) the ([a-z ]+?)\.?$/i;
const MARGIN_PX = 2;
const boxOf = ({ box: { x0, y0, x1, y1 } }: Region) => ({
  x0: x0 - MARGIN_PX,
  y0: y0 - MARGIN_PX,
  x1: x1 + MARGIN_PX,
  y1: y1 + MARGIN_PX,
});

type Measured = {
  box: { x0: number; y0: number; x1: number; y1: number };
  mask_ref: string;
  center: number[];
  size: number[];
  yaw_rad: number;
  yaw_defined: boolean;
  top_z: number;
  support_z: number | null;
  dome: number | null;
};

/** Measures every candidate box, with the lean of its top from a grid of points. */
const measuring = (observation_ref: string, boxes: unknown): string => `
const observation_ref = ${JSON.stringify(observation_ref)};
const boxes = ${JSON.stringify(boxes)};
const depth = await robot.get_foundation_stereo_depth({ observation_ref });
if (depth.status !== "ok") return { phase: "failed", why: depth.message };
const things = [];
for (const box of boxes) {
  const mask = await robot.get_sam_mask_from_box({ observation_ref, box });
  if (mask.status !== "ok") continue;
  const shape = await robot.measure_visible_geometry({ mask_ref: mask.mask_ref, depth_ref: depth.depth_ref });
  if (shape.status !== "ok") continue;
  const { center, size, yaw_rad, yaw_defined } = shape.upright_box;
  let leaning = 0;
  let distance = 0;
  let count = 0;
  const radius = (size[0] + size[1]) / 4;
  for (let i = 0; i < 8 && Math.max(size[0], size[1]) < 0.1; i += 1)
    for (let j = 0; j < 8; j += 1) {
      const u = Math.round(box.x0 + ((i + 0.5) * (box.x1 - box.x0)) / 8);
      const v = Math.round(box.y0 + ((j + 0.5) * (box.y1 - box.y0)) / 8);
      const hit = await robot.get_point_from_pixel({ depth_ref: depth.depth_ref, u, v });
      if (hit.status !== "ok" || hit.normal === null) continue;
      const dx = hit.point[0] - center[0];
      const dy = hit.point[1] - center[1];
      const r = Math.hypot(dx, dy) / radius;
      if (r < 0.2 || r > 0.72 || hit.normal[2] < 0.5) continue;
      leaning += (hit.normal[0] * dx + hit.normal[1] * dy) / (r * radius);
      distance += r;
      count += 1;
    }
  things.push({ box, mask_ref: mask.mask_ref, center, size, yaw_rad, yaw_defined, top_z: shape.top_z, support_z: shape.support_z, dome: count < 4 ? null : leaning / distance });
}
return { phase: "measured", observation_ref, depth_ref: depth.depth_ref, things };
`;

const grasping = (thing: Measured, state: Record<string, unknown>, goal: Measured): string => {
  const { box: _box, dome: _dome, support_z, ...rest } = thing;
  const seen = { ...rest, depth_ref: state.depth_ref, support_z: support_z ?? thing.center[2]! - thing.size[2]! / 2 };
  return `
${template("grasp_from_above")}
const grasp = await grasp_from_above(${JSON.stringify(seen)});
return { phase: grasp.ok ? "held" : "again", observation_ref: ${JSON.stringify(state.observation_ref)}, depth_ref: ${JSON.stringify(state.depth_ref)}, goal: ${JSON.stringify(goal.box)} };
`;
};

const placing = (state: Record<string, unknown>): string => {
  const goal = state.goal as Measured["box"];
  const [u, v] = [(goal.x0 + goal.x1 - 1) / 2, (goal.y0 + goal.y1 - 1) / 2];
  const [du, dv] = [(goal.x1 - goal.x0) / 8, (goal.y1 - goal.y0) / 8];
  const pixels = [
    [0, 0],
    [1, 0],
    [-1, 0],
    [0, 1],
    [0, -1],
  ].map(([i, j]) => ({ u: u + i! * du, v: v + j! * dv }));
  return `
${template("place_at_pixel")}
const placed = await place_at_pixel(${JSON.stringify(state.observation_ref)}, ${JSON.stringify(state.depth_ref)}, ${JSON.stringify(pixels)});
await robot.goto_home({});
await robot.get_topdown_stereo_view();
return { phase: placed.ok ? "placed" : "again", goal: ${JSON.stringify(goal)} };
`;
};

const LOOKING = `await robot.gripper_goto({ opening_m: 0.08 });
await robot.goto_home({});
await robot.get_topdown_stereo_view();
return { phase: "look" };
`;

/** How well a measured thing is what the words name; 0 for another colour. */
function likeness(thing: Measured, query: Query): number {
  const [long_m, short_m] = [Math.max(thing.size[0]!, thing.size[1]!), Math.min(thing.size[0]!, thing.size[1]!)];
  const height_m = thing.top_z - (thing.support_z ?? thing.center[2]! - thing.size[2]! / 2);
  const kinds = classify({ long_m, short_m, height_m, round: !thing.yaw_defined, dome: thing.dome });
  return query.kind === null ? 1 : (kinds[query.kind] ?? 0);
}

async function fromPixels(request: ChatRequest): Promise<Decided> {
  const [, objectWords = "", goalWords = ""] = GOAL.exec(goalOf(request)) ?? [];
  const [object, goal] = [parseQuery(objectWords), parseQuery(goalWords)];
  const picture = await newestTopdown(request);
  if (!object.ok || !goal.ok || !picture)
    return { finish: "unresolved", evidence: "the goal or the view is not clear" };
  if (request.messages.length > 30 || failedStages(request) > 3)
    return { finish: "execution_failure", evidence: "too many tries" };
  const regions = colourRegions(picture.pixels, picture.width, picture.height);
  const coloured = (query: Query): Region[] => regions.filter(({ colour }) => colour === query.colour);
  const state = returned(request);
  if (state?.phase === "measured") {
    const things = state.things as Measured[];
    const best = (query: Query): Measured | undefined => {
      const own = coloured(query).map((region) => JSON.stringify(boxOf(region)));
      return things
        .filter(({ box }) => own.includes(JSON.stringify(box)))
        .toSorted((a, b) => likeness(b, query) - likeness(a, query))[0];
    };
    const [thing, place] = [best(object.query), best(goal.query)];
    return thing && place ? { program: grasping(thing, state, place) } : { program: LOOKING };
  }
  if (state?.phase === "held") return { program: placing(state) };
  if (state?.phase === "again") return { program: LOOKING };
  if (state?.phase === "placed") {
    const { x0, y0, x1, y1 } = state.goal as Measured["box"];
    const inside = coloured(object.query).some(({ box }) => {
      const [u, v] = [(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2];
      return u > x0 && u < x1 && v > y0 && v < y1 && box.x1 - box.x0 < x1 - x0;
    });
    return inside
      ? { finish: "supported", evidence: `the ${objectWords} is seen inside the ${goalWords}` }
      : { program: LOOKING };
  }
  const candidates = [...new Set([...coloured(object.query), ...coloured(goal.query)])];
  return { program: measuring(picture.observation_ref, candidates.map(boxOf)) };
}
