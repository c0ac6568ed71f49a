import type { Segment, SkillFunctions } from "./skill.gen.js";

const DEFAULT_SEGMENTS = 20;

export const functions: SkillFunctions = {
  segment_text: async (context, { observation_ref, query, max_segments = DEFAULT_SEGMENTS }) => {
    const { segmenter } = context.services;
    if (segmenter === null) return context.fail("service_failed", "no segmenter is configured");
    const things = await segmenter.find(context.image(observation_ref), query);
    const segments: Segment[] = [];
    const without: string[] = [];
    for (const { label, box, pixel } of things.slice(0, max_segments)) {
      const mask = await context.invoke("get_sam_mask_from_box", { observation_ref, box });
      if (mask.status !== "ok") without.push(`${label}: ${mask.status}`);
      else segments.push({ label, box, pixel, mask_ref: mask.mask_ref, area_px: mask.area_px, bounds: mask.bounds });
    }
    segments.sort((a, b) => b.area_px - a.area_px);
    const message = without.length > 0 ? `without a mask: ${without.join(", ")}` : "";
    return { message, observation_ref, segments, found: things.length, model: segmenter.model };
  },
};
