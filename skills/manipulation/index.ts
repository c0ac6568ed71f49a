import { pick } from "./pick.js";
import { place } from "./place.js";
import type { SkillFunctions } from "./skill.gen.js";
import { close, open, push } from "./strokes.js";

export const functions: SkillFunctions = { pick, place, push, open, close };
