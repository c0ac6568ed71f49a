import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { Skill2RealError } from "../contract/errors.js";

export type ImageStoreOptions = {
  /** The run's folder; images go to `images/` in it. Null: images are encoded for the trace only, and have no file. */
  folder: string | null;
};

const PNG_OPTIONS = { compressionLevel: 2, adaptiveFiltering: false } as const;

/** Writes the PNGs whose paths the operations return, and remembers the newest of each view and stage. */
export class ImageStore {
  readonly #folder: string | null;
  readonly #newest = new Map<string, { path: string; stage: number }[]>();
  #count = 0;

  constructor(options: ImageStoreOptions) {
    this.#folder = options.folder;
  }

  /** Encodes RGB8 rows and writes `images/<number>_<name>.png`; throws `storage_failed`. Gives the relative path and the bytes. */
  async save(
    name: string,
    pixels: Uint8Array,
    width: number,
    height: number,
  ): Promise<{ path: string; png: Uint8Array }> {
    this.#count += 1;
    const path = `images/${String(this.#count).padStart(4, "0")}_${name}.png`;
    const png = await sharp(pixels, { raw: { width, height, channels: 3 } })
      .png(PNG_OPTIONS)
      .toBuffer();
    if (this.#folder !== null) {
      try {
        await mkdir(join(this.#folder, "images"), { recursive: true });
        await writeFile(join(this.#folder, path), png);
      } catch (cause) {
        throw new Skill2RealError(
          "storage_failed",
          `the image ${path} cannot be written to the run's folder (${(cause as NodeJS.ErrnoException).code}): free space or choose another folder with [runs] folder`,
          { cause },
        );
      }
    }
    return { path, png };
  }

  /** Notes that `path` is the newest left image of a view. */
  note(view: string, path: string, stage: number): void {
    const list = this.#newest.get(view) ?? [];
    list.push({ path, stage });
    this.#newest.set(view, list);
  }

  /** The newest image of a view, or of one before `beforeStage`; null where there is none. */
  newest(view: string, beforeStage = Number.POSITIVE_INFINITY): string | null {
    return this.#newest.get(view)?.findLast((entry) => entry.stage < beforeStage)?.path ?? null;
  }
}
