import type { SeenThing, SkillContext } from "../../src/runtime/operation.js";
import { classify } from "./classify-shape.js";
import { measureRegion } from "./measure-region.js";
import { type Kind, parseQuery, type Query } from "./parse-query.js";
import { colourRegions, type Region } from "./regions.js";

export const POINTER_MODEL = "pointing/colour-shape";
/** A kind that is this much less likely than the best one is ruled out. */
const CLEARLY = 0.5;

type Seen = { region: Region; kinds: Partial<Record<Kind, number>> };
/** One thing, and what looked. */
export type Found = SeenThing & { observation_ref: string; model: string };

const best = (seen: Seen): Kind | null =>
  (Object.entries(seen.kinds) as [Kind, number][]).sort((a, b) => b[1] - a[1])[0]?.[0] ?? null;
const label = (seen: Seen): string => `${seen.region.colour} ${best(seen) ?? "thing"}`;

/** Whether a thing can be of the kind asked for: "yes" when that is its likeliest kind, "perhaps" when it is nearly so. */
function fits(seen: Seen, kind: Kind | null): "yes" | "perhaps" | "no" {
  if (kind === null) return "yes";
  const asked = seen.kinds[kind] ?? 0;
  const most = Math.max(0, ...Object.values(seen.kinds));
  if (asked === 0) return "no";
  return asked === most ? "yes" : asked >= CLEARLY * most ? "perhaps" : "no";
}

/** The pixel of a region that is nearest to the middle of its pixels: on the thing, even where it is hollow. */
function middle(region: Region, width: number): { u: number; v: number } {
  const [cu, cv] = [(region.box.x0 + region.box.x1 - 1) / 2, (region.box.y0 + region.box.y1 - 1) / 2];
  let nearest = { u: cu, v: cv, distance: Number.POSITIVE_INFINITY };
  for (const i of region.pixels) {
    const [u, v] = [i % width, Math.floor(i / width)];
    const distance = Math.hypot(u - cu, v - cv);
    if (distance < nearest.distance) nearest = { u, v, distance };
  }
  return { u: nearest.u, v: nearest.v };
}

/** The one thing that fits the words, by the configured pointer, or by colours and shapes; ends the function where there is none. */
export async function findOne(context: SkillContext, observation_ref: string, query: string): Promise<Found> {
  const { pointer } = context.services;
  if (pointer === null) return byColourAndShape(context, observation_ref, query);
  const things = await pointer.find(context.image(observation_ref), query);
  const [thing] = things;
  if (!thing) return context.fail("not_found", `${pointer.model} sees nothing that fits "${query}"`);
  if (things.length > 1) {
    const places = things.map(({ label, pixel }) => `${label} at (${pixel.u}, ${pixel.v})`).join(", ");
    return context.fail("ambiguous", `${things.length} things fit "${query}": ${places}`);
  }
  return { observation_ref, ...thing, model: pointer.model };
}

async function byColourAndShape(context: SkillContext, observation_ref: string, words: string): Promise<Found> {
  const parsed = parseQuery(words);
  if (!parsed.ok)
    return context.fail("not_found", `the word "${parsed.word}" says neither a known colour nor a known kind`);
  const query: Query = parsed.query;
  const { pixels, width, height } = context.image(observation_ref);
  const regions = colourRegions(pixels, width, height).filter(
    (region) => query.colour === null || region.colour === query.colour,
  );
  if (regions.length === 0)
    return context.fail("not_found", `nothing ${query.colour ?? "coloured"} is seen in ${observation_ref}`);

  const depth = await context.invoke("get_foundation_stereo_depth", { observation_ref });
  if (depth.status !== "ok") return context.fail(depth.status, depth.message);
  const things: Seen[] = [];
  for (const region of regions) {
    const shape = await measureRegion(context, observation_ref, depth.depth_ref, region, width);
    if (shape) things.push({ region, kinds: classify(shape) });
  }
  const asked = `${query.colour ?? ""} ${query.kind ?? "thing"}`.trim();
  const sure = things.filter((thing) => fits(thing, query.kind) === "yes");
  const possible = things.filter((thing) => fits(thing, query.kind) === "perhaps");
  const candidates = sure.length > 0 ? sure : possible;
  const [thing] = candidates;
  if (!thing)
    return context.fail(
      "not_found",
      `no ${asked} is seen; what is there of that colour: ${things.map(label).join(", ") || "nothing that can be measured"}`,
    );
  if (candidates.length > 1) {
    const places = candidates.map((one) => {
      const { u, v } = middle(one.region, width);
      return `${label(one)} at (${u}, ${v})`;
    });
    return context.fail("ambiguous", `${candidates.length} things fit "${asked}": ${places.join(", ")}`);
  }
  return {
    observation_ref,
    box: thing.region.box,
    pixel: middle(thing.region, width),
    label: label(thing),
    model: POINTER_MODEL,
  };
}
