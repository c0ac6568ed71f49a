import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import { z } from "zod";
import { describeIssues } from "../../contract/describe-issues.js";
import { Skill2RealError } from "../../contract/errors.js";
import { packageFile } from "../../contract/package-root.js";
import { suggest } from "../../contract/suggest.js";

const name = z.string().regex(/^[a-z][a-z0-9_]*$/, "must be lower-case letters, digits and underscores");
const file = z.string().regex(/^[a-z0-9][a-z0-9_-]*\.md$/, "must be the plain name of a .md file beside pack.toml");

const sectionSchema = z.strictObject({
  file,
  /** In only where one of these is on; left out: always. */
  skills: z.array(name).min(1).max(64).optional(),
  /** True: a file that a site may add; without it the section is left out. */
  optional: z.boolean().default(false),
});

/** `pack.toml`: what a model is told of one kind of body, section by section. Unknown keys are refused. */
export const packSchema = z.strictObject({
  name,
  /** One sentence for people. */
  summary: z.string().min(1).max(300),
  embodiment: name.default("robot"),
  sections: z.array(sectionSchema).min(1).max(64),
  /** Exports that the prompt need not describe. */
  undocumented: z.array(name).max(64).default([]),
});

export type PackSection = z.output<typeof sectionSchema>;
export type PromptPack = Omit<z.output<typeof packSchema>, "sections"> & {
  /** With its text; null where an optional file is not there. */
  sections: (PackSection & { text: string | null })[];
};

const bad = (message: string, cause?: unknown): Skill2RealError =>
  new Skill2RealError("bad_config", message, ...(cause === undefined ? [] : [{ cause }]));

/** Packs that ship, by folder name. */
export const shippedPacks = (): string[] =>
  readdirSync(packageFile("prompts"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(packageFile("prompts"), entry.name, "pack.toml")))
    .map((entry) => entry.name)
    .sort();

/** A pack by the name of one that ships, or from a folder. Throws Skill2RealError `bad_config`. */
export function loadPack(nameOrFolder: string): PromptPack {
  const shipped = shippedPacks();
  const folder = shipped.includes(nameOrFolder) ? packageFile("prompts", nameOrFolder) : nameOrFolder;
  const path = join(folder, "pack.toml");
  if (!existsSync(path))
    throw bad(`no prompt pack "${nameOrFolder}": there is no ${path}.${suggest(nameOrFolder, shipped)}`);
  let value: unknown;
  try {
    value = parse(readFileSync(path, "utf8"));
  } catch (cause) {
    throw bad(`${path} cannot be read: ${(cause as Error).message}`, cause);
  }
  const parsed = packSchema.safeParse(value);
  if (!parsed.success)
    throw bad(`${path}: ${describeIssues(packSchema, value, parsed.error.issues, "the pack")}`, parsed.error);
  const twice = parsed.data.sections.find((section, at, all) => all.findIndex((o) => o.file === section.file) !== at);
  if (twice) throw bad(`${path}: section ${twice.file} is there twice`);
  return {
    ...parsed.data,
    sections: parsed.data.sections.map((section) => ({ ...section, text: textOf(folder, section) })),
  };
}

function textOf(folder: string, section: PackSection): string | null {
  const path = join(folder, section.file);
  if (existsSync(path)) return readFileSync(path, "utf8").replaceAll("\r\n", "\n");
  if (section.optional) return null;
  throw bad(`${path} is not there; a section that may be missing says optional = true`);
}
