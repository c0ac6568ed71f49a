import { existsSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { CONFIG_FILE, EMULATED, RIG_NAME, renderConfigTemplate, renderRigTemplate } from "../../config/index.js";
import { Skill2RealError } from "../../contract/errors.js";
import type { Ended } from "../main.js";

type InitOptions = { rig?: string | true; force: boolean };

const DEFAULT_RIG = "bench";

function rigName(given: string | true): string {
  const name = given === true ? DEFAULT_RIG : given;
  if (RIG_NAME.test(name) && name !== EMULATED) return name;
  const why = name === EMULATED ? "is built in" : "must be 1 to 64 letters, digits, - and _";
  throw new Skill2RealError(
    "usage",
    `--rig ${JSON.stringify(name)}: the name ${why}; for example --rig ${DEFAULT_RIG}`,
  );
}

export function addInit(program: Command, _ended: Ended): void {
  program
    .command("init")
    .description("write a commented configuration file with every key and its default")
    .argument("[file]", `where to write it (default: ${CONFIG_FILE}; with --rig: NAME.toml)`)
    .option(
      "--rig [name]",
      `write the file of a rig instead: a real arm, gripper and cameras (default: ${DEFAULT_RIG})`,
    )
    .option("--force", "overwrite a file that is there", false)
    .action((file: string | undefined, { rig, force }: InitOptions) => {
      const name = rig === undefined ? undefined : rigName(rig);
      const path = resolve(file ?? (name === undefined ? CONFIG_FILE : `${name}.toml`));
      if (existsSync(path) && !force)
        throw new Skill2RealError("usage", `${path} is there already: remove it, or say --force`);
      try {
        writeFileSync(path, name === undefined ? renderConfigTemplate() : renderRigTemplate(name));
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
