import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { checkModel, type ModelCheck } from "../../agents/llm/check-model.js";
import { EXIT } from "../exit-codes.js";
import type { Ended } from "../main.js";
import { commandConfig, modelSettings } from "../settings.js";

export function addModel(program: Command, ended: Ended): void {
  program
    .command("model")
    .description("look at the configured language model")
    .command("check")
    .description("ask it to find a box in a generated picture: tells vision, coordinates, tools and latency")
    .option("--config <file>", "configuration file")
    .option("--json", "print one JSON object", false)
    .action(async ({ json, ...options }: { config?: string; json: boolean }) => {
      const settings = modelSettings(commandConfig(options), process.env);
      const folder = mkdtempSync(join(tmpdir(), "skill2real-model-"));
      try {
        const check = await checkModel(settings, folder);
        process.stdout.write(json ? `${JSON.stringify(check, null, 2)}\n` : lines(check));
        if (!check.answers) ended(EXIT.infrastructure);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });
}

const lines = ({ model, answers, vision, coordinates, tools, latency_ms, notes }: ModelCheck): string =>
  [
    `model        ${model}`,
    `answers      ${answers ? `yes, in ${latency_ms.toFixed(0)} ms` : "no"}`,
    `vision       ${vision}`,
    `coordinates  ${coordinates ?? "could not be told"}`,
    `tools        ${tools}`,
    ...notes.map((note) => `note: ${note}`),
    "",
  ].join("\n");
