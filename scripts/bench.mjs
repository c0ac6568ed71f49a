// Runs one bench: npm run bench:<name> [-- --check and the bench's own options].
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { LLM_STEPS } from "./lib/llm-steps.mjs";
import { RIG_RUN_STEPS } from "./lib/native-steps.mjs";
import { RUN_STEPS } from "./lib/setup-steps.mjs";
import { ROOT, run, StepError } from "./lib/shell.mjs";
import { runSteps } from "./lib/steps.mjs";

/** Benches that need the robot workstation. */
const RIG_BENCHES = ["servo", "stop", "hil"];
const [name, ...args] = process.argv.slice(2);
const source = join(ROOT, "scripts", "bench", `${name}.ts`);
if (!name || !existsSync(source)) {
  const known = readdirSync(join(ROOT, "scripts", "bench"))
    .filter((file) => file.endsWith(".ts"))
    .map((file) => file.slice(0, -3));
  console.error(`There is no bench "${name ?? ""}". Benches: ${known.join(", ")}`);
  process.exit(2);
}
await runSteps(name === "llm" ? LLM_STEPS : RIG_BENCHES.includes(name) ? RIG_RUN_STEPS : RUN_STEPS);
try {
  await run(`bench-${name}`, process.execPath, [join(ROOT, "dist", "scripts", "bench", `${name}.js`), ...args], {
    show: true,
  });
} catch (error) {
  if (!(error instanceof StepError)) throw error;
  process.exit(1);
}
