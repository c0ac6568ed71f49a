import { existsSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { CONFIG_FILE, renderConfigTemplate } from "../../config/index.js";
import { Skill2RealError } from "../../contract/errors.js";
import type { Ended } from "../main.js";

export function addInit(program: Command, _ended: Ended): void {
  program
    .command("init")
    .description("write a commented configuration file with every key and its default")
    .argument("[file]", "where to write it", CONFIG_FILE)
    .option("--force", "overwrite a file that is there", false)
    .action((file: string, { force }: { force: boolean }) => {
      const path = resolve(file);
      if (existsSync(path) && !force)
        throw new Skill2RealError("usage", `${path} is there already: remove it, or say --force`);
      try {
        writeFileSync(path, renderConfigTemplate());
      } catch (cause) {
        throw new Skill2RealError(
          "storage_failed",
          `${path} cannot be written (${(cause as NodeJS.ErrnoException).code})`,
          { cause },
        );
      }
      process.stdout.write(`${path}\n`);
    });
}
