import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { isSkill2RealError } from "../contract/errors.js";
import { packageFile } from "../contract/package-root.js";
import { addApi } from "./commands/api.js";
import { addArm } from "./commands/arm.js";
import { addBackend } from "./commands/backend.js";
import { addCall } from "./commands/call.js";
import { addConfig } from "./commands/config.js";
import { addDoctor } from "./commands/doctor.js";
import { addEval } from "./commands/eval.js";
import { addHil } from "./commands/hil.js";
import { addInit } from "./commands/init.js";
import { addMcp } from "./commands/mcp.js";
import { addMemory } from "./commands/memory.js";
import { addMirror } from "./commands/mirror.js";
import { addModel } from "./commands/model.js";
import { addProgram } from "./commands/program.js";
import { addPrompt } from "./commands/prompt.js";
import { addReplay } from "./commands/replay.js";
import { addRun } from "./commands/run.js";
import { addRuns } from "./commands/runs.js";
import { addShow } from "./commands/show.js";
import { addSkills } from "./commands/skills.js";
import { addStop } from "./commands/stop.js";
import { EXIT, EXIT_WORDS, exitCodeOf } from "./exit-codes.js";

/** A command's action ends with an exit code. */
export type Ended = (code: number) => void;

function createProgram(ended: Ended): Command {
  const { version } = JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as { version: string };
  const codes = (Object.keys(EXIT) as (keyof typeof EXIT)[])
    .map((name) => `  ${String(EXIT[name]).padEnd(5)}${EXIT_WORDS[name]}`)
    .join("\n");
  const program = new Command("skill2real")
    .description("Robot runtime: programs act through one typed API, in simulation and on the robot.")
    .version(version)
    .showHelpAfterError('("skill2real --help" lists commands and options)')
    .exitOverride()
    .addHelpText(
      "after",
      `\nExit codes:\n${codes}\n\nFirst steps: skill2real doctor, then skill2real run --task r1 --seed 7`,
    );
  for (const add of [
    addRun,
    addEval,
    addStop,
    addRuns,
    addShow,
    addReplay,
    addApi,
    addCall,
    addProgram,
    addMemory,
    addBackend,
    addArm,
    addHil,
    addMirror,
    addInit,
    addConfig,
    addSkills,
    addPrompt,
    addModel,
    addMcp,
    addDoctor,
  ])
    add(program, ended);
  for (const command of program.commands) command.exitOverride();
  return program;
}

/** Runs one command line and gives its exit code; never throws. */
export async function main(argv: readonly string[]): Promise<number> {
  let code: number = EXIT.ok;
  const program = createProgram((ended) => {
    code = ended;
  });
  try {
    await program.parseAsync([...argv], { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    if (isSkill2RealError(error)) {
      process.stderr.write(`skill2real: ${error.message} (${error.code})\n`);
      return exitCodeOf(error.code);
    }
    process.stderr.write(
      `skill2real: a defect of this package, please report it: ${error instanceof Error ? error.stack : String(error)}\n`,
    );
    return EXIT.infrastructure;
  }
}
