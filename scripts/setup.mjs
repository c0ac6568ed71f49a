// Installs what running needs; with --all, what testing needs too; with --native, the robot workstation. Safe to run
// again: finished steps are skipped.
import { RIG_RUN_STEPS, RIG_TEST_STEPS } from "./lib/native-steps.mjs";
import { RUN_STEPS, TEST_STEPS } from "./lib/setup-steps.mjs";
import { runSteps } from "./lib/steps.mjs";

const args = process.argv.slice(2);
const unknown = args.find((arg) => !["--all", "--native"].includes(arg));
if (unknown) {
  console.error(`setup does not know "${unknown}"; it takes --all and --native`);
  process.exit(2);
}
const all = args.includes("--all");
const native = args.includes("--native");
const seconds = await runSteps(native ? (all ? RIG_TEST_STEPS : RIG_RUN_STEPS) : all ? TEST_STEPS : RUN_STEPS);
const next = native
  ? `npx skill2real doctor --rig emulated${all ? " or npm run test:native" : ""}`
  : `npm run demo${all ? " or npm test" : ""}`;
console.log(`Set up in ${seconds.toFixed(0)} s. Next: ${next}`);
