import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { loadSkills } from "../../agents/load-skills.js";
import { visionModel } from "../../agents/services/service-desk.js";
import type { ServiceSettings } from "../../agents/services/settings.js";
import { skillServices } from "../../agents/services/vision-services.js";
import { ToolDesk } from "../../agents/tools/tool-desk.js";
import type { Config } from "../../config/index.js";
import { Skill2RealError } from "../../contract/errors.js";
import type { EpisodeWorld } from "../../evaluation/episode-world.js";
import { newRunName } from "../../evaluation/run-folder.js";
import { SimWorld } from "../../evaluation/sim-world.js";
import { DeviceClient } from "../../runtime/device/device-client.js";
import { Session } from "../../runtime/session.js";
import { EXIT } from "../exit-codes.js";
import { onInterrupt } from "../interrupt.js";
import type { Ended } from "../main.js";
import { addRigOptions, confirmMotion, nativeWorld, type RigOptions, rigOf, slowed, speedOf } from "../rigs.js";
import { commandConfig, probedSettings, seedRange } from "../settings.js";

/** What one call is made on. A real rig moves only once a person has agreed. */
async function worldOf(
  { backend: { kind }, runs }: Config,
  options: RigOptions,
  operation: string,
  moves: boolean,
): Promise<{ world: EpisodeWorld; speed: number }> {
  if (kind === "sim") return { world: new SimWorld({}), speed: 1 };
  if (kind !== "native") throw new Skill2RealError("usage", `--backend ${kind}: give sim or native`);
  const named = rigOf(options);
  const speed = speedOf(named, options);
  if (moves) await confirmMotion(named, speed, operation);
  return { world: nativeWorld(named, speed, { runsFolder: runs.folder })(), speed };
}

/** Services that are asked as they are: one call has no recording. */
function askedServices(settings: ServiceSettings): ReturnType<typeof skillServices> {
  const model = settings.model && visionModel(settings.model);
  const { signal } = new AbortController();
  return skillServices(settings, (_role, messages) => {
    if (!model) throw new Skill2RealError("internal", "a vision model that is not configured was asked");
    return model.complete(messages, signal);
  });
}

export function addCall(program: Command, ended: Ended): void {
  addRigOptions(program.command("call"))
    .description("try one operation by hand, on a fresh simulated world or a rig, and print its result as JSON")
    .argument("<operation>", 'name of an operation ("skill2real api" lists them)')
    .argument("[request]", "the request as JSON", "{}")
    .option("--seed <number>", "seed of the world (task r1)", "7")
    .option("--runs <folder>", "folder of runs, for the images")
    .option("--config <file>", "configuration file")
    .action(async (operation: string, words: string, options: RigOptions & { seed: string }) => {
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
      const settings = await probedSettings(config);
      const tools = new ToolDesk();
      tools.begin({ servers: settings.tool_servers ?? [], exchanges: null });
      const skills = await loadSkills(settings.skills, settings.services && askedServices(settings.services), tools);
      const folder = join(config.runs.folder, newRunName());
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const code = skills.operations[operation];
      const moves = code?.kind === "moving" || (code?.kind === "function" && code.moves);
      const { world, speed } = await worldOf(config, options, operation, moves);
      try {
        await world.begin({ task: "r1", seed: seedRange(options.seed).from });
        const { addresses } = world;
        if (!addresses) throw new Skill2RealError("internal", "the backend was not started");
        const device = await DeviceClient.connect({ ...addresses, role: "CONTROLLER", client: "skill2real/call" });
        const session = Session.open({
          device,
          operations: skills.operations,
          folder,
          motion: slowed(config.motion, speed),
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
        await tools.end();
        await world.close();
      }
    });
}
