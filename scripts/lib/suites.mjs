import { spawn } from "node:child_process";
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

/** Configures `build` with `options`, builds it and runs its GoogleTest suites. */
async function ctestSuite(name, build, options) {
  for (const args of [
    ["-S", ROOT, "-B", build, "-DS2R_BUILD_TESTS=ON", ...options],
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

/** The C++ suites, beside the addons in their build folder, whose objects they share. */
export const cppSuite = () => ctestSuite("cpp", join(ROOT, "build", "native"), []);

/** The same under AddressSanitizer and UndefinedBehaviorSanitizer, in a build folder of its own. */
export const sanitizedCppSuite = () =>
  ctestSuite("cpp sanitized", join(ROOT, "build", "sanitized"), ["-DS2R_BUILD_ADDONS=OFF", "-DS2R_SANITIZE=ON"]);

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
