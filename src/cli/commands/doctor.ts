import type { Command } from "commander";
import type { Ended } from "../main.js";

/** Listed here for help; `bin/skill2real.js` runs it before anything native is loaded. */
export function addDoctor(program: Command, _ended: Ended): void {
  program
    .command("doctor")
    .description("say what this machine has and lacks, and how to mend it")
    .option("--rig <rig>", "also check every device of a rig: emulated, a name of the configuration, or FILE.toml")
    .option("--config <file>", "configuration file (default: skill2real.toml here, if there is one)")
    .option("--json", "print one JSON object");
}
