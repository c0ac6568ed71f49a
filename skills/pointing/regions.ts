import { COLOUR_NAMES, type ColourName, colourClasses } from "./colours.js";

export type Region = {
  colour: ColourName;
  /** Half-open. */
  box: { x0: number; y0: number; x1: number; y1: number };
  area_px: number;
  /** Pixels of the region, row-major indices. */
  pixels: Int32Array;
};

const LEAST_AREA_PX = 80;

/** Each pixel takes the class that most of its 3 x 3 neighbourhood has: single pixels of noise go. */
function smoothed(classes: Uint8Array, width: number, height: number): Uint8Array {
  const out = new Uint8Array(classes.length);
  const votes = new Uint8Array(COLOUR_NAMES.length + 1);
  for (let y = 1; y < height - 1; y++) {
    for (let x = 1; x < width - 1; x++) {
      votes.fill(0);
      for (let dy = -1; dy <= 1; dy++)
        for (let dx = -1; dx <= 1; dx++) votes[classes[(y + dy) * width + x + dx]!]! += 1;
      let best = 0;
      for (let k = 1; k < votes.length; k++) if (votes[k]! > votes[best]!) best = k;
      out[y * width + x] = best;
    }
  }
  return out;
}

/** Connected regions of one named colour, largest first. */
export function colourRegions(pixels: Uint8Array, width: number, height: number): Region[] {
  const classes = smoothed(colourClasses(pixels), width, height);
  const seen = new Uint8Array(classes.length);
  const stack = new Int32Array(classes.length);
  const regions: Region[] = [];
  for (let start = 0; start < classes.length; start++) {
    const wanted = classes[start]!;
    if (wanted === 0 || seen[start]) continue;
    const members: number[] = [];
    const box = { x0: width, y0: height, x1: 0, y1: 0 };
    let top = 0;
    stack[top++] = start;
    seen[start] = 1;
    while (top > 0) {
      const i = stack[--top]!;
      members.push(i);
      const [x, y] = [i % width, Math.floor(i / width)];
      box.x0 = Math.min(box.x0, x);
      box.y0 = Math.min(box.y0, y);
      box.x1 = Math.max(box.x1, x + 1);
      box.y1 = Math.max(box.y1, y + 1);
      // The border rows and columns have class 0, so neighbours are always inside the image.
      for (const j of [
        i - 1,
        i + 1,
        i - width,
        i + width,
        i - width - 1,
        i - width + 1,
        i + width - 1,
        i + width + 1,
      ]) {
        if (seen[j] || classes[j] !== wanted) continue;
        seen[j] = 1;
        stack[top++] = j;
      }
    }
    if (members.length >= LEAST_AREA_PX)
      regions.push({
        colour: COLOUR_NAMES[wanted - 1]!,
        box,
        area_px: members.length,
        pixels: Int32Array.from(members),
      });
  }
  return regions.sort((a, b) => b.area_px - a.area_px);
}
