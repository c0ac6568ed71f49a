// Generated from skills/segmentation/skill.proto by scripts/generate.mjs. Edit the .proto, then run "npm run generate".

import type { Box, CommonFailure, Pixel } from "../../src/contract/generated/robot-api.js";
import type { SkillContext, SkillResult } from "../../src/runtime/operation.js";

/** Where to look, and for what. */
export type SegmentTextRequest = {
  /** whose left image is searched */
  observation_ref: string;
  /** words, for example "cans" */
  query: string;
  /** default 20. Range: 1 to 50. */
  max_segments?: number;
};

/** One thing and its mask. */
export type Segment = {
  /** what it was taken for */
  label: string;
  /** that the mask was asked for */
  box: Box;
  /** on the thing */
  pixel: Pixel;
  /** names the mask */
  mask_ref: string;
  /** pixels in the mask */
  area_px: number;
  /** tight around the mask */
  bounds: Box;
};

/** Everything that fits the words. */
export type SegmentTextOk = {
  /** ok: the image was searched */
  status: "ok";
  /** for a person */
  message: string;
  /** whose image was searched */
  observation_ref: string;
  /** largest mask first */
  segments: Segment[];
  /** things that were seen; more than segments where some have no mask or are beyond max_segments */
  found: number;
  /** what looked */
  model: string;
};

export type SegmentTextFailed = {
  /** Why not. */
  status: CommonFailure | "unknown_ref" | "expired_ref" | "service_failed";
  /** What to mend, for a person. */
  message: string;
};

export type SegmentTextResult = SegmentTextOk | SegmentTextFailed;

/** What the skill's module exports as `functions`. */
export type SkillFunctions = {
  segment_text: (context: SkillContext, request: SegmentTextRequest) => Promise<SkillResult<SegmentTextResult>>;
};
