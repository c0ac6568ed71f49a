// Sets everything up, then plays one seeded pick-and-place episode in the embedded simulator.
import { join } from "node:path";
import { RUN_STEPS } from "./lib/setup-steps.mjs";
import { ROOT, run, StepError } from "./lib/shell.mjs";
import { runSteps } from "./lib/steps.mjs";

await runSteps(RUN_STEPS);
const args = process.argv.slice(2);
const seed = args.length > 0 ? args : ["--seed", "7"];
try {
  await run(
    "demo",
    process.execPath,
    [join(ROOT, "bin", "skill2real.js"), "run", "--task", "r1", ...seed, "--proposer", "library", "--backend", "sim"],
    { show: true },
  );
} catch (error) {
  if (!(error instanceof StepError)) throw error;
  console.error(
    'The episode did not end well. "npx skill2real doctor" says what this machine lacks; "npx skill2real show last" shows what happened.',
  );
  process.exit(1);
}
