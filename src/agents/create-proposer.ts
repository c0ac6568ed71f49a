import { existsSync } from "node:fs";
import { packageFile } from "../contract/package-root.js";
import type { EpisodeRequest } from "./host/messages.js";
import { LibraryProposer } from "./library-proposer.js";
import type { LoadedSkills } from "./load-skills.js";
import type { Proposer } from "./proposer.js";
import { ScriptProposer } from "./script-proposer.js";

/** The Proposer that a request names; a library by the name of one that ships, or by its folder. */
export function createProposer(options: EpisodeRequest["proposer"], skills: LoadedSkills): Proposer {
  if (options.kind === "script") return new ScriptProposer(options);
  const shipped = packageFile("memories", options.library);
  return LibraryProposer.create(
    /^[\w-]+$/.test(options.library) && existsSync(shipped) ? shipped : options.library,
    skills.names,
  );
}
