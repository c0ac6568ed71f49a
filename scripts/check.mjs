// Static checks: generated files, formatters, linters, types, folder dependencies. Prints every finding; exits 1 on any.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./lib/shell.mjs";
import { watch } from "./lib/suites.mjs";

const bin = (name) => join(ROOT, "node_modules", ".bin", name);
const tool = (name) => join(ROOT, ".venvs", "tools", "bin", name);
const cppFiles = (dir) =>
  readdirSync(dir, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory()
      ? cppFiles(join(dir, entry.name))
      : /\.(cpp|h)$/.test(entry.name)
        ? [join(dir, entry.name)]
        : [],
  );

const fix = process.argv.includes("--fix");
const checks = [
  [
    "generated files are current",
    process.execPath,
    [join(ROOT, "scripts", "generate.mjs"), ...(fix ? [] : ["--check"])],
  ],
  [
    "TypeScript and JSON format and lint (biome)",
    bin("biome"),
    ["check", ...(fix ? ["--write"] : []), "--max-diagnostics=50", "."],
  ],
  ["TypeScript types", bin("tsc"), ["--noEmit", "-p", "tsconfig.json"]],
  [
    "dependencies between folders",
    bin("depcruise"),
    ["--config", ".dependency-cruiser.cjs", "src", "skills", "backends", "scripts"],
  ],
  [
    "C++ format (clang-format)",
    tool("clang-format"),
    [
      ...(fix ? ["-i"] : ["--dry-run", "-Werror"]),
      ...cppFiles(join(ROOT, "native")),
      ...cppFiles(join(ROOT, "backends")),
    ],
  ],
  ["Python lint (ruff)", tool("ruff"), ["check", ...(fix ? ["--fix"] : []), "."]],
  ["Python format (ruff)", tool("ruff"), ["format", ...(fix ? [] : ["--check"]), "."]],
];

let failed = 0;
for (const [title, command, args] of checks) {
  console.log(`check: ${title}`);
  const { code, text } = await watch(command, args, { env: { NO_COLOR: "1" } });
  if (code !== 0) {
    failed += 1;
    console.log(
      `check: ${title}: FAILED (exit ${code})${code === 127 ? ` ${text} (run "npm run setup -- --all")` : ""}`,
    );
  }
}
console.log(
  failed === 0
    ? `check: ${checks.length} checks passed`
    : `check: ${failed} of ${checks.length} checks failed; "npm run check -- --fix" mends format`,
);
process.exit(failed === 0 ? 0 : 1);
