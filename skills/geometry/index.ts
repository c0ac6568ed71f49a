import { type OperationTable, plain } from "../../src/runtime/operation.js";
import { computeDepth } from "./compute-depth.js";
import { maskFromBox } from "./mask-from-box.js";
import { measureGeometry } from "./measure-geometry.js";
import { pointFromPixel } from "./point-from-pixel.js";

export const operations: OperationTable = {
  get_foundation_stereo_depth: plain(computeDepth),
  get_sam_mask_from_box: plain(maskFromBox),
  measure_visible_geometry: plain(measureGeometry),
  get_point_from_pixel: plain(pointFromPixel),
};
