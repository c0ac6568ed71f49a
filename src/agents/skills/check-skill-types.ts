import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type ts from "typescript";
import { Skill2RealError } from "../../contract/errors.js";
import { ROBOT_API_DECLARATIONS } from "../../contract/generated/robot-api-declarations.js";
import { packageFile } from "../../contract/package-root.js";
import { ambientTypesOf, type SkillData } from "./skill-data.js";

/** The types that a skill's index.ts sees without an import. For the check they are made anew, whatever the folder holds. */
export const TYPES_FILE = "skill.gen.d.ts";
/** Made up beside index.ts for the check; the name is no user's. */
const AGREES_FILE = "__skill2real_agrees.ts";

/** The package's own type of what a function is given, as compiled where it is, else from its source. */
function contextModule(): string {
  const compiled = packageFile("dist", "src", "runtime", "skill-context.d.ts");
  return (existsSync(compiled) ? compiled : packageFile("src", "runtime", "skill-context.ts")).replace(
    /(\.d)?\.ts$/,
    ".js",
  );
}

/**
 * Declares globally what a skill outside the package sees without an import: the contract's types, its own, SkillContext,
 * SkillResult, SkillFunctions. `from` is the module that has the context's types.
 */
export async function skillTypes(
  folder: string,
  name: string,
  data: SkillData,
  from = contextModule(),
): Promise<string> {
  // What follows is the scope of programs, which a skill is not.
  const contract = ROBOT_API_DECLARATIONS.slice(0, ROBOT_API_DECLARATIONS.indexOf("/** What is thrown where"));
  const functions = (await ambientTypesOf(folder, name)).replace(/^declare type/m, "type");
  return `import type * as context from ${JSON.stringify(from)};
declare global {
type SkillContext = context.SkillContext;
type SkillResult<R> = context.SkillResult<R>;
${contract}
${data.declarations}
${functions}}
`;
}

const AGREES = `import { functions } from "./index.js";
export const agrees: SkillFunctions = functions;
`;

/** What of Node.js a source may use; its types are large, so that they are read only where something of it occurs. */
const OF_NODE = /\b(node:|Buffer|process|console|fetch|URL|Abort\w+|set(Timeout|Interval|Immediate)|Text(En|De)coder)/;

/** Where the types of Node.js are, if anywhere: beside the skill, or with this package. */
function nodeTypes(folder: string, source: string): { types: string[]; typeRoots?: string[] } {
  if (!OF_NODE.test(source)) return { types: [] };
  for (const from of [join(folder, "index.ts"), packageFile("package.json")]) {
    try {
      const manifest = createRequire(from).resolve("@types/node/package.json");
      return { types: ["node"], typeRoots: [dirname(dirname(manifest))] };
    } catch {
      // Not there: the next place, or without.
    }
  }
  return { types: [] };
}

/**
 * Type-checks a skill's index.ts against its skill.proto and the package's own types. Throws Skill2RealError `bad_config`
 * with one line per finding, each beginning with file:line:column.
 */
export async function checkSkillTypes(folder: string, name: string, data: SkillData): Promise<void> {
  // Only here: the compiler is large, and most runs have no such skill.
  const { default: compiler } = await import("typescript");
  const source = join(folder, "index.ts");
  const text = readFileSync(source, "utf8");
  const made = { [TYPES_FILE]: await skillTypes(folder, name, data) };
  const files = new Map(
    Object.entries({ ...made, [AGREES_FILE]: AGREES }).map(([file, text]) => [join(folder, file), text]),
  );
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: compiler.ScriptTarget.ES2022,
    lib: ["lib.es2022.d.ts"],
    module: compiler.ModuleKind.ESNext,
    moduleResolution: compiler.ModuleResolutionKind.Bundler,
    // What blanking out of types cannot do is refused here, with a line.
    erasableSyntaxOnly: true,
    moduleDetection: compiler.ModuleDetectionKind.Force,
    ...nodeTypes(folder, text),
  };
  const host = compiler.createCompilerHost(options);
  const { readFile, fileExists } = host;
  host.readFile = (path) => files.get(path) ?? readFile(path);
  host.fileExists = (path) => files.has(path) || fileExists(path);
  const getSourceFile = host.getSourceFile.bind(host);
  host.getSourceFile = (path, version, ...rest) => {
    const text = files.get(path);
    return text === undefined ? getSourceFile(path, version, ...rest) : compiler.createSourceFile(path, text, version);
  };
  const program = compiler.createProgram([...files.keys(), source], options, host);
  const findings = [source, join(folder, AGREES_FILE)].flatMap((path) => {
    const file = program.getSourceFile(path);
    return file ? [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)] : [];
  });
  if (findings.length === 0) return;
  const lines = text.split("\n");
  const at = Math.max(
    0,
    lines.findIndex((line) => /export const functions\b/.test(line)),
  );
  const words = findings.slice(0, 20).map((finding) => {
    const said = compiler.flattenDiagnosticMessageText(finding.messageText, " ");
    if (finding.file?.fileName !== source) return `${source}:${at + 1}:1: ${said}`;
    const { line, character } = finding.file.getLineAndCharacterOfPosition(finding.start ?? 0);
    return `${source}:${line + 1}:${character + 1}: ${said}`;
  });
  throw new Skill2RealError("bad_config", `skill "${name}" does not pass its type check:\n${words.join("\n")}`);
}
