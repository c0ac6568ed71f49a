// Sets the robot workstation up and runs its suites: C++ (plain and under sanitizers), Python of the emulators, TypeScript.
// npm run test:native -- <vitest arguments> runs the TypeScript suite alone with those arguments.

import { RIG_TEST_STEPS } from "./lib/native-steps.mjs";
import { runSteps } from "./lib/steps.mjs";
import { RIG_SUITES, rigTypescriptSuite, runSuites } from "./lib/suites.mjs";

const args = process.argv.slice(2);
await runSteps(RIG_TEST_STEPS);
process.exit(await runSuites(args.length > 0 ? [() => rigTypescriptSuite(args)] : RIG_SUITES));
