import { Skill2RealError } from "../contract/errors.js";
import type { EpisodeRequest } from "./host/messages.js";
import type { LoadedSkills } from "./load-skills.js";
import type { Proposer } from "./proposer.js";
import { ScriptProposer } from "./script-proposer.js";

/** The Proposer that a request names. */
export async function createProposer(options: EpisodeRequest["proposer"], _skills: LoadedSkills): Promise<Proposer> {
  if (options.kind === "script") return new ScriptProposer(options);
  throw new Skill2RealError("not_found", `there is no library "${options.library}"`);
}
