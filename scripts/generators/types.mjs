/** Writes robot-api.ts: the types of requests and results, and the interface RobotApi. */
import { apiInterface, resultType, typePieces } from "./typescript.mjs";

export function writeTypes(model, banner) {
  const requests = model.operations.map(({ name, request }) => `  ${name}: ${request};\n`).join("");
  const results = model.operations.map((operation) => `  ${operation.name}: ${resultType(operation)};\n`).join("");
  return [
    banner,
    ...typePieces(model, "export "),
    apiInterface(model, "export "),
    "export type OperationName = keyof RobotApi;\n",
    `/** The request of each operation. */\nexport interface RobotApiRequests {\n${requests}}\n`,
    `/** What each operation gives. */\nexport interface RobotApiResults {\n${results}}\n`,
  ].join("\n");
}
