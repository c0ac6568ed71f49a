import { Skill2RealError } from "../../contract/errors.js";
import { suggest } from "../../contract/suggest.js";
import type { HilCheck, HilGroup } from "./check.js";
import { checkId } from "./report.js";

export type ChosenCheck = { group: string; check: HilCheck };

export const eachCheck = (groups: readonly HilGroup[]): ChosenCheck[] =>
  groups.flatMap(({ group, checks }) => checks.map((check) => ({ group, check })));

/** A pattern as a regular expression: `*` stands for anything, everything else for itself; it may match a part. */
function expressionOf(pattern: string): RegExp {
  const words = pattern
    .split("*")
    .map((part) => part.replace(/[\\^$.+?()[\]{}|]/g, "\\$&"))
    .join(".*");
  return new RegExp(words, "i");
}

/**
 * Checks whose "group: name" one of the patterns matches; all without patterns. Throws `not_found` with the nearest name for a
 * pattern that matches none, so that a typing error does not look like a clean run.
 */
export function chooseChecks(groups: readonly HilGroup[], patterns: readonly string[] = []): ChosenCheck[] {
  const all = eachCheck(groups);
  if (patterns.length === 0) return all;
  const ids = all.map(({ group, check }) => checkId({ group, name: check.name }));
  const chosen = new Set<number>();
  for (const pattern of patterns) {
    const expression = expressionOf(pattern);
    const hits = ids.flatMap((id, index) => (expression.test(id) ? [index] : []));
    if (hits.length === 0) {
      const names = [...groups.map(({ group }) => group), ...all.map(({ check }) => check.name)];
      throw new Skill2RealError(
        "not_found",
        `no check matches "${pattern}".${suggest(pattern, names)} "hil --list" lists them`,
      );
    }
    for (const index of hits) chosen.add(index);
  }
  return all.filter((_, index) => chosen.has(index));
}
