import type { SkillContext, SkillResult } from "../../src/runtime/operation.js";
import { findOne } from "./find-one.js";
import type { Localize3dRequest, Localize3dResult } from "./skill.gen.js";

const BOX_MARGIN_PX = 2;

/** Words to a measured thing: the pointer, then depth, mask and geometry by the contract's own operations. */
export async function localize3d(
  context: SkillContext,
  { observation_ref, query }: Localize3dRequest,
): Promise<SkillResult<Localize3dResult>> {
  const found = await findOne(context, observation_ref, query);
  const depth = await context.invoke("get_foundation_stereo_depth", { observation_ref });
  if (depth.status !== "ok") return context.fail(depth.status, depth.message);
  const { x0, y0, x1, y1 } = found.box;
  const box = { x0: x0 - BOX_MARGIN_PX, y0: y0 - BOX_MARGIN_PX, x1: x1 + BOX_MARGIN_PX, y1: y1 + BOX_MARGIN_PX };
  const mask = await context.invoke("get_sam_mask_from_box", { observation_ref, box });
  if (mask.status !== "ok") return context.fail(mask.status, `mask of the ${found.label}: ${mask.message}`);
  const { depth_ref } = depth;
  const { mask_ref } = mask;
  const geometry = await context.invoke("measure_visible_geometry", { mask_ref, depth_ref });
  if (geometry.status !== "ok")
    return context.fail(geometry.status, `geometry of the ${found.label}: ${geometry.message}`);
  const { centroid, top_z, support_z, upright_box, geometry_confidence, stale, stale_reason } = geometry;
  return {
    ...found,
    depth_ref,
    mask_ref,
    centroid,
    top_z,
    support_z,
    upright_box,
    geometry_confidence,
    stale,
    stale_reason,
  };
}
