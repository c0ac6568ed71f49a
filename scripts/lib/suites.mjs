import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { ROOT } from "./shell.mjs";

/** Runs a command, passing its output through, and gives its exit code and all it printed. */
export function watch(command, args, { env = {}, cwd = ROOT } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk) => {
        text += chunk;
        process.stdout.write(chunk);
      });
    }
    child.on("error", (error) => resolve({ code: 127, text: `${command}: ${error.message}` }));
    child.on("close", (code) => resolve({ code: code ?? 1, text }));
  });
}

const count = (text, pattern) => [...text.matchAll(pattern)].reduce((sum, match) => sum + Number(match[1]), 0);

/** Builds and runs the GoogleTest suites in a build folder of their own. */
export async function cppSuite(name, options) {
  const build = join(ROOT, "build", name);
  const generator = existsSync(join(build, "CMakeCache.txt"))
    ? []
    : ["-DS2R_BUILD_TESTS=ON", "-DS2R_BUILD_ADDONS=OFF", ...options];
  for (const args of [
    ["-S", ROOT, "-B", build, ...generator],
    ["--build", build, "--parallel", "2"],
  ]) {
    const step = await watch("cmake", args);
    if (step.code !== 0) return { name, passed: 0, failed: 1, code: step.code };
  }
  const { code, text } = await watch("ctest", [
    "--test-dir",
    build,
    "--output-on-failure",
    "-j",
    "2",
    "--timeout",
    "300",
  ]);
  const [, failed = "0", total = "0"] = /(\d+) tests failed out of (\d+)/.exec(text) ?? [];
  return { name, passed: Number(total) - Number(failed), failed: Number(failed) || (code === 0 ? 0 : 1), code };
}

export async function pythonSuite() {
  const { code, text } = await watch(join(ROOT, ".venvs", "twin", "bin", "python"), [
    "-m",
    "pytest",
    "-q",
    "--color=no",
  ]);
  return {
    name: "python",
    passed: count(text, /(\d+) passed/g),
    failed: count(text, /(\d+) (?:failed|errors?)/g) || (code === 0 ? 0 : 1),
    code,
  };
}

export async function typescriptSuite(args) {
  const { code, text } = await watch(join(ROOT, "node_modules", ".bin", "vitest"), ["run", ...args], {
    // Files run side by side here, so bounds on wall time get slack; alone, a file keeps them as they are.
    env: { NO_COLOR: "1", FORCE_COLOR: "0", S2R_TIME_FACTOR: args.length > 0 ? "1" : "3" },
  });
  const tests = /^\s*Tests\s+(.*)$/m.exec(stripVTControlCharacters(text))?.[1] ?? "";
  return {
    name: "typescript",
    passed: count(tests, /(\d+) passed/g),
    failed: count(tests, /(\d+) failed/g) || (code === 0 ? 0 : 1),
    skipped: count(tests, /(\d+) skipped/g),
    code,
  };
}

export async function checkSuite() {
  const { code } = await watch(process.execPath, [join(ROOT, "scripts", "check.mjs")]);
  return { name: "check", passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, code };
}
