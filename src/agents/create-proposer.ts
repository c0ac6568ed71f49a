import { existsSync } from "node:fs";
import { Skill2RealError } from "../contract/errors.js";
import { packageFile } from "../contract/package-root.js";
import type { EpisodeRequest } from "./host/messages.js";
import { LibraryProposer } from "./library-proposer.js";
import { createLlmProposer, type LlmSurroundings } from "./llm/create-llm-proposer.js";
import type { Proposer } from "./proposer.js";
import { ScriptProposer } from "./script-proposer.js";

/** The Proposer that a request names. A library comes with its content, so that no path is needed here, or by the name of one that ships. */
export function createProposer(options: EpisodeRequest["proposer"], surroundings: LlmSurroundings): Proposer {
  const { skills } = surroundings;
  if (options.kind === "script") return new ScriptProposer(options);
  if (options.kind === "llm") return createLlmProposer(options, surroundings);
  if (options.memories) return new LibraryProposer(options.memories, skills.names);
  const shipped = packageFile("memories", options.library);
  if (!/^[\w-]+$/.test(options.library) || !existsSync(shipped))
    throw new Skill2RealError("not_found", `no library "${options.library}" ships with this package`);
  return LibraryProposer.create(shipped, skills.names);
}
