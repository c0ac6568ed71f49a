// Checks a program file and runs it in the sandbox, as every Proposer's programs are.
//   node examples/03-program.mjs [file] [seed]
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { formatDiagnostics, openSimulatedSession, ProgramChecker, ProgramHost, Sandbox } from "skill2real";

const file = process.argv[2] ?? fileURLToPath(new URL("03-nod.program.ts", import.meta.url));
const robot = await openSimulatedSession({ seed: Number(process.argv[3] ?? 7), folder: `runs/program-${Date.now()}` });
const { declarations, functionNames, statusNames } = robot.skills;
const checker = await ProgramChecker.create({ declarations, names: functionNames });
const sandbox = await Sandbox.create();
try {
  const check = await checker.check(readFileSync(file, "utf8"), file);
  if (!check.ok) {
    console.error(formatDiagnostics(check.diagnostics));
    process.exitCode = 1;
  } else {
    const host = new ProgramHost(robot.session, (defect) => console.error(defect));
    const result = await sandbox.run({
      javascript: check.javascript,
      fileName: file,
      names: functionNames,
      statusNames,
      seed: 1,
      startTime_s: robot.session.time_s,
      host,
      onPrint: (line) => console.log(`program: ${line.text}`),
    });
    await robot.session.halt("the program has ended");
    for (const call of host.calls) console.log(`${call.end_s.toFixed(2)} s  ${call.operation}  ${call.status}`);
    console.log(`${result.outcome}: ${JSON.stringify(result.outcome === "returned" ? result.value : result)}`);
  }
} finally {
  await sandbox.close();
  await checker.close();
  await robot.close();
}
