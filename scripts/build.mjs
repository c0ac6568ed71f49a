// Builds the native addons and compiles TypeScript, where their sources changed.
import { addonsStep, ruckigStep, typescriptStep } from "./lib/setup-steps.mjs";
import { runSteps } from "./lib/steps.mjs";

await runSteps([ruckigStep, addonsStep, typescriptStep]);
