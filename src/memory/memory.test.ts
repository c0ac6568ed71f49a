import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { packageFile } from "../contract/package-root.js";
import { ProgramChecker } from "../program/index.js";
import { composeProgram, LOCK_FILE, parseEntry, readLibrary, readMemories, triggeredBy, writeLock } from "./index.js";

type Fields = {
  id?: string;
  level?: string;
  topic?: string;
  uses?: string[];
  pattern?: string;
  extra?: string;
  code?: string;
  sections?: string[];
};

const SECTIONS = ["Trigger", "Guidance", "Code template", "State", "Expected effect", "Limits"];

/** Text of an entry that is right but for what a test changes. */
function entry(fields: Fields = {}): string {
  const {
    id = "nudge",
    level = "cerebellum",
    topic = "push",
    uses = [],
    pattern,
    extra = "",
    sections = SECTIONS,
  } = fields;
  const code = fields.code ?? "```ts\nasync function nudge() {\n  return true;\n}\n```";
  const front = [
    `id = "${id}"`,
    `level = "${level}"`,
    `topic = "${topic}"`,
    `uses = ${JSON.stringify(uses)}`,
    extra,
    "[trigger]",
    'words = "When something must move a little."',
    ...(pattern === undefined ? [] : [`pattern = '${pattern}'`]),
    "[provenance]",
    'source = "a test"',
    'date = "2026-01-31"',
    "[evidence]",
    "episodes = 3",
    "successes = 2",
  ];
  const body = sections.map((title) => `## ${title}\n\n${title === "Code template" ? code : "Some words."}\n`);
  return `+++\n${front.join("\n")}\n+++\n\n${body.join("\n")}`;
}

const PATH = "push/nudge.md";
const brain = (fields: Fields = {}) =>
  entry({
    id: "tidy",
    level: "brain",
    pattern: "^tidy (?<what>[a-z ]+)$",
    code: '```ts stage=begin\nreturn { next: "end" };\n```\n\n```ts stage=end\nreturn { finish: "supported" };\n```',
    ...fields,
  });

describe("parseEntry", () => {
  it("reads front matter, sections and code", () => {
    const parsed = parseEntry(PATH, entry());
    expect(parsed.front).toMatchObject({
      id: "nudge",
      level: "cerebellum",
      skills: [],
      uses: [],
      evidence: { episodes: 3, note: "" },
    });
    expect(Object.keys(parsed.sections)).toEqual(SECTIONS);
    expect(parsed.code).toEqual([{ stage: null, source: "async function nudge() {\n  return true;\n}\n" }]);
    expect(parseEntry("push/tidy.md", brain()).code.map((block) => block.stage)).toEqual(["begin", "end"]);
  });

  const wrong: readonly (readonly [string, string, string, RegExp])[] = [
    ["has no front matter", PATH, "# A title\n", /begins with \+\+\+, TOML, \+\+\+/],
    ["has front matter that is not TOML", PATH, entry({ extra: "skills = [" }), /front matter: /],
    ["names an unknown key", PATH, entry({ extra: 'skils = ["pointing"]' }), /skils.*skills/],
    ["has another level", PATH, entry({ level: "spine" }), /level/],
    ["lies in another place than it says", "push/shove.md", entry(), /its place must be push\/nudge\.md/],
    [
      "lacks a section",
      PATH,
      entry({ sections: SECTIONS.filter((title) => title !== "Limits") }),
      /missing or empty: Limits/,
    ],
    ["has a section twice", PATH, entry({ sections: [...SECTIONS, "State"] }), /section "State" is there twice/],
    [
      "has an unknown section",
      PATH,
      entry({ sections: [...SECTIONS, "Notes"] }),
      /unknown section "Notes"; sections: Trigger/,
    ],
    [
      "has no function in a cerebellum",
      PATH,
      entry({ code: "```ts\nconst x = 1;\n```" }),
      /declares one async function/,
    ],
    [
      "has two blocks in a cerebellum",
      PATH,
      entry({ code: "```ts\nasync function a() {}\n```\n\n```ts\nasync function b() {}\n```" }),
      /one block of code/,
    ],
    [
      "has a brain's block without a stage",
      "push/tidy.md",
      brain({ code: "```ts\nreturn 1;\n```" }),
      /names its stage/,
    ],
  ];
  it("refuses a pattern that is no regular expression", () => {
    expect(() => parseEntry("push/tidy.md", brain({ pattern: "^tidy (" }))).toThrow(
      /pattern.*must be a regular expression/,
    );
  });

  it.each(wrong)("refuses an entry that %s", (_, path, text, words) => {
    const parse = () => parseEntry(path, text);
    expect(parse).toThrow(words);
    expect(parse).toThrow(expect.objectContaining({ code: "bad_config", message: expect.stringContaining(path) }));
  });
});

describe("libraries", () => {
  let root: string;
  let count = 0;
  let cerebellum: string;
  let folder: string;
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), "s2r-memory-"));
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  beforeEach(() => {
    count += 1;
    folder = join(root, String(count));
    cerebellum = join(folder, "cerebellum");
    mkdirSync(join(cerebellum, "push"), { recursive: true });
    writeFileSync(join(cerebellum, PATH), entry());
    const digest = writeLock(cerebellum, "cerebellum");
    mkdirSync(join(folder, "brain", "push"), { recursive: true });
    writeFileSync(join(folder, "brain", "push", "tidy.md"), brain({ uses: ["nudge"] }));
    writeLock(join(folder, "brain"), "brain", digest);
  });

  it("are read as they were locked, and repeat their digest", () => {
    const memories = readMemories(folder);
    expect(memories.cerebellum.entries.map(({ path }) => path)).toEqual([PATH]);
    expect(memories.brain.cerebellum).toBe(memories.cerebellum.digest);
    expect(writeLock(cerebellum, "cerebellum")).toBe(memories.cerebellum.digest);
  });

  it("are refused when an entry was changed, added or taken away, by name", () => {
    appendFileSync(join(cerebellum, PATH), "\nOne more word.\n");
    expect(() => readLibrary(cerebellum)).toThrow(/not as its lock says; changed, added or gone: push\/nudge\.md/);
    writeFileSync(join(cerebellum, PATH), entry());
    writeFileSync(join(cerebellum, "push", "shove.md"), entry({ id: "shove" }));
    expect(() => readLibrary(cerebellum)).toThrow(/push\/shove\.md/);
    rmSync(join(cerebellum, "push"), { recursive: true });
    expect(() => readLibrary(cerebellum)).toThrow(/push\/nudge\.md/);
  });

  it("are refused when the lock was changed, is no lock, or is not there", () => {
    const lock = join(cerebellum, LOCK_FILE);
    const text = readFileSync(lock, "utf8");
    writeFileSync(lock, text.replace(/digest = "./, 'digest = "x'));
    expect(() => readLibrary(cerebellum)).toThrow(/the lock's own digest is wrong/);
    writeFileSync(lock, `${text}\n[further]\nx = 1\n`);
    expect(() => readLibrary(cerebellum)).toThrow(/is not a library's lock/);
    rmSync(lock);
    expect(() => readLibrary(cerebellum)).toThrow(expect.objectContaining({ code: "not_found" }));
    expect(() => readLibrary(join(folder, "none"))).toThrow(expect.objectContaining({ code: "not_found" }));
  });

  it("are refused when the lock is not even TOML", () => {
    writeFileSync(join(cerebellum, LOCK_FILE), "this is = = no TOML");
    expect(() => readLibrary(cerebellum)).toThrow(expect.objectContaining({ code: "bad_config" }));
  });

  it("hold one level each", () => {
    writeFileSync(join(cerebellum, "push", "tidy.md"), brain());
    writeLock(cerebellum, "cerebellum");
    expect(() => readLibrary(cerebellum)).toThrow(/is a cerebellum, but push\/tidy\.md is of level brain/);
  });

  it("belong together: a brain is refused beside another cerebellum", () => {
    writeFileSync(join(cerebellum, PATH), entry({ extra: 'skills = ["pointing"]' }));
    writeLock(cerebellum, "cerebellum");
    expect(() => readMemories(folder)).toThrow(/was made with another cerebellum/);
  });
});

describe("triggers and programs", () => {
  const library = (level: "cerebellum" | "brain", ...texts: [string, string][]) => ({
    level,
    digest: "",
    cerebellum: null,
    entries: texts.map(([path, text]) => parseEntry(path, text)),
  });
  const nudge = ["push/nudge.md", entry()] as [string, string];
  const slide = [
    "push/slide.md",
    entry({ id: "slide", uses: ["nudge"], code: "```ts\nasync function slide() {\n  return nudge();\n}\n```" }),
  ] as [string, string];

  it("choose the brain entry that says most of the instruction, and bind its words", () => {
    const other = ["push/any.md", brain({ id: "any", pattern: "^tidy" })] as [string, string];
    const all = library("brain", other, ["push/tidy.md", brain()]);
    const chosen = triggeredBy(all, "  Tidy the long table ");
    expect(chosen?.entry.front.id).toBe("tidy");
    expect(chosen?.parameters).toEqual({ what: "the long table" });
    expect(triggeredBy(all, "sing a song")).toBeNull();
    expect(triggeredBy(library("cerebellum", nudge), "tidy up")).toBeNull();
  });

  it("compose a stage's program: parameters, each function once and before its use, then the code", () => {
    const tidy = parseEntry("push/tidy.md", brain({ uses: ["slide", "nudge"] }));
    const program = composeProgram(
      library("cerebellum", nudge, slide),
      { entry: tidy, parameters: { what: 'the "table"' } },
      "begin",
    );
    expect(program).toMatch(/^const task = \{"what":"the \\"table\\""\} as const;\n/);
    expect(program.match(/async function nudge/g)).toHaveLength(1);
    expect(program.indexOf("async function nudge")).toBeLessThan(program.indexOf("async function slide"));
    expect(program.trimEnd().endsWith('return { next: "end" };')).toBe(true);
  });

  it("say which entries use each other in a circle", () => {
    const round = ["push/nudge.md", entry({ uses: ["slide"] })] as [string, string];
    const tidy = parseEntry("push/tidy.md", brain({ uses: ["slide"] }));
    const compose = () => composeProgram(library("cerebellum", round, slide), { entry: tidy, parameters: {} }, "begin");
    expect(compose).toThrow(/in a circle: slide, nudge, slide/);
  });

  it("say which stage or function is missing", () => {
    const tidy = parseEntry("push/tidy.md", brain({ uses: ["shove"] }));
    expect(() => composeProgram(library("cerebellum", nudge), { entry: tidy, parameters: {} }, "begin")).toThrow(
      /uses "shove", which the cerebellum does not have/,
    );
    expect(() => composeProgram(library("cerebellum"), { entry: tidy, parameters: {} }, "middle")).toThrow(
      /has no stage "middle"; stages: begin, end/,
    );
  });
});

describe("the starter library", () => {
  it("is as its locks say, and every stage of it passes the program check", async () => {
    const { loadSkills } = await import("../agents/load-skills.js");
    const { cerebellum, brain: starter } = readMemories(packageFile("memories", "starter"));
    const skills = await loadSkills({ paths: [], enable: ["pointing"], disable: [] });
    const checker = await ProgramChecker.create({ declarations: skills.declarations, names: skills.functionNames });
    const chosen = triggeredBy(starter, "Put the red can into the blue tray.");
    expect(chosen?.parameters).toMatchObject({ object: "red can", goal: "blue tray" });
    for (const { stage } of chosen!.entry.code) {
      const result = await checker.check(composeProgram(cerebellum, chosen!, stage!), `${stage}.ts`);
      expect([stage, result.ok ? [] : result.diagnostics]).toEqual([stage, []]);
    }
    await checker.close();
  });
});
