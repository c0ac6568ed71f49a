import type { ImageRecord } from "../proposer.js";
import type { ImagePart } from "./messages.js";

/** Counts the images of each view and of overlays, so that a name means the same in a replay. */
export class ImageNames {
  readonly #counts = new Map<string, number>();

  part(image: ImageRecord): ImagePart {
    const label = image.kind === "overlay" ? `mask on ${image.view}` : image.view;
    const ordinal = (this.#counts.get(label) ?? 0) + 1;
    this.#counts.set(label, ordinal);
    return { type: "image", name: `${label} ${ordinal}`, width: image.width, height: image.height, path: image.path };
  }
}

const PIXEL_RULE = "integer pixel = centre, origin top left, u right, v down";
const NORM_RULE = "read coordinates in thousandths of width and height";

/** The line before an image: everything that is needed to give coordinates in it. */
export const caption = (part: ImagePart, image: ImageRecord, coordinates: "pixel" | "norm1000"): string =>
  `[${part.name}] observation_ref ${image.observation_ref}, ${image.width} x ${image.height}, ${coordinates === "pixel" ? PIXEL_RULE : NORM_RULE}, ${image.age_s.toFixed(1)} s old at the end of the stage`;
