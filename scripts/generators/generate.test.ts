import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");
const PROTO = "src/contract/robot_api.proto";

type Model = Record<string, unknown>;
type Modules = {
  readContract: (path: string) => Model;
  contractDigests: (model: Model) => { inventory: string; documentation: string; dispatch: string };
  implementationDigest: (root: string) => string;
};

const load = async (name: string): Promise<Modules> => import(new URL(name, import.meta.url).href);
const { readContract } = await load("./model.mjs");
const { contractDigests, implementationDigest } = await load("./digests.mjs");

let root = "";

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "s2r-generate-"));
  mkdirSync(join(root, "scripts"));
  const written = (path: string): boolean => !path.includes("/generated");
  for (const path of ["scripts/generators", "src/contract", "src/config", "skills/pointing/skill.proto"])
    cpSync(join(ROOT, path), join(root, path), { recursive: true, filter: written });
  cpSync(join(ROOT, "scripts/generate.mjs"), join(root, "scripts/generate.mjs"));
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const edit = (path: string, from: string, to: string): void => {
  expect(read(path)).toContain(from);
  write(path, read(path).replace(from, to));
};

function generate(...flags: string[]): { status: number | null; output: string; stale: string[] } {
  const run = spawnSync(process.execPath, [join(root, "scripts/generate.mjs"), ...flags], { encoding: "utf8" });
  const output = run.stdout + run.stderr;
  return { status: run.status, output, stale: [...output.matchAll(/^stale: (\S+)/gm)].map(([, path = ""]) => path) };
}

const GENERATED = [
  "src/contract/generated/robot-api.ts",
  "src/contract/generated/robot-api-declarations.ts",
  "src/contract/generated/robot-api-dispatch.ts",
  "src/contract/generated/status-codes.ts",
  "src/contract/generated/digests.ts",
  "src/contract/generated/implementation-digest.ts",
  "src/contract/generated/robot-api-text.ts",
  "src/contract/generated/robot-api.md",
  "docs/api.md",
  "skills/pointing/skill.gen.json",
  "skills/pointing/skill.gen.ts",
  "src/config/generated/skill2real.schema.json",
];

describe("generate", () => {
  it("writes what is committed, twice the same, and then finds nothing stale", () => {
    expect(generate("--check").stale).toEqual(GENERATED);
    expect(generate().status).toBe(0);
    // The copy holds no skills, hence another implementation digest.
    for (const path of GENERATED.filter((one) => !one.includes("implementation"))) {
      expect(read(path), path).toBe(readFileSync(join(ROOT, path), "utf8"));
    }
    expect(generate("--check")).toEqual({ status: 0, output: "", stale: [] });
    expect(generate()).toEqual({ status: 0, output: "", stale: [] });
  });

  it("names each file that a changed comment makes stale", () => {
    generate();
    edit(PROTO, "// names the depth image", "// names the image of depths");
    const { status, stale } = generate("--check");
    expect(status).toBe(1);
    expect(stale).toEqual([
      "src/contract/generated/robot-api.ts",
      "src/contract/generated/robot-api-declarations.ts",
      "src/contract/generated/digests.ts",
      "src/contract/generated/robot-api-text.ts",
      "src/contract/generated/robot-api.md",
      "docs/api.md",
    ]);
    generate();
    edit(PROTO, "// The camera gave no usable frame.", "// The camera failed.");
    expect(generate("--check").stale).toContain("src/contract/generated/status-codes.ts");
  });

  it("names a file that was edited by hand", () => {
    generate();
    edit("docs/api.md", "# What can a program ask", "# What may a program ask");
    expect(generate("--check").stale).toEqual(["docs/api.md"]);
  });

  it("refuses an unknown flag", () => {
    expect(generate("--chek")).toMatchObject({ status: 2, output: expect.stringContaining("--chek") });
  });
});

describe("the digests", () => {
  const digests = (): [string, string][] =>
    Object.entries({
      ...contractDigests(readContract(join(root, PROTO))),
      implementation: implementationDigest(root),
    });
  const changed = (change: () => void): string[] => {
    const before = new Map(digests());
    change();
    return digests().flatMap(([name, digest]) => (digest === before.get(name) ? [] : [name]));
  };

  it("of the contract change with what they name, and with nothing else", () => {
    expect(changed(() => edit(PROTO, "PNG, near is bright", "PNG, near is white"))).toEqual(["documentation"]);
    expect(changed(() => edit(PROTO, "(max) = 0.2]", "(max) = 0.3]"))).toEqual(["dispatch"]);
    expect(changed(() => edit(PROTO, '(skill) = "verify"', '(skill) = "core"'))).toEqual(["inventory", "dispatch"]);
    expect(changed(() => write(PROTO, read(PROTO).replaceAll("\n", "\r\n")))).toEqual([]);
  });

  it("of the implementation covers skills and native sources, not tests, and not line ends", () => {
    write("skills/core/views/take.ts", "export const a = 1;\n");
    write("native/pose/solve.cpp", "int a;\n");
    expect(changed(() => write("skills/core/views/take.ts", "export const a = 2;\n"))).toEqual(["implementation"]);
    expect(changed(() => write("native/pose/solve.cpp", "int b;\n"))).toEqual(["implementation"]);
    expect(changed(() => write("native/pose/solve.h", "int c;\n"))).toEqual(["implementation"]);
    expect(changed(() => write("skills/core/views/take.ts", "export const a = 2;\r\n"))).toEqual([]);
    expect(changed(() => write("skills/core/views/take.test.ts", "test"))).toEqual([]);
    expect(changed(() => write("native/pose/solve_test.cpp", "test"))).toEqual([]);
    expect(changed(() => write("skills/pointing/index.ts", "optional"))).toEqual([]);
  });
});

describe("a contract that would generate a wrong API is refused, naming the place:", () => {
  const refused: [what: string, from: string, to: string, words: string][] = [
    [
      // The line before it ends in a comment, which is not its own.
      "a field without a comment",
      "// 99th percentile of the known depth [m]",
      "",
      "DepthResponse.far_m has no comment",
    ],
    ["a message without a comment", "// A direction.\nmessage Axis", "message Axis", "message Axis has no comment"],
    ["an enum value without a comment", "  // Oblique, of the whole scene.\n", "", "ViewName.scene has no comment"],
    [
      "a status code without a comment",
      "  // The camera gave no usable frame.\n",
      "",
      "StatusCode.camera_failed has no comment",
    ],
    [
      "an operation without a comment",
      "  // Takes a fresh stereo pair of the oblique scene camera.\n",
      "",
      "get_scene_stereo_view has no comment",
    ],
    ["a status that does not exist", '"no_image arm_required', '"no_picture arm_required', "no status code no_picture"],
    ["a common status that is named", '"no_image arm_required', '"timeout no_image arm_required', "timeout is common"],
    [
      "a number that is used twice",
      "option (number) = 7;",
      "option (number) = 6;",
      "get_sam_mask_from_box has number 6",
    ],
    [
      "an operation without an example",
      'option (example) = "await robot.goto_home({});";',
      "",
      "goto_home lacks option (example)",
    ],
    [
      "a required object that is not marked",
      "  Box box = 2 [(required) = true];",
      "  Box box = 2;",
      "say either optional or (required)",
    ],
    ["a rule that names no field", '(above) = "x0"', '(above) = "x9"', "no field x9"],
    [
      "a message that nothing uses",
      "// A direction.",
      "// Spare.\nmessage Spare {}\n// A direction.",
      "message Spare is used by no operation",
    ],
    [
      "an optional field of a result",
      "  uint32 point_count = 9;",
      "  optional uint32 point_count = 9;",
      "GeometryResponse.point_count",
    ],
  ];
  it.each(refused)("%s", (_, from, to, words) => {
    edit(PROTO, from, to);
    expect(() => readContract(join(root, PROTO))).toThrow(words);
  });

  it("on the command line too", () => {
    edit(PROTO, "// 99th percentile of the known depth [m]", "");
    const { status, output } = generate();
    expect(status).toBe(1);
    expect(output).toBe(
      "generate: src/contract/robot_api.proto: DepthResponse.far_m has no comment: every field says its unit, frame or meaning\n",
    );
  });
});
