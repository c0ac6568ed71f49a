// Generated from skills/verify/skill.proto by scripts/generate.mjs. Edit the .proto, then run "npm run generate".

import type { CommonFailure } from "../../src/contract/generated/robot-api.js";
import type { SkillContext, SkillResult } from "../../src/runtime/operation.js";

/** Which images, and what to look at. */
export type CompareImagesRequest = {
  /** observation of before */
  before_ref: string;
  /** observation of the same view, later */
  after_ref: string;
  /** what to look at in particular */
  question: string;
};

/** What was seen to differ. */
export type CompareImagesOk = {
  /** ok: both images were looked at */
  status: "ok";
  /** for a person */
  message: string;
  /** each one thing that looks different; empty where nothing does */
  differences: string[];
  /** what is seen of the question */
  seen: string;
  /** what could not be told, and why */
  uncertainty: string;
  /** device time between the two */
  elapsed_s: number;
  /** what looked */
  model: string;
};

export type CompareImagesFailed = {
  /** Why not. */
  status: CommonFailure | "unknown_ref" | "expired_ref" | "mismatched_refs" | "service_failed";
  /** What to mend, for a person. */
  message: string;
};

export type CompareImagesResult = CompareImagesOk | CompareImagesFailed;

/** What the skill's module exports as `functions`. */
export type SkillFunctions = {
  compare_images: (context: SkillContext, request: CompareImagesRequest) => Promise<SkillResult<CompareImagesResult>>;
};
