// Generated from skills/pointing/skill.proto by scripts/generate.mjs. Edit the .proto, then run "npm run generate".

import type { Box, CommonFailure, Pixel, UprightBox } from "../../src/contract/generated/robot-api.js";
import type { SkillContext, SkillResult } from "../../src/runtime/operation.js";

/** Where to look, and for what. */
export type PointToRequest = {
  /** whose left image is searched; the top-down view serves best */
  observation_ref: string;
  /**
   * words, for example "the red can". The built-in pointer knows colours (red, orange, yellow, green, blue, purple) and kinds (box, cylinder, can, ball, tray, bowl, mat, object for any)
   */
  query: string;
};

/** One pixel. */
export type PointToOk = {
  /** ok: one thing fits the words, as far as was seen */
  status: "ok";
  /** for a person */
  message: string;
  /** whose image was searched */
  observation_ref: string;
  /** on the thing, near the middle of what is seen of it */
  pixel: Pixel;
  /** what it was taken for */
  label: string;
  /** what looked */
  model: string;
};

export type PointToFailed = {
  /** Why not. */
  status: CommonFailure | "unknown_ref" | "expired_ref" | "no_depth" | "not_found" | "ambiguous" | "service_failed";
  /** What to mend, for a person. */
  message: string;
};

export type PointToResult = PointToOk | PointToFailed;

/** Where to look, and for what. */
export type LocalizeRequest = {
  /** whose left image is searched; the top-down view serves best */
  observation_ref: string;
  /**
   * words, for example "the red can". The built-in pointer knows colours (red, orange, yellow, green, blue, purple) and kinds (box, cylinder, can, ball, tray, bowl, mat, object for any)
   */
  query: string;
};

/** One thing that fits the words. */
export type LocalizeOk = {
  /** ok: one thing fits the words, as far as was seen */
  status: "ok";
  /** for a person */
  message: string;
  /** whose image was searched */
  observation_ref: string;
  /** tight around the thing in the left image */
  box: Box;
  /** on the thing, near the middle of what is seen of it */
  pixel: Pixel;
  /** what it was taken for */
  label: string;
  /** what looked */
  model: string;
};

export type LocalizeFailed = {
  /** Why not. */
  status: CommonFailure | "unknown_ref" | "expired_ref" | "no_depth" | "not_found" | "ambiguous" | "service_failed";
  /** What to mend, for a person. */
  message: string;
};

export type LocalizeResult = LocalizeOk | LocalizeFailed;

/** Where to look, and for what. */
export type Localize3dRequest = {
  /** whose left image is searched; the top-down view serves best */
  observation_ref: string;
  /**
   * words, for example "the red can". The built-in pointer knows colours (red, orange, yellow, green, blue, purple) and kinds (box, cylinder, can, ball, tray, bowl, mat, object for any)
   */
  query: string;
};

/** One thing that fits the words, measured. */
export type Localize3dOk = {
  /** ok: one thing fits the words and enough of it was measured */
  status: "ok";
  /** for a person */
  message: string;
  /** whose image was searched */
  observation_ref: string;
  /** tight around the thing in the left image */
  box: Box;
  /** on the thing, near the middle of what is seen of it */
  pixel: Pixel;
  /** what it was taken for */
  label: string;
  /** what looked */
  model: string;
  /** depth of the observation */
  depth_ref: string;
  /** mask of the thing */
  mask_ref: string;
  /** of the visible points, world [m] */
  centroid: [number, number, number];
  /** height of the top, world [m] */
  top_z: number;
  /** height of the surface around it, world [m]; null where none is seen */
  support_z: number | null;
  /** gravity-aligned */
  upright_box: UprightBox;
  /** of the measurement, 0 to 1 */
  geometry_confidence: number;
  /** something moved since the observation */
  stale: boolean;
  /** what moved since */
  stale_reason: string | null;
};

export type Localize3dFailed = {
  /** Why not. */
  status: CommonFailure | "unknown_ref" | "expired_ref" | "no_depth" | "outside_image" | "empty_mask" | "no_points" | "not_found" | "ambiguous" | "service_failed";
  /** What to mend, for a person. */
  message: string;
};

export type Localize3dResult = Localize3dOk | Localize3dFailed;

/** What the skill's module exports as `functions`. */
export type SkillFunctions = {
  point_to: (context: SkillContext, request: PointToRequest) => Promise<SkillResult<PointToResult>>;
  localize: (context: SkillContext, request: LocalizeRequest) => Promise<SkillResult<LocalizeResult>>;
  localize_3d: (context: SkillContext, request: Localize3dRequest) => Promise<SkillResult<Localize3dResult>>;
};
