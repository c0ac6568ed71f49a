/**
 * A run for the bench of stops, in a process of its own: what `skill2real run` plays, with its Ctrl-C, on the emulated rig whose
 * addresses are in `argv[2]` (JSON). The arm goes to and fro until somebody stops it. `argv[3]` is the folder of its run. SIGUSR2
 * puts its main thread into an endless loop.
 *
 * @module
 */
import { onInterrupt } from "../../src/cli/interrupt.js";
import { checkRig } from "../../src/config/rig.js";
import { EpisodeWorker } from "../../src/evaluation/episode-worker.js";
import { RealRigWorld } from "../../src/evaluation/rig-world.js";
import { benchSettings } from "./bench-settings.js";

const SOURCE = `
const down = { qx: 1, qy: 0, qz: 0, qw: 0 };
for (let i = 0; i < 30; i += 1)
  for (const x of [-0.35, 0.35]) await robot.goto_pose({ pose: { x, y: 0.45, z: 0.3, ...down } });
return { finish: "unsupported", evidence: "nobody stopped it" };
`;

const [rig = "{}", folder = ""] = process.argv.slice(2);
const worker = new EpisodeWorker({
  runsFolder: folder,
  world: () => new RealRigWorld(checkRig(JSON.parse(rig), "the rig"), 1),
});
process.on("SIGUSR2", () => {
  for (;;);
});
const interrupt = onInterrupt((reason) => worker.stop(reason));
try {
  const result = await worker.play({
    task: "r1",
    seed: 0,
    instruction: "go to and fro",
    proposer: { kind: "script", source: SOURCE, fileName: "to-and-fro.program.ts" },
    settings: benchSettings(),
  });
  process.stdout.write(`${JSON.stringify({ outcome: result.outcome, evidence: result.evidence })}\n`);
} finally {
  interrupt.dispose();
  await worker.close();
}
