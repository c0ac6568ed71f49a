export const COLOUR_NAMES = ["red", "orange", "yellow", "green", "blue", "purple"] as const;
export type ColourName = (typeof COLOUR_NAMES)[number];

/** Upper ends of the hue ranges in degrees, in order; what lies above the last is red again. */
const HUE_ENDS: readonly [number, ColourName][] = [
  [13, "red"],
  [40, "orange"],
  [85, "yellow"],
  [170, "green"],
  [250, "blue"],
  [330, "purple"],
];
/** Below this a surface counts as grey: wood, metal and cloth have some tint of their own. */
const LEAST_SATURATION = 0.45;
const LEAST_VALUE = 28;

/** 0 for what has no colour of its own, else 1 + the index in COLOUR_NAMES; one per pixel of RGB8 rows. */
export function colourClasses(pixels: Uint8Array): Uint8Array {
  const classes = new Uint8Array(pixels.length / 3);
  for (let i = 0; i < classes.length; i++) classes[i] = classOf(pixels[3 * i]!, pixels[3 * i + 1]!, pixels[3 * i + 2]!);
  return classes;
}

function classOf(r: number, g: number, b: number): number {
  const most = Math.max(r, g, b);
  const span = most - Math.min(r, g, b);
  if (most < LEAST_VALUE || span < LEAST_SATURATION * most) return 0;
  const sector = most === r ? ((g - b) / span + 6) % 6 : most === g ? (b - r) / span + 2 : (r - g) / span + 4;
  const name = HUE_ENDS.find(([end]) => sector * 60 < end)?.[1] ?? "red";
  return 1 + COLOUR_NAMES.indexOf(name);
}
