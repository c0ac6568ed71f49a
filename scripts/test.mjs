// Sets everything up and runs every suite: checks, C++ (plain and under sanitizers), Python, TypeScript.
// npm test -- --native runs the robot workstation's suites too, with one total.
// npm test -- <vitest arguments> runs the TypeScript suite alone with those arguments.

import { RIG_TEST_STEPS } from "./lib/native-steps.mjs";
import { TEST_STEPS } from "./lib/setup-steps.mjs";
import { runSteps } from "./lib/steps.mjs";
import { RIG_SUITES, runSuites, SUITES, typescriptSuite } from "./lib/suites.mjs";

const given = process.argv.slice(2);
const native = given.includes("--native");
const args = given.filter((arg) => arg !== "--native");
if (native && args.length > 0) {
  console.error(`--native runs every suite and takes no further arguments, not "${args[0]}"`);
  process.exit(2);
}
await runSteps(native ? RIG_TEST_STEPS : TEST_STEPS);
const suites = args.length > 0 ? [() => typescriptSuite(args)] : native ? [...SUITES, ...RIG_SUITES] : SUITES;
process.exit(await runSuites(suites));
