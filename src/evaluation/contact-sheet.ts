import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import type { ImageRecord, StageRecord } from "../agents/proposer.js";

export const CONTACT_SHEET_FILE = "contact_sheet.png";
const TILE = { width: 320, height: 240, caption: 22 } as const;
const COLUMNS = 4;
const GAP = 6;

const escaped = (text: string): string => text.replace(/[<>&"']/g, (char) => `&#${char.charCodeAt(0)};`);

const caption = (text: string): Buffer =>
  Buffer.from(
    `<svg width="${TILE.width}" height="${TILE.caption}"><rect width="100%" height="100%" fill="#222"/><text x="6" y="15" font-family="sans-serif" font-size="12" fill="#eee">${escaped(text)}</text></svg>`,
  );

/** All stages' images with captions in one PNG in the run's folder; null where the run has no images. Gives its path. */
export async function contactSheet(folder: string, run: string): Promise<string | null> {
  const stagesPath = join(folder, run, "stages.json");
  if (!existsSync(stagesPath)) return null;
  const stages = JSON.parse(await readFile(stagesPath, "utf8")) as StageRecord[];
  const tiles = stages.flatMap((stage) =>
    stage.images
      .filter((image) => existsSync(join(folder, run, image.path)))
      .map((image) => ({ image, words: words(stage, image) })),
  );
  if (tiles.length === 0) return null;
  const rows = Math.ceil(tiles.length / COLUMNS);
  const pitch = { x: TILE.width + GAP, y: TILE.height + TILE.caption + GAP };
  const layers = await Promise.all(
    tiles.map(async ({ image, words }, i) => {
      const [left, top] = [GAP + (i % COLUMNS) * pitch.x, GAP + Math.floor(i / COLUMNS) * pitch.y];
      const picture = await sharp(join(folder, run, image.path))
        .resize(TILE.width, TILE.height, { fit: "contain", background: "#111" })
        .png()
        .toBuffer();
      return [
        { input: picture, left, top },
        { input: caption(words), left, top: top + TILE.height },
      ];
    }),
  );
  const path = join(folder, run, CONTACT_SHEET_FILE);
  await sharp({
    create: {
      width: GAP + Math.min(COLUMNS, tiles.length) * pitch.x,
      height: GAP + rows * pitch.y,
      channels: 3,
      background: "#000",
    },
  })
    .composite(layers.flat())
    .png()
    .toFile(path);
  return path;
}

function words(stage: StageRecord, image: ImageRecord): string {
  return `stage ${stage.stage}  ${image.kind === "overlay" ? `mask in ${image.view}` : image.view}  ${image.observation_ref}  ${image.age_s.toFixed(1)} s old`;
}
