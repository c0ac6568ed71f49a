import { readFileSync } from "node:fs";
import { basename } from "node:path";
import type { Command } from "commander";
import { loadSkills } from "../../agents/load-skills.js";
import { Skill2RealError } from "../../contract/errors.js";
import { formatDiagnostics, ProgramChecker } from "../../program/index.js";
import { EXIT } from "../exit-codes.js";
import type { Ended } from "../main.js";
import { commandConfig, probedSettings } from "../settings.js";

export function addProgram(program: Command, ended: Ended): void {
  program
    .command("program")
    .description("work with programs")
    .command("check")
    .description("parse and type-check a program as it would be before anything moves")
    .argument("<file>", "the program, a .ts file")
    .option("--config <file>", "configuration file, for the skills that are on")
    .option("--json", "print the diagnostics as JSON", false)
    .action(async (file: string, { config, json }: { config?: string; json: boolean }) => {
      let source: string;
      try {
        source = readFileSync(file, "utf8");
      } catch (cause) {
        throw new Skill2RealError(
          "not_found",
          `the program ${file} cannot be read (${(cause as NodeJS.ErrnoException).code})`,
          { cause },
        );
      }
      const skills = await loadSkills((await probedSettings(commandConfig(config ? { config } : {}))).skills);
      const checker = await ProgramChecker.create({ declarations: skills.declarations, names: skills.functionNames });
      try {
        const result = await checker.check(source, basename(file));
        const diagnostics = result.ok ? [] : result.diagnostics;
        if (json) process.stdout.write(`${JSON.stringify({ ok: result.ok, diagnostics }, null, 2)}\n`);
        else process.stdout.write(result.ok ? `${file}: no problem found\n` : `${formatDiagnostics(diagnostics)}\n`);
        if (!result.ok) ended(EXIT.failed);
      } finally {
        await checker.close();
      }
    });
}
