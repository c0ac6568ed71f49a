import type { CallRecord, ImageRecord } from "./proposer.js";

type Seen = { observation_ref: string; view: string; width: number; height: number; taken_at_s: number };

const VIEW_OF: Record<string, string> = {
  get_topdown_stereo_view: "topdown",
  get_scene_stereo_view: "scene",
  get_wrist_stereo_view: "wrist",
};

/** The last left image of each view and every mask overlay among the results of a stage's calls. */
export function stageImages(
  calls: readonly CallRecord[],
  results: readonly unknown[],
  known: Map<string, Seen>,
  end_s: number,
): ImageRecord[] {
  const views = new Map<string, ImageRecord>();
  const overlays: ImageRecord[] = [];
  calls.forEach((call, i) => {
    const result = results[i] as Record<string, unknown> | string | null;
    if (call.status !== "ok" || typeof result !== "object" || result === null) return;
    const view = VIEW_OF[call.operation];
    if (view) {
      const seen: Seen = {
        observation_ref: String(result.observation_ref),
        view,
        width: Number(result.width),
        height: Number(result.height),
        taken_at_s: Number(result.taken_at_s),
      };
      known.set(seen.observation_ref, seen);
      views.set(view, image("view", seen, String(result.left_image_path), end_s));
    } else if (call.operation === "get_sam_mask_from_box") {
      const seen = known.get(String((call.request as Record<string, unknown>).observation_ref));
      if (seen) overlays.push(image("overlay", seen, String(result.overlay_path), end_s));
    }
  });
  return [...views.values(), ...overlays];
}

function image(kind: ImageRecord["kind"], seen: Seen, path: string, end_s: number): ImageRecord {
  const { view, observation_ref, width, height, taken_at_s } = seen;
  return { kind, view, observation_ref, path, width, height, age_s: Math.max(0, end_s - taken_at_s) };
}

export type { Seen as SeenView };
