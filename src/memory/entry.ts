import { parse } from "smol-toml";
import { z } from "zod";
import { describeIssues } from "../contract/describe-issues.js";
import { Skill2RealError } from "../contract/errors.js";

const name = z.string().regex(/^[a-z][a-z0-9_]*$/, "lower case words joined by _");

function isPattern(text: string): boolean {
  try {
    new RegExp(text, "i");
    return true;
  } catch {
    return false;
  }
}

const frontMatterSchema = z.strictObject({
  id: name,
  level: z.enum(["cerebellum", "brain"]),
  topic: name,
  /** Skills whose functions the code calls, beside the required ones. */
  skills: z.array(z.string()).default([]),
  /** Ids of cerebellum entries that the code calls; brain entries alone have them, and each other's helpers in the cerebellum. */
  uses: z.array(name).default([]),
  trigger: z.strictObject({
    /** When the entry applies, in public words. */
    words: z.string().min(1),
    /** Brain: a regular expression over the instruction whose named groups become the task's parameters. */
    pattern: z.string().refine(isPattern, "must be a regular expression").optional(),
  }),
  provenance: z.strictObject({ source: z.string().min(1), date: z.string().regex(/^\d{4}-\d{2}-\d{2}$/) }),
  evidence: z.strictObject({
    episodes: z.number().int().nonnegative(),
    successes: z.number().int().nonnegative(),
    note: z.string().default(""),
  }),
});
export type FrontMatter = z.infer<typeof frontMatterSchema>;

export const SECTIONS = ["Trigger", "Guidance", "Code template", "State", "Expected effect", "Limits"] as const;
export type SectionName = (typeof SECTIONS)[number];

/** A block of code: a cerebellum function, or the program of a brain's stage. */
export type CodeBlock = { stage: string | null; source: string };

export type MemoryEntry = {
  front: FrontMatter;
  /** Path in its library, "topic/id.md". */
  path: string;
  sections: Record<SectionName, string>;
  code: CodeBlock[];
};

const FENCE = /^```ts(?: stage=([a-z_]+))?\n([\s\S]*?)^```$/gm;

const broken = (path: string, words: string): Skill2RealError =>
  new Skill2RealError("bad_config", `memory entry ${path}: ${words}`);

/** Reads one entry; throws `bad_config` naming what is missing, twice, or unknown. */
export function parseEntry(path: string, text: string): MemoryEntry {
  const match = /^\+\+\+\n([\s\S]*?)\n\+\+\+\n([\s\S]*)$/.exec(text);
  if (!match) throw broken(path, "begins with +++, TOML, +++");
  let value: unknown;
  try {
    value = parse(match[1] ?? "");
  } catch (cause) {
    throw broken(path, `front matter: ${(cause as Error).message}`);
  }
  const parsed = frontMatterSchema.safeParse(value);
  if (!parsed.success)
    throw broken(path, describeIssues(frontMatterSchema, value, parsed.error.issues, "the front matter"));
  const front = parsed.data;
  if (path !== `${front.topic}/${front.id}.md`)
    throw broken(path, `its place must be ${front.topic}/${front.id}.md, as its topic and id say`);
  const sections = splitSections(path, match[2] ?? "");
  const code = [...sections["Code template"].matchAll(FENCE)].map(([, stage, source]) => ({
    stage: stage ?? null,
    source: source ?? "",
  }));
  if (front.level === "cerebellum" && (code.length !== 1 || !/^async function [a-z]\w*\(/m.test(code[0]?.source ?? "")))
    throw broken(path, "a cerebellum entry has one block of code, which declares one async function");
  if (front.level === "brain" && code.some((block) => block.stage === null))
    throw broken(path, "each block of code of a brain entry names its stage: ```ts stage=name");
  return { front, path, sections, code };
}

function splitSections(path: string, body: string): Record<SectionName, string> {
  const sections: Partial<Record<SectionName, string>> = {};
  for (const part of body.split(/^## /m).slice(1)) {
    const [title = "", ...lines] = part.split("\n");
    const known = SECTIONS.find((section) => section === title.trim());
    if (!known) throw broken(path, `unknown section "${title.trim()}"; sections: ${SECTIONS.join(", ")}`);
    if (sections[known] !== undefined) throw broken(path, `section "${known}" is there twice`);
    sections[known] = lines.join("\n").trim();
  }
  const missing = SECTIONS.filter((section) => !sections[section]);
  if (missing.length > 0) throw broken(path, `sections missing or empty: ${missing.join(", ")}`);
  return sections as Record<SectionName, string>;
}
