import { pathToFileURL } from "node:url";
import { Skill2RealError } from "../contract/errors.js";
import { OPERATIONS } from "../contract/generated/robot-api-dispatch.js";
import { compiledModule, packageFile } from "../contract/package-root.js";
import type { OperationTable } from "./operation.js";

/** The skills in whose folders the operations live. */
export const REQUIRED_SKILLS = [...new Set(OPERATIONS.map((operation) => operation.skill))];

const fromSources = import.meta.url.endsWith(".ts");

/** Code of all operations of the contract; throws where one is missing, twice, or in another skill than the contract says. */
export async function loadOperations(): Promise<OperationTable> {
  const table: OperationTable = {};
  for (const skill of REQUIRED_SKILLS) {
    const source = `skills/${skill}/index.ts`;
    const path = fromSources ? packageFile(source) : compiledModule(source);
    const module = (await import(pathToFileURL(path).href)) as { operations: OperationTable };
    const declared = OPERATIONS.filter((operation) => operation.skill === skill).map((operation) => operation.name);
    const found = Object.keys(module.operations);
    if (declared.toSorted().join() !== found.toSorted().join()) {
      throw new Skill2RealError(
        "internal",
        `skill "${skill}" implements ${found.join(", ")}; the contract puts ${declared.join(", ")} there`,
      );
    }
    Object.assign(table, module.operations);
  }
  return table;
}
