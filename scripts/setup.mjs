// Installs what running needs; with --all, what testing needs too. Safe to run again: finished steps are skipped.
import { RUN_STEPS, TEST_STEPS } from "./lib/setup-steps.mjs";
import { runSteps } from "./lib/steps.mjs";

const all = process.argv.includes("--all");
const seconds = await runSteps(all ? TEST_STEPS : RUN_STEPS);
console.log(`Set up in ${seconds.toFixed(0)} s. Next: npm run demo${all ? " or npm test" : ""}`);
