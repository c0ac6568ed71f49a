#!/usr/bin/env node
// The command line. `doctor` runs before anything that could be missing or broken is loaded.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

// Arguments (seeds among them) do not stay readable in the list of processes.
process.title = "skill2real";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
if (process.argv[2] === "doctor") {
  const { doctor } = await import("../scripts/lib/doctor.mjs");
  process.exit(await doctor(process.argv.slice(3)));
}
const main = join(root, "dist", "src", "cli", "main.js");
if (!existsSync(main) || !existsSync(join(root, "node_modules"))) {
  console.error(
    'skill2real is not set up yet. Run "npm run setup" in its folder; "skill2real doctor" says what is missing.',
  );
  process.exit(3);
}
const { main: run } = await import(pathToFileURL(main).href);
process.exitCode = await run(process.argv.slice(2));
