import { Skill2RealError } from "../../contract/errors.js";
import { suggest } from "../../contract/suggest.js";

/** What the markers of a section may name. */
export type SectionScope = {
  /** Every skill that there is, and those that are on. */
  skills: readonly string[];
  enabled: ReadonlySet<string>;
  /** Every feature of a robot connection, and those that this one has. */
  features: readonly string[];
  present: ReadonlySet<string>;
  /** API text by what an `api:` marker may name; of a skill that is off it is empty. */
  api: ReadonlyMap<string, string>;
  /** Facts of this robot by the name that `{{name}}` gives. */
  values: ReadonlyMap<string, string>;
};

type Block = { line: number; keeps: boolean; inElse: boolean; outer: boolean };

const MARKER = /^\s*<!--\s*(if|else|end|api)\b\s*:?\s*(.*?)\s*-->\s*$/;
const LOOKS_LIKE_ONE = /<!--\s*(if|else|end|api)\b/;

/**
 * The text of a section for one set of skills, features and facts. Markers stand alone on a line and never reach the model:
 *
 *   <!-- if: NAME, NAME -->   keeps what follows where every named skill or feature is on
 *   <!-- else -->             the other case
 *   <!-- end -->              blocks nest
 *   <!-- api: SKILL -->       the generated documentation of what that skill gives programs
 *
 * and `{{name}}` in a line is a fact of the robot. Throws Skill2RealError `bad_config` with file and line for whatever it
 * does not know, also where it is not kept.
 */
export function renderSection(text: string, file: string, scope: SectionScope): string {
  const blocks: Block[] = [];
  const out: string[] = [];
  const keeping = (): boolean => blocks.every((block) => block.keeps);
  for (const [index, line] of text.split("\n").entries()) {
    const where = `${file}:${index + 1}`;
    const marker = MARKER.exec(line);
    if (!marker) {
      if (LOOKS_LIKE_ONE.test(line)) throw bad(`${where}: a marker stands alone on its line`);
      const filled = fill(line, where, scope.values);
      if (keeping()) out.push(filled);
      continue;
    }
    const [, kind, argument = ""] = marker;
    if (kind === "if") {
      const names = argument.split(",").map((name) => name.trim());
      blocks.push({
        line: index + 1,
        keeps: names.map((name) => isOn(name, where, scope)).every(Boolean),
        inElse: false,
        outer: keeping(),
      });
    } else if (kind === "api") {
      const api = apiText(argument, where, scope);
      if (keeping() && api !== "") out.push(api);
    } else {
      if (argument !== "") throw bad(`${where}: ${kind} takes no name, it has "${argument}"`);
      const block = blocks.at(-1);
      if (!block) throw bad(`${where}: ${kind} without an if before it`);
      if (kind === "end") blocks.pop();
      else if (block.inElse) throw bad(`${where}: a second else for the if of line ${block.line}`);
      else Object.assign(block, { inElse: true, keeps: !block.keeps });
    }
  }
  const open = blocks.at(-1);
  if (open) throw bad(`${file}:${open.line}: this if has no end`);
  return tidy(out.join("\n"));
}

const bad = (message: string): Skill2RealError => new Skill2RealError("bad_config", message);

function isOn(name: string, where: string, { skills, enabled, features, present }: SectionScope): boolean {
  if (skills.includes(name)) return enabled.has(name);
  if (features.includes(name)) return present.has(name);
  throw bad(`${where}: no skill and no feature is named "${name}".${suggest(name, [...skills, ...features])}`);
}

function apiText(name: string, where: string, { api }: SectionScope): string {
  const text = api.get(name);
  if (text === undefined) throw bad(`${where}: no skill is named "${name}".${suggest(name, [...api.keys()])}`);
  return text.trimEnd();
}

function fill(line: string, where: string, values: ReadonlyMap<string, string>): string {
  return line.replace(/\{\{\s*([^{}]*?)\s*\}\}/g, (_, name: string) => {
    const value = values.get(name);
    if (value === undefined) throw bad(`${where}: no fact is named "${name}".${suggest(name, [...values.keys()])}`);
    return value;
  });
}

/** What was cut out leaves at most one empty line behind. */
const tidy = (text: string): string => `${text.replace(/\n{3,}/g, "\n\n").trim()}\n`;
