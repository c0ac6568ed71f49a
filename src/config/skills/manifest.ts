import { parse } from "smol-toml";
import { z } from "zod";
import { describeIssues } from "../../contract/describe-issues.js";
import { Skill2RealError } from "../../contract/errors.js";

/** Kinds of skills by where their code comes from and when it runs. Only `base` has skills yet; the others may be empty. */
export const LAYERS = ["base", "learned", "reactive", "handlers"] as const;
export type Layer = (typeof LAYERS)[number];

/** What a machine may have at hand beside the robot. */
export const SERVICES = ["segmenter", "pointer", "vlm", "verifier", "policy", "world_model", "mcp"] as const;
export type Service = (typeof SERVICES)[number];

/** Names that are kept for skills to come: a user's skill may not take them. */
export const RESERVED_SKILLS = ["vla", "wam", "reactive", "reflexes", "events", "handlers"] as const;

const name = z
  .string()
  .regex(/^[a-z][a-z0-9_]*$/, "must be lower-case letters, digits and underscores, a letter first")
  .max(64);
const names = z.array(name).max(64);
const services = z.array(z.enum(SERVICES)).max(SERVICES.length);

/** `skill.toml`. Unknown keys are refused. */
export const manifestSchema = z
  .strictObject({
    name,
    /** One sentence for people. */
    summary: z.string().min(1).max(300),
    layer: z.enum(LAYERS).default("base"),
    /** Names of `robot.<name>` that this skill gives programs. */
    exports: names.default([]),
    /** Services that must all be at hand. */
    needs: services.default([]),
    /** Services of which one must be at hand; none listed: none needed. */
    needs_any: services.default([]),
    /** Skills that must be on too. */
    requires: names.default([]),
    /** Skills that may not be asked for together with this one. */
    conflicts: names.default([]),
    /** True: on only where it is enabled by name. */
    optional: z.boolean().default(false),
    /** Kinds of bodies that can have it. */
    embodiments: z.array(name).min(1).max(16).default(["robot"]),
    /** Place in lists and prompts; smaller comes first, equal ones by name. */
    order: z.int().min(0).max(1000).default(50),
    /** Services that one export alone needs: without them it is off, and the rest of the skill stays. */
    export_needs: z.record(name, services).default({}),
  })
  .check(({ value, issues }) => {
    for (const key of Object.keys(value.export_needs)) {
      if (value.exports.includes(key)) continue;
      const message = `names "${key}", which exports does not list`;
      issues.push({ code: "custom", path: ["export_needs"], input: value.export_needs, message });
    }
    const twice = value.exports.find((entry, index) => value.exports.indexOf(entry) !== index);
    if (twice !== undefined)
      issues.push({ code: "custom", path: ["exports"], input: value.exports, message: `lists "${twice}" twice` });
  });

export type SkillManifest = z.output<typeof manifestSchema>;

/** Reads the text of a skill.toml; `where` names the file in messages. Throws Skill2RealError `bad_config`. */
export function parseManifest(text: string, where: string): SkillManifest {
  let value: unknown;
  try {
    value = parse(text);
  } catch (cause) {
    throw new Skill2RealError("bad_config", `${where} is not TOML: ${(cause as Error).message}`, { cause });
  }
  const parsed = manifestSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problem = describeIssues(manifestSchema, value, parsed.error.issues, "the manifest");
  throw new Skill2RealError("bad_config", `${where}: ${problem}`, { cause: parsed.error });
}
