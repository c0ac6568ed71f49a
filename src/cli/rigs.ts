import { join } from "node:path";
import type { Command } from "commander";
import { type Config, findRig, loadConfig, type NamedRig } from "../config/index.js";
import { Skill2RealError } from "../contract/errors.js";
import type { EpisodeWorld } from "../evaluation/episode-world.js";
import { EmulatedRigWorld, RealRigWorld } from "../evaluation/rig-world.js";
import { confirmTyped } from "./confirm.js";
import { type CommonOptions, configSources } from "./settings.js";

/** Options of commands that can play on the native backend. */
export function addRigOptions(command: Command): Command {
  return command
    .option("--backend <kind>", "sim, or native: the robot workstation on a rig")
    .option("--rig <rig>", "with --backend native: emulated, a name of the configuration, or FILE.toml")
    .option("--speed <fraction>", "real rig: fraction of its speeds (default: its speed_cap)", Number);
}

export type RigOptions = CommonOptions & { speed?: number };

/** The rig that a command line and the configuration name. */
export function rigOf(options: RigOptions): NamedRig {
  const loaded = loadConfig(configSources(options));
  return findRig({
    rig: loaded.config.backend.rig,
    rigs: loaded.rigs,
    ...(loaded.file ? { file: loaded.file } : {}),
  });
}

/** Fraction of a rig's speeds that a command moves it with. */
export function speedOf({ emulated, rig }: NamedRig, { speed }: RigOptions): number {
  const cap = speed ?? (emulated ? 1 : rig.arm.speed_cap);
  if (Number.isFinite(cap) && cap >= 0.01 && cap <= 1) return cap;
  throw new Skill2RealError("usage", `--speed ${speed}: give a fraction of the rig's speeds from 0.01 to 1`);
}

/** Asks a person before a command moves a real rig; an emulated one needs nobody. */
export async function confirmMotion(named: NamedRig, speed: number, what: string): Promise<void> {
  if (named.emulated) return;
  await confirmTyped({
    warning: [
      `${what} moves the real arm of the rig "${named.name}" (controller ${named.rig.arm.host}) at up to ${Math.round(100 * speed)} % of its speeds.`,
      "Nobody and nothing stands in its reach, and a hand is at the emergency stop.",
    ].join("\n"),
    word: named.name,
  });
}

export type NativeWorldOptions = {
  /** Below it go the records of an emulated rig's faults; a real rig says itself where. */
  runsFolder?: string;
  onLog?: (line: string) => void;
};

/** What episodes of the native backend are played on. A real rig is confirmed by whoever calls this, before. */
export const nativeWorld =
  (named: NamedRig, speed: number, { runsFolder, ...log }: NativeWorldOptions = {}): (() => EpisodeWorld) =>
  () =>
    named.emulated
      ? new EmulatedRigWorld({ ...log, ...(runsFolder ? { flightFolder: join(runsFolder, "flight") } : {}) })
      : new RealRigWorld(named.rig, speed, log);

export type NativeChoice = { named: NamedRig; speed: number; world: () => EpisodeWorld };

/** The rig that a command plays on, once a person has agreed where it is a real one. `what` begins the question. */
export async function chooseNative(
  options: RigOptions,
  what: string,
  world: NativeWorldOptions = {},
): Promise<NativeChoice> {
  const named = rigOf(options);
  const speed = speedOf(named, options);
  await confirmMotion(named, speed, what);
  return { named, speed, world: nativeWorld(named, speed, world) };
}

/** Motion settings that go with a rig at part of its speeds. */
export const slowed = (motion: Config["motion"], speed: number): Config["motion"] => ({
  ...motion,
  speed_m_s: Math.max(0.005, motion.speed_m_s * speed),
  rotation_speed_rad_s: Math.max(0.01, motion.rotation_speed_rad_s * speed),
});
