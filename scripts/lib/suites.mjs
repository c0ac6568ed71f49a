import { spawn } from "node:child_process";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { RIG_ADDONS } from "./native-steps.mjs";
import { ROOT } from "./shell.mjs";

const EMULATORS = join(ROOT, "backends", "emulators");

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

const count = (text, pattern, of = (match) => Number(match[1])) =>
  [...text.matchAll(pattern)].reduce((sum, match) => sum + of(match), 0);

// Many tests have real processes and clocks, and a processor that was taken away for a moment is to be told from a defect:
// a whole run gives each of them that failed one more try, and its line says how many needed it. A test run by hand has one
// try, as have the C++ suites without a robot's clock, where a second one would hide a race.
const TRIES = 2;

/** Configures `build` with `options`, builds it and runs its GoogleTest suites. */
async function ctestSuite(name, build, options, tries = 1) {
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
    "--repeat",
    `until-pass:${tries}`,
  ]);
  const [, failed = "0", total = "0"] = /(\d+) tests failed out of (\d+)/.exec(text) ?? [];
  const again = count(text, /\*\*\*(?=Failed|Timeout|Exception)/g, () => 1) - tries * Number(failed);
  return { name, passed: Number(total) - Number(failed), failed: Number(failed) || (code === 0 ? 0 : 1), again, code };
}

/** The C++ suites, beside the addons in their build folder, whose objects they share. */
export const cppSuite = () => ctestSuite("cpp", join(ROOT, "build", "native"), []);

/** The same under AddressSanitizer and UndefinedBehaviorSanitizer, in a build folder of its own. */
export const sanitizedCppSuite = () =>
  ctestSuite("cpp sanitized", join(ROOT, "build", "sanitized"), ["-DS2R_BUILD_ADDONS=OFF", "-DS2R_SANITIZE=ON"]);

const RIG_OPTIONS = [`-DS2R_ADDONS=${RIG_ADDONS.join(";")}`, "-DS2R_EMULATORS=ON"];

/** The C++ suites of the robot workstation, beside its addons. */
export const rigCppSuite = () => ctestSuite("cpp rig", join(ROOT, "build", "rig"), RIG_OPTIONS, TRIES);

/** The same under AddressSanitizer and UndefinedBehaviorSanitizer. */
export const sanitizedRigCppSuite = () =>
  ctestSuite(
    "cpp rig sanitized",
    join(ROOT, "build", "rig-sanitized"),
    [...RIG_OPTIONS, "-DS2R_BUILD_ADDONS=OFF", "-DS2R_SANITIZE=ON"],
    TRIES,
  );

async function pytestSuite(name, venv, args) {
  const python = join(ROOT, ".venvs", venv, "bin", "python");
  const run = (more) => watch(python, ["-m", "pytest", "-q", "--color=no", ...more, ...args]);
  const FAILED = /(\d+) (?:failed|errors?)/g;
  const first = await run([]);
  const failed = count(first.text, FAILED);
  const passed = count(first.text, /(\d+) passed/g);
  if (first.code !== 1 || failed === 0)
    return { name, passed, failed: first.code === 0 ? 0 : failed || 1, code: first.code };
  console.log(`${name}: ${failed} failed; one more try of these`);
  const second = await run(["--last-failed", "--last-failed-no-failures", "none"]);
  const still = second.code === 0 ? 0 : Math.min(failed, count(second.text, FAILED) || failed);
  return { name, passed: passed + failed - still, failed: still, again: failed - still, code: second.code };
}

export const pythonSuite = () => pytestSuite("python", "twin", []);

/** The emulated controller's own tests, whose client is ur_rtde's published package. */
export const controllerPythonSuite = () => pytestSuite("python controller", "rig", [join(EMULATORS, "ur-controller")]);

/** Tests of the emulators that share the simulator's packages. */
export const emulatorsPythonSuite = () =>
  pytestSuite("python emulators", "twin", [EMULATORS, "--ignore", join(EMULATORS, "ur-controller")]);

async function vitestSuite(name, args, env) {
  const reporters = ["--reporter=default", `--reporter=${join(ROOT, "scripts", "lib", "second-try-reporter.mjs")}`];
  const { code, text } = await watch(join(ROOT, "node_modules", ".bin", "vitest"), ["run", ...reporters, ...args], {
    env: { NO_COLOR: "1", FORCE_COLOR: "0", ...env },
  });
  const tests = /^\s*Tests\s+(.*)$/m.exec(stripVTControlCharacters(text))?.[1] ?? "";
  return {
    name,
    passed: count(tests, /(\d+) passed/g),
    failed: count(tests, /(\d+) failed/g) || (code === 0 ? 0 : 1),
    skipped: count(tests, /(\d+) skipped/g),
    again: count(text, /^at a second try: /gm, () => 1),
    code,
  };
}

/** Files run side by side here, so bounds on wall time get slack; alone, a file keeps them as they are. */
export const typescriptSuite = (args) =>
  args.length > 0
    ? vitestSuite("typescript", args, { S2R_TIME_FACTOR: "1" })
    : vitestSuite("typescript", [`--retry=${TRIES - 1}`], { S2R_TIME_FACTOR: "3" });

/** Tests of the robot workstation, one file after another: each plays an arm in real time, and an arm whose cycles come late stops. */
export const rigTypescriptSuite = (args) =>
  vitestSuite(
    "typescript rig",
    ["--no-file-parallelism", ...(args.length > 0 ? args : [`--retry=${TRIES - 1}`, ".rig.test.ts"])],
    { S2R_RIG: "1" },
  );

export const SUITES = [checkSuite, cppSuite, sanitizedCppSuite, pythonSuite, () => typescriptSuite([])];
export const RIG_SUITES = [
  rigCppSuite,
  sanitizedRigCppSuite,
  controllerPythonSuite,
  emulatorsPythonSuite,
  () => rigTypescriptSuite([]),
];

/** Runs suites one after another, prints a line each and the total, and gives the exit code. */
export async function runSuites(suites) {
  const results = [];
  for (const suite of suites) {
    const began = Date.now();
    results.push({ ...(await suite()), seconds: Math.round((Date.now() - began) / 1000) });
  }
  const words = ({ passed, failed, skipped, again }) =>
    `${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ""}${again > 0 ? `, ${again} at a second try` : ""}`;
  console.log("");
  for (const result of results) console.log(`${result.name.padEnd(18)} ${words(result)} (${result.seconds} s)`);
  const total = (key) => results.reduce((sum, result) => sum + (result[key] ?? 0), 0);
  // The last line is for machines: nothing follows the two counts.
  console.log(`${total("passed")} passed, ${total("failed")} failed`);
  return total("failed") > 0 || total("passed") === 0 ? 1 : 0;
}

export async function checkSuite() {
  const { code } = await watch(process.execPath, [join(ROOT, "scripts", "check.mjs")]);
  return { name: "check", passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, code };
}
