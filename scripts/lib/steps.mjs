import { StepError } from "./shell.mjs";

/**
 * Runs steps in order, one line each with its time. A step is { title, done?: () => boolean, run: async () => void };
 * one whose `done` says true is skipped, one with `optional` (what is lacking without it) may fail. Exits 1 at the first failure, saying what failed and how to mend it.
 */
export async function runSteps(steps) {
  const began = Date.now();
  for (const [index, step] of steps.entries()) {
    const head = `[${index + 1}/${steps.length}] ${step.title}`;
    if (step.done?.()) {
      console.log(`${head}: there already`);
      continue;
    }
    console.log(`${head} …`);
    const start = Date.now();
    const ticker = setInterval(
      () => console.log(`    still at it after ${Math.round((Date.now() - start) / 1000)} s`),
      30_000,
    );
    try {
      await step.run();
    } catch (error) {
      clearInterval(ticker);
      if (step.optional) {
        const words = error instanceof StepError ? error.message : error.stack;
        console.warn(`${head}: left out\n  ${words}\n  without it: ${step.optional}`);
        continue;
      }
      console.error(`${head}: FAILED\n  ${error instanceof StepError ? error.message : error.stack}`);
      process.exit(1);
    }
    clearInterval(ticker);
    console.log(`    done in ${((Date.now() - start) / 1000).toFixed(1)} s`);
  }
  return (Date.now() - began) / 1000;
}
