import type { Command } from "commander";
import { fixedParts, shownEntries } from "../../agents/llm/create-llm-proposer.js";
import { estimateTokens } from "../../agents/llm/estimate-tokens.js";
import { textMessage } from "../../agents/llm/messages.js";
import { INTERACTIONS, type Interaction, modelSettingsSchema } from "../../agents/llm/settings.js";
import { loadSkills } from "../../agents/load-skills.js";
import { Skill2RealError } from "../../contract/errors.js";
import { simulatorCapabilities } from "../../evaluation/simulator-capabilities.js";
import { readMemories } from "../../memory/index.js";
import type { Ended } from "../main.js";
import { commandConfig, probedSettings } from "../settings.js";

type PromptOptions = { config?: string; pack?: string; skills?: string[]; interaction?: string; sizes: boolean };

export function addPrompt(program: Command, _ended: Ended): void {
  program
    .command("prompt")
    .description("print exactly what a model is told before the goal, for the simulator's robot")
    .option("--pack <name>", "prompt pack: one that ships, or a folder (default: as configured)")
    .option("--skills <names...>", "optional skills that are on (default: as configured)")
    .option("--interaction <mode>", `one of ${INTERACTIONS.join(", ")} (default: as configured)`)
    .option("--sizes", "print the size of each part instead", false)
    .option("--config <file>", "configuration file")
    .action(async (options: PromptOptions) => {
      const config = commandConfig(options);
      const { pack, interaction, coordinates } = config.model;
      const mode = options.interaction ?? interaction;
      if (!INTERACTIONS.includes(mode as Interaction))
        throw new Skill2RealError("usage", `--interaction ${mode}: give one of ${INTERACTIONS.join(", ")}`);
      const probed = await probedSettings(config);
      const skills = await loadSkills({ ...probed.skills, ...(options.skills ? { enable: options.skills } : {}) });
      const settings = modelSettingsSchema.parse({
        base_url: "http://none.invalid/v1",
        model: "none",
        pack: options.pack ?? pack,
        interaction: mode,
        coordinates,
      });
      const { library } = config.proposer;
      const entries = library === undefined ? [] : shownEntries(readMemories(library), skills.names);
      const parts = fixedParts(settings, { ...skills, capabilities: await simulatorCapabilities() }, entries, "");
      process.stdout.write(
        options.sizes
          ? parts
              .map(
                ({ name, text }) =>
                  `${name.padEnd(12)} ${text.length} characters, about ${estimateTokens([textMessage("system", text)])} tokens\n`,
              )
              .join("")
          : parts
              .map(({ text }) => text.trimEnd())
              .join("\n\n")
              .concat("\n"),
      );
    });
}
