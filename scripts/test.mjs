// Sets everything up and runs every suite: checks, C++ (plain and under sanitizers), Python, TypeScript.
// npm test -- <vitest arguments> runs the TypeScript suite alone with those arguments.

import { TEST_STEPS } from "./lib/setup-steps.mjs";
import { runSteps } from "./lib/steps.mjs";
import { checkSuite, cppSuite, pythonSuite, sanitizedCppSuite, typescriptSuite } from "./lib/suites.mjs";

await runSteps(TEST_STEPS);
const args = process.argv.slice(2);
const suites =
  args.length > 0
    ? [() => typescriptSuite(args)]
    : [checkSuite, cppSuite, sanitizedCppSuite, pythonSuite, () => typescriptSuite([])];

const results = [];
for (const suite of suites) {
  const began = Date.now();
  results.push({ ...(await suite()), seconds: Math.round((Date.now() - began) / 1000) });
}
console.log("");
for (const { name, passed, failed, skipped, seconds } of results)
  console.log(
    `${name.padEnd(14)} ${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ""} (${seconds} s)`,
  );
const total = (key) => results.reduce((sum, result) => sum + (result[key] ?? 0), 0);
console.log(
  `${total("passed")} passed, ${total("failed")} failed${total("skipped") ? `, ${total("skipped")} skipped` : ""}`,
);
process.exit(total("failed") > 0 || total("passed") === 0 ? 1 : 0);
