import type { Command } from "commander";
import { Skill2RealError } from "../../contract/errors.js";
import { OPERATION_NAMES, OPERATIONS } from "../../contract/generated/robot-api-dispatch.js";
import { STATUS_CODES } from "../../contract/generated/status-codes.js";
import { suggest } from "../../contract/suggest.js";
import { findOperation } from "../../contract/validate-request.js";
import type { Ended } from "../main.js";

export function addApi(program: Command, _ended: Ended): void {
  program
    .command("api")
    .description("print what programs can call: all operations, or one with documentation, signature and an example")
    .argument("[operation]", "name of an operation")
    .option("--json", "print JSON", false)
    .action((name: string | undefined, { json }: { json: boolean }) => {
      if (name === undefined) {
        const lines = OPERATIONS.map(
          (operation) => `${String(operation.number).padStart(2)}  ${operation.name.padEnd(30)} ${operation.summary}`,
        );
        return void process.stdout.write(json ? `${JSON.stringify(OPERATIONS, null, 2)}\n` : `${lines.join("\n")}\n`);
      }
      const operation = findOperation(name);
      if (!operation)
        throw new Skill2RealError("not_found", `there is no operation "${name}".${suggest(name, OPERATION_NAMES)}`);
      if (json) return void process.stdout.write(`${JSON.stringify(operation, null, 2)}\n`);
      const statuses = operation.statuses.map((code) => `  ${code.padEnd(20)} ${STATUS_CODES[code].documentation}`);
      process.stdout.write(
        [
          `${operation.name} (operation ${operation.number}, skill ${operation.skill}${operation.moves ? ", moves the robot" : ""})`,
          "",
          operation.documentation,
          "",
          "Signature:",
          `  ${operation.signature}`,
          "",
          "Example:",
          ...operation.example.split("\n").map((line) => `  ${line}`),
          "",
          "Statuses beside ok:",
          ...statuses,
          "",
        ].join("\n"),
      );
    });
}
