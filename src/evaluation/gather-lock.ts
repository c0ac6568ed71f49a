import type { EpisodeRequest } from "../agents/host/messages.js";
import { shownEntries } from "../agents/llm/create-llm-proposer.js";
import { ESTIMATOR } from "../agents/llm/estimate-tokens.js";
import { functionDigests, resolveSettings, TOOLS_SKILL, userSkillDigests } from "../agents/optional-skills.js";
import { withoutSecrets } from "../agents/services/settings.js";
import { digestOf, type Plain } from "../config/lock/canonical-json.js";
import { folderDigest } from "../config/lock/folder-digest.js";
import { type Lock, makeLock } from "../config/lock/lock.js";
import { loadPack } from "../config/prompts/pack.js";
import { DIRECT_PROMPTS, directText, ROLES, roleText } from "../config/prompts/texts.js";
import type { ResolvedSkills } from "../config/skills/resolve.js";
import type { Capabilities } from "../contract/generated/device.js";
import { CONTRACT_DIGESTS } from "../contract/generated/digests.js";
import { IMPLEMENTATION_DIGEST } from "../contract/generated/implementation-digest.js";
import { packageFile } from "../contract/package-root.js";
import { sha256 } from "../contract/sha256.js";
import type { Memories } from "../memory/index.js";
import { readMemories } from "../memory/index.js";

export type LockInput = {
  proposer: EpisodeRequest["proposer"];
  settings: EpisodeRequest["settings"];
  /** Of the backend that answers; left out: what it is stays open. */
  capabilities?: Capabilities;
  /** Task family, or null for words alone. */
  task: string | null;
  realtime: number;
};

/** The identity of an episode before it is played. No seed is in it: a lock holds for all of them. */
export function gatherLock(input: LockInput): Lock {
  const { proposer, settings } = input;
  const { resolved, found } = resolveSettings(settings.skills);
  const policy = {
    contract: { ...CONTRACT_DIGESTS },
    implementation: IMPLEMENTATION_DIGEST,
    skills: skillsPart(resolved),
    functions: functionDigests(resolved),
    services: settings.services ? (withoutSecrets(settings.services) as Plain) : null,
    mcp_tools: toolsPart(settings.skills.tools, resolved),
    user_skills: userSkillDigests(found),
    proposer: proposerPart(proposer, resolved),
    budgets: settings.budgets,
    program: { ...settings.quotas, path_length_m: settings.path_length_m ?? null },
  };
  const environment = {
    backend: input.capabilities === undefined ? null : backendPart(input.capabilities),
    clock: input.realtime === 0 ? "simulated" : `wall, rate ${input.realtime}`,
    simulator: simulatorDigest(),
    task: input.task,
    motion: settings.motion as Plain,
    perception: settings.perception as Plain,
  };
  return makeLock(policy, environment);
}

let simulatorSources: string | undefined;
/** The simulator's sources are read once: an evaluation makes a lock for each of its episodes. */
function simulatorDigest(): string {
  simulatorSources ??= folderDigest(packageFile("backends", "sim", "server"), /\.(py|xml)$/);
  return simulatorSources;
}

/** Tools of foreign servers as programs know them, where they can be called; nothing of where the servers are. */
const toolsPart = (tools: EpisodeRequest["settings"]["skills"]["tools"], { enabled }: ResolvedSkills): Plain =>
  tools && enabled.some(({ name }) => name === TOOLS_SKILL) ? (plainOf(tools) as Plain) : null;

/** A simulator draws where its cameras are from the seed: that stays out. A rig's calibration is in. */
function backendPart(capabilities: Capabilities): Plain {
  const { cameras, ...rest } = plainOf(capabilities) as Capabilities;
  const known =
    capabilities.backend === "sim"
      ? cameras.map(({ name, parent, width, height, format }) => ({ name, parent, width, height, format }))
      : cameras;
  return { ...rest, cameras: known } as unknown as Plain;
}

const skillsPart = ({ enabled, off }: ResolvedSkills): Plain => ({
  on: enabled.map(({ name, exports }) => ({ name, exports })),
  off: off.map(({ name, drop }) => ({ name, reason: drop.reason, names: drop.names })),
  functions_off: enabled.flatMap(({ dropped }) =>
    dropped.map(({ name, drop }) => ({ name, reason: drop.reason, names: drop.names })),
  ),
});

function proposerPart(proposer: EpisodeRequest["proposer"], resolved: ResolvedSkills): Plain {
  if (proposer.kind === "script") return { kind: "script", source: sha256(proposer.source) };
  if (proposer.kind === "library") {
    const memories = proposer.memories ?? readMemories(packageFile("memories", proposer.library));
    return { kind: "library", memories: memoriesPart(memories, resolved) };
  }
  // Neither where the model is asked nor with which key: the same model elsewhere decides the same.
  const { base_url: _address, api_key: _key, pack, ...model } = proposer.model;
  return {
    kind: "llm",
    // A pack in a folder is known by its own name; what it says is in the digest of texts.
    model: { ...model, pack: loadPack(pack).name },
    estimator: ESTIMATOR,
    texts: textsPart(pack),
    task_text: sha256(proposer.task_text),
    memories: proposer.memories ? memoriesPart(proposer.memories, resolved) : null,
  };
}

function memoriesPart(memories: Memories, resolved: ResolvedSkills): Plain {
  const on = resolved.enabled.map(({ name }) => name);
  const shown = shownEntries(memories, on).map(({ path }) => path);
  const all = [...memories.brain.entries, ...memories.cerebellum.entries].map(({ path }) => path);
  return {
    cerebellum: memories.cerebellum.digest,
    brain: memories.brain.digest,
    withheld: all.filter((path) => !shown.includes(path)).sort(),
  };
}

function textsPart(packName: string): Plain {
  const { sections, ...pack } = loadPack(packName);
  return {
    pack: digestOf(plainOf({ ...pack, sections }) as Plain),
    roles: digestOf(Object.fromEntries(ROLES.map((role) => [role, sha256(roleText(role))]))),
    direct: digestOf(Object.fromEntries(DIRECT_PROMPTS.map((prompt) => [prompt, sha256(directText(prompt))]))),
  };
}

/** Messages as plain data. */
const plainOf = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
