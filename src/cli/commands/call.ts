import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { SimBackend } from "../../../backends/sim/launch.js";
import { loadSkills } from "../../agents/load-skills.js";
import { Skill2RealError } from "../../contract/errors.js";
import { PrivilegedClient } from "../../evaluation/privileged-client.js";
import { newRunName } from "../../evaluation/run-folder.js";
import { DeviceClient } from "../../runtime/device/device-client.js";
import { Session } from "../../runtime/session.js";
import { EXIT } from "../exit-codes.js";
import { onInterrupt } from "../interrupt.js";
import type { Ended } from "../main.js";
import { type CommonOptions, commandConfig, seedRange } from "../settings.js";

export function addCall(program: Command, ended: Ended): void {
  program
    .command("call")
    .description("try one operation by hand on a fresh simulated world and print its result as JSON")
    .argument("<operation>", 'name of an operation ("skill2real api" lists them)')
    .argument("[request]", "the request as JSON", "{}")
    .option("--seed <number>", "seed of the world (task r1)", "7")
    .option("--runs <folder>", "folder of runs, for the images")
    .option("--config <file>", "configuration file")
    .action(async (operation: string, words: string, options: CommonOptions & { seed: string }) => {
      let request: unknown;
      try {
        request = JSON.parse(words);
      } catch (cause) {
        throw new Skill2RealError(
          "usage",
          `the request is not JSON (${(cause as Error).message}): quote it, as in '{"opening_m": 0.05}'`,
          { cause },
        );
      }
      const config = commandConfig(options);
      const skills = await loadSkills(config.skills);
      const folder = join(config.runs.folder, newRunName());
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const sim = await SimBackend.spawn({ privileged: true });
      try {
        const privileged = await PrivilegedClient.connect(sim.privileged!);
        await privileged.reset({ task: "r1", seed: seedRange(options.seed).from });
        privileged.close();
        const device = await DeviceClient.connect({ ...sim.addresses, role: "CONTROLLER", client: "skill2real/call" });
        const session = Session.open({
          device,
          operations: skills.operations,
          folder,
          motion: config.motion,
          perception: config.perception,
        });
        const interrupt = onInterrupt(async (reason) => void (await session.stop(reason)));
        const outcome = await session.call(operation, request);
        interrupt.dispose();
        await session.close();
        process.stdout.write(
          `${JSON.stringify("value" in outcome ? outcome.value : { thrown: outcome.error }, null, 2)}\n`,
        );
        process.stderr.write(`images, if any, are under ${folder}\n`);
        const status =
          "value" in outcome && typeof outcome.value === "object" && outcome.value !== null
            ? (outcome.value as { status?: string }).status
            : undefined;
        if ("error" in outcome || (status !== undefined && status !== "ok")) ended(EXIT.failed);
      } finally {
        await sim.close();
      }
    });
}
