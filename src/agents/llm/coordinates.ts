import type { ImageRecord } from "../proposer.js";

/** What is said of pixel coordinates to a model that answers in thousandths. */
export const NORM1000_RULE = `Coordinates that you read from an image are in thousandths of its width and height (0 to 1000), whatever its size. The operations take pixels: convert with
\`boxInPixels(box, view)\` and \`pointInPixels(point, view)\`, where \`view\` has the \`width\` and \`height\` of the image. Coordinates that an operation gave you are pixels already.`;

/**
 * Functions that a program of a model in thousandths finds at its end. The centre of the first pixel is at 0 and that of the
 * last at 1000, so that a point p of an image of width w is the pixel p / 1000 * (w - 1); a box is half-open, so that its far
 * sides, which may be the image's own, are p / 1000 * w.
 */
export const NORM1000_FUNCTIONS = `
function boxInPixels(box: Box, view: { width: number; height: number }): Box {
  const at = (value: number, size: number): number => Math.min(size, Math.max(0, Math.round((value / 1000) * size)));
  return { x0: at(box.x0, view.width), y0: at(box.y0, view.height), x1: at(box.x1, view.width), y1: at(box.y1, view.height) };
}
function pointInPixels(point: Pixel, view: { width: number; height: number }): Pixel {
  const at = (value: number, size: number): number => Math.min(size - 1, Math.max(0, Math.round((value / 1000) * (size - 1))));
  return { u: at(point.u, view.width), v: at(point.v, view.height) };
}
`;

type Size = { width: number; height: number };
const box = (value: number, size: number): number => Math.min(size, Math.max(0, Math.round((value / 1000) * size)));
const point = (value: number, size: number): number =>
  Math.min(size - 1, Math.max(0, Math.round((value / 1000) * (size - 1))));

type Corners = { x0: number; y0: number; x1: number; y1: number };
/** A box in thousandths of an image, in its pixels. */
export const boxInPixels = ({ x0, y0, x1, y1 }: Corners, { width, height }: Size): Corners => ({
  x0: box(x0, width),
  y0: box(y0, height),
  x1: box(x1, width),
  y1: box(y1, height),
});
export const pointInPixels = (
  { u, v }: { u: number; v: number },
  { width, height }: Size,
): { u: number; v: number } => ({
  u: point(u, width),
  v: point(v, height),
});
const numbers = (value: unknown, keys: readonly string[]): value is Record<string, number> =>
  typeof value === "object" &&
  value !== null &&
  keys.every((key) => typeof (value as Record<string, unknown>)[key] === "number");

/** A request of a single operation with its pixel coordinates in thousandths, as the operation takes it. */
export function requestInPixels(request: Record<string, unknown>, { width, height }: Size): Record<string, unknown> {
  const out = { ...request };
  if (numbers(out.box, ["x0", "y0", "x1", "y1"])) {
    out.box = boxInPixels(out.box as Corners, { width, height });
  }
  if (numbers(out.target_pixel, ["u", "v"])) {
    out.target_pixel = pointInPixels(out.target_pixel as { u: number; v: number }, { width, height });
  }
  if (typeof out.u === "number" && typeof out.v === "number")
    Object.assign(out, { u: point(out.u, width), v: point(out.v, height) });
  return out;
}

/** Size of the image that a request speaks of; that of the newest one where it names none. */
export function sizeFor(request: Record<string, unknown>, images: readonly ImageRecord[]): Size | null {
  const named = images.find(({ observation_ref }) => observation_ref === request.observation_ref);
  const { width, height } = named ?? images.at(-1) ?? {};
  return width && height ? { width, height } : null;
}
