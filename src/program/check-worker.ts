/** Entry point of the checker's thread: one check at a time, in order. */
import { parentPort, workerData } from "node:worker_threads";
import type { CheckResult } from "./diagnostic.js";
import { ProgramCheck, type ProgramCheckOptions } from "./program-check.js";

export type CheckRequest = { source: string; fileName: string };
/** `exhausted`: the program was too much for the compiler; `failed`: a defect, of the declarations or of the checker. */
export type CheckReply = { ready: true } | { failed: string } | { exhausted: string } | { result: CheckResult };

const reply = (message: CheckReply): void => parentPort?.postMessage(message);

let check: ProgramCheck | undefined;
try {
  check = new ProgramCheck(workerData as ProgramCheckOptions);
  // the first program costs most: let it be ours
  check.check("const started: number = 1;", "program.ts");
  reply({ ready: true });
} catch (error) {
  reply({ failed: error instanceof Error ? error.message : String(error) });
}
parentPort?.on("message", ({ source, fileName }: CheckRequest) => {
  if (check === undefined) return;
  try {
    reply({ result: check.check(source, fileName) });
  } catch (error) {
    // the compiler recurses over the source
    if (error instanceof RangeError) reply({ exhausted: "it is nested too deep" });
    else reply({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});
