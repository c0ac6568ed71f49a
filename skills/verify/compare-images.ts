import type { SkillContext, SkillResult } from "../../src/runtime/operation.js";
import type { CompareImagesRequest, CompareImagesResult } from "./skill.gen.js";

/** What a model sees to differ between two observations of one view. */
export async function compareImages(
  context: SkillContext,
  { before_ref, after_ref, question }: CompareImagesRequest,
): Promise<SkillResult<CompareImagesResult>> {
  const { verifier } = context.services;
  if (verifier === null) return context.fail("service_failed", "no service that compares images is configured");
  const [before, after] = [context.image(before_ref), context.image(after_ref)];
  if (before.view !== after.view)
    return context.fail("mismatched_refs", `before_ref is of the ${before.view} view, after_ref of ${after.view}`);
  if (after.taken_at_s <= before.taken_at_s)
    return context.fail(
      "mismatched_refs",
      "after_ref was not taken later than before_ref: exchange them, or look again",
    );
  const said = await verifier.compare(before, after, question);
  return { ...said, elapsed_s: after.taken_at_s - before.taken_at_s, model: verifier.model };
}
