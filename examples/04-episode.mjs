// Plays an episode with the library Proposer, which reads the starter memories and no model, and has it judged.
//   node examples/04-episode.mjs [seed]
import { LibraryProposer, openSimulatedSession, ProgramChecker, packageFile, playEpisode, Sandbox } from "skill2real";

const robot = await openSimulatedSession({ seed: Number(process.argv[2] ?? 7), folder: `runs/episode-${Date.now()}` });
const { declarations, functionNames, statusNames, names } = robot.skills;
const checker = await ProgramChecker.create({ declarations, names: functionNames });
const sandbox = await Sandbox.create();
try {
  console.log(`task: ${robot.instruction}`);
  const report = await playEpisode({
    session: robot.session,
    checker,
    sandbox,
    proposer: LibraryProposer.create(packageFile("memories", "starter"), names),
    instruction: robot.instruction,
    names: functionNames,
    statusNames,
    randomSeed: 1,
    trace: robot.trace,
    onStage: (stage) => console.log(`stage ${stage.stage}: ${stage.calls.length} calls, ${stage.end.kind}`),
  });
  console.log(`claim: ${report.claim} (${report.evidence})`);
  const { success, predicates } = await robot.judge();
  for (const { name, holds, measure, unit } of predicates)
    console.log(`  ${holds ? "holds" : "FAILS"} ${name}: ${measure} ${unit}`);
  console.log(`judged: ${success ? "success" : "failure"} after ${report.device_time_s.toFixed(1)} s of robot time`);
  if (!success) process.exitCode = 1;
} finally {
  await sandbox.close();
  await checker.close();
  await robot.close();
}
