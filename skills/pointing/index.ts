import { findOne } from "./find-one.js";
import { localize3d } from "./localize-3d.js";
import type { SkillFunctions } from "./skill.gen.js";

export const functions: SkillFunctions = {
  point_to: async (context, { observation_ref, query }) => {
    const { box: _box, ...point } = await findOne(context, observation_ref, query);
    return point;
  },
  localize: (context, { observation_ref, query }) => findOne(context, observation_ref, query),
  localize_3d: localize3d,
};
