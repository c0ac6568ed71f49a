/**
 * Writes everything that is generated: from the .proto files of src/contract, and the configuration's JSON schema:
 *
 *   node scripts/generate.mjs           writes the files
 *   node scripts/generate.mjs --check   writes nothing; names each stale file and exits 1 when there is one
 *
 * Plain JavaScript, because it runs before anything is compiled.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { configSchemaOutput } from "./generators/config-schema.mjs";
import { contractOutputs, skillOutputs } from "./generators/outputs.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const unknown = process.argv.slice(2).filter((argument) => argument !== "--check");
if (unknown.length > 0) {
  console.error(`unknown argument ${unknown[0]}: use --check, or nothing`);
  process.exit(2);
}
const check = process.argv.includes("--check");
let failed = false;

async function outputs() {
  try {
    return [...contractOutputs(root), ...skillOutputs(root), await configSchemaOutput(root)];
  } catch (error) {
    console.error(`generate: ${error.message}`);
    process.exit(1);
  }
}

for (const [path, text] of await outputs()) {
  const file = join(root, path);
  const present = existsSync(file) ? readFileSync(file, "utf8").replaceAll("\r\n", "\n") : undefined;
  if (present === text) continue;
  if (check) {
    failed = true;
    console.error(
      `stale: ${path} is ${present === undefined ? "missing" : "not what its sources say"}: run "npm run generate"`,
    );
  } else {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    console.log(`wrote ${path}`);
  }
}

for (const script of ["generate-wire-types.mjs", "generate-python-wire.mjs"]) {
  const file = join(root, "scripts", script);
  if (!existsSync(file)) continue;
  const { status } = spawnSync(process.execPath, [file, ...(check ? ["--check"] : [])], { stdio: "inherit" });
  if (status !== 0) {
    failed = true;
    if (!check) console.error(`scripts/${script} failed (exit ${status}); its messages are above`);
  }
}
process.exit(failed ? 1 : 0);
