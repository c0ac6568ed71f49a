import { Skill2RealError } from "../../contract/errors.js";
import { suggest } from "../../contract/suggest.js";
import type { Layer, Service, SkillManifest } from "./manifest.js";

/** What the agent asks for. */
export type SkillRequest = {
  /** Explicit names in place of the layers; left out: everything of the layers that are on. */
  names?: readonly string[] | undefined;
  /** Layers that are on; `base` always is. */
  layers?: Partial<Record<Exclude<Layer, "base">, boolean>> | undefined;
  enable?: readonly string[] | undefined;
  disable?: readonly string[] | undefined;
};

export type SkillCatalogue = {
  manifests: readonly SkillManifest[];
  /** Skills without which no program can run: always asked for. */
  required: readonly string[];
};

/** Why something is off. Codes are stable: they are part of a run's identity. */
export const DROP_REASONS = [
  "not_enabled",
  "disabled",
  "not_named",
  "layer_off",
  "other_embodiment",
  "missing_service",
  "no_service_of",
  "requires_off",
] as const;
export type DropReason = (typeof DROP_REASONS)[number];
export type Drop = { reason: DropReason /** What is missing, in the order of the manifest. */; names: string[] };

export type EnabledSkill = {
  name: string;
  /** Those that programs see. */
  exports: string[];
  /** Exports that are off for want of a service of their own. */
  dropped: { name: string; drop: Drop }[];
};
export type ResolvedSkills = {
  enabled: EnabledSkill[];
  off: { name: string; drop: Drop }[];
};

/** Layers that are on where the agent says nothing. */
const LAYER_DEFAULTS: Record<Layer, boolean> = { base: true, learned: false, reactive: true, handlers: true };

const bad = (message: string): Skill2RealError => new Skill2RealError("bad_config", message);
const byOrder = (a: SkillManifest, b: SkillManifest): number =>
  a.order - b.order || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

/**
 * Which skills are on, for one kind of body with some services at hand. A pure function: the order of its inputs changes
 * nothing, and another service never turns a skill off. Throws Skill2RealError `bad_config` for an unknown name, two
 * skills of one name, a required skill that is disabled or cannot run, two skills in conflict that are both asked for, and
 * two that are on with the same export.
 */
export function resolveSkills(
  catalogue: SkillCatalogue,
  request: SkillRequest,
  embodiment: string,
  atHand: readonly Service[],
): ResolvedSkills {
  const manifests = [...catalogue.manifests].sort(byOrder);
  checkNames(manifests, catalogue.required, request);
  const off = new Map<string, Drop>();
  for (const manifest of manifests) {
    const drop = notRequested(manifest, catalogue.required, request, embodiment);
    if (drop) off.set(manifest.name, drop);
  }
  checkConflicts(manifests.filter(({ name }) => !off.has(name)));
  const services = new Set<string>(atHand);
  const known = new Set(manifests.map(({ name }) => name));
  const isOn = (name: string): boolean => known.has(name) && !off.has(name);
  // Until nothing changes: a skill that drops may be what another one requires.
  for (let changed = true; changed; ) {
    changed = false;
    for (const manifest of manifests) {
      if (off.has(manifest.name)) continue;
      const drop = cannotRun(manifest, services, isOn);
      if (!drop) continue;
      off.set(manifest.name, drop);
      changed = true;
    }
  }
  for (const name of catalogue.required) {
    const drop = off.get(name);
    if (drop) throw bad(`the required skill "${name}" cannot run: ${describeDrop(drop)}`);
  }
  const enabled = manifests.filter(({ name }) => !off.has(name)).map((manifest) => withExports(manifest, services));
  checkExports(enabled);
  return {
    enabled,
    off: manifests.flatMap(({ name }) => {
      const drop = off.get(name);
      return drop ? [{ name, drop }] : [];
    }),
  };
}

/** A drop in words, for tables and messages. */
export function describeDrop({ reason, names }: Drop): string {
  const list = names.join(", ");
  switch (reason) {
    case "not_enabled":
      return "optional, and not enabled";
    case "disabled":
      return "disabled";
    case "not_named":
      return "not among the names asked for";
    case "layer_off":
      return `layer ${list} is off`;
    case "other_embodiment":
      return `made for ${list}`;
    case "missing_service":
      return `needs ${list}`;
    case "no_service_of":
      return `needs one of ${list}`;
    case "requires_off":
      return `requires ${list}, which is off`;
  }
}

function checkNames(manifests: readonly SkillManifest[], required: readonly string[], request: SkillRequest): void {
  const known = manifests.map(({ name }) => name);
  const twice = known.find((name, index) => known.indexOf(name) !== index);
  if (twice !== undefined) throw bad(`there are two skills named "${twice}": rename one`);
  const missing = required.find((name) => !known.includes(name));
  if (missing !== undefined) throw bad(`the required skill "${missing}" is not there`);
  for (const [key, names] of [
    ["names", request.names],
    ["enable", request.enable],
    ["disable", request.disable],
  ] as const) {
    for (const name of [...(names ?? [])].sort())
      if (!known.includes(name)) throw bad(`skills.${key} names "${name}", which is no skill.${suggest(name, known)}`);
  }
  const lost = [...required].sort().find((name) => request.disable?.includes(name));
  if (lost !== undefined) throw bad(`skills.disable names "${lost}", which every program needs; take it off the list`);
}

/** Why a skill is not even asked for, or null. */
function notRequested(
  manifest: SkillManifest,
  required: readonly string[],
  request: SkillRequest,
  embodiment: string,
): Drop | null {
  const drop = (reason: DropReason, names: string[] = []): Drop => ({ reason, names });
  const fits = manifest.embodiments.includes(embodiment);
  const other = fits ? null : drop("other_embodiment", [...manifest.embodiments]);
  if (required.includes(manifest.name)) return other;
  if (request.disable?.includes(manifest.name)) return drop("disabled");
  const enabled = request.enable?.includes(manifest.name) ?? false;
  if (request.names !== undefined && !request.names.includes(manifest.name) && !enabled) return drop("not_named");
  const named = enabled || request.names !== undefined;
  const layerOn = request.layers?.[manifest.layer as Exclude<Layer, "base">] ?? LAYER_DEFAULTS[manifest.layer];
  if (manifest.layer !== "base" && !named && !layerOn) return drop("layer_off", [manifest.layer]);
  if (manifest.optional && !enabled) return drop("not_enabled");
  return other;
}

/** Why a skill that is asked for cannot be on, or null. */
function cannotRun(
  manifest: SkillManifest,
  services: ReadonlySet<string>,
  isOn: (skill: string) => boolean,
): Drop | null {
  const missing = manifest.needs.filter((service) => !services.has(service));
  if (missing.length > 0) return { reason: "missing_service", names: missing };
  if (manifest.needs_any.length > 0 && !manifest.needs_any.some((service) => services.has(service)))
    return { reason: "no_service_of", names: [...manifest.needs_any] };
  const lost = manifest.requires.filter((skill) => !isOn(skill));
  return lost.length > 0 ? { reason: "requires_off", names: lost } : null;
}

function checkConflicts(requested: readonly SkillManifest[]): void {
  for (const { name, conflicts } of requested) {
    const other = requested.find((one) => one.name !== name && conflicts.includes(one.name));
    if (other) throw bad(`the skills "${name}" and "${other.name}" are in conflict: enable one of them`);
  }
}

function withExports(manifest: SkillManifest, services: ReadonlySet<string>): EnabledSkill {
  const dropped = manifest.exports.flatMap((name) => {
    const missing = (manifest.export_needs[name] ?? []).filter((service) => !services.has(service));
    return missing.length > 0
      ? [{ name, drop: { reason: "missing_service" as const, names: missing as string[] } }]
      : [];
  });
  const exports = manifest.exports.filter((name) => !dropped.some((one) => one.name === name));
  return { name: manifest.name, exports, dropped };
}

function checkExports(enabled: readonly EnabledSkill[]): void {
  const owners = new Map<string, string>();
  for (const { name, exports } of enabled)
    for (const entry of exports) {
      const owner = owners.get(entry);
      if (owner !== undefined)
        throw bad(`the skills "${owner}" and "${name}" both export ${entry}: disable one of them`);
      owners.set(entry, name);
    }
}
