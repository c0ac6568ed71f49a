import { readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import Table from "cli-table3";
import type { Command } from "commander";
import { resolveSettings } from "../../agents/optional-skills.js";
import type { ServiceReport } from "../../agents/services/probe-services.js";
import { CONFIG_KEYS, configJsonSchema, type LoadedConfig, loadConfig } from "../../config/index.js";
import { diffLocks, type Lock, parseLock } from "../../config/lock/lock.js";
import { describeDrop, type ResolvedSkills } from "../../config/skills/resolve.js";
import { Skill2RealError } from "../../contract/errors.js";
import { gatherLock } from "../../evaluation/gather-lock.js";
import { simulatorCapabilities } from "../../evaluation/simulator-capabilities.js";
import { EXIT } from "../exit-codes.js";
import type { Ended } from "../main.js";
import { type ProbedSettings, probe, proposerOf } from "../settings.js";

type ConfigOptions = { config?: string; json: boolean; lock?: string; diff?: string[] };

const valueAt = (config: object, key: string): unknown =>
  key.split(".").reduce<unknown>((value, part) => (value as Record<string, unknown> | undefined)?.[part], config);

/** "default", "skill2real.toml:12", "environment", "flag". */
function originOf({ origins, lines, file }: LoadedConfig, key: string): string {
  const origin = origins.get(key) ?? "default";
  if (origin !== "file" || file === undefined) return origin;
  const line = lines.get(key);
  return line === undefined ? basename(file) : `${basename(file)}:${line}`;
}

export function addConfig(program: Command, ended: Ended): void {
  const config = program
    .command("config")
    .description(
      "show the configuration with the origin of each value, the skills that are on and why the others are off",
    )
    .option("--config <file>", "configuration file (default: skill2real.toml here, if there is one)")
    .option("--json", "print one JSON object", false)
    .option("--lock <file>", "write the lock: everything that can change what an episode does, under two digests")
    .option("--diff <locks...>", "say what differs between two locks")
    .action(async (options: ConfigOptions) => {
      if (options.diff) return ended(diff(options.diff));
      const loaded = loadConfig({ ...(options.config ? { file: options.config } : {}), environment: process.env });
      const { settings, report } = await probe(loaded.config);
      const { resolved } = resolveSettings(settings.skills);
      if (options.lock !== undefined) {
        const lock = await lockOf(loaded, settings);
        writeFileSync(options.lock, `${JSON.stringify(lock, null, 1)}\n`);
        process.stdout.write(`policy       ${lock.policy_hash}\nenvironment  ${lock.environment_hash}\n`);
        return;
      }
      process.stdout.write(options.json ? asJson(loaded, resolved, report) : asTables(loaded, resolved, report));
    });
  config
    .command("schema")
    .description("print the JSON schema of the configuration file, for editors")
    .action(() => {
      process.stdout.write(`${JSON.stringify(configJsonSchema(), null, 2)}\n`);
    });
}

/** The lock of an episode with this configuration on task r1. The simulator is asked what it is; a rig would have to be met. */
async function lockOf({ config }: LoadedConfig, settings: ProbedSettings["settings"]): Promise<Lock> {
  if (config.backend.kind !== "sim")
    throw new Skill2RealError(
      "usage",
      `a lock needs the backend's own word, and "${config.backend.kind}" is not met from here: every episode keeps its lock, take that of a run`,
    );
  return gatherLock({
    proposer: proposerOf(undefined, config),
    settings,
    capabilities: await simulatorCapabilities(),
    task: "r1",
    realtime: config.backend.realtime,
  });
}

function diff(files: readonly string[]): number {
  const [before, after] = files;
  if (files.length !== 2 || before === undefined || after === undefined)
    throw new Skill2RealError("usage", "--diff takes two locks: --diff A B");
  const read = (file: string): Lock => {
    try {
      return parseLock(readFileSync(file, "utf8"), file);
    } catch (cause) {
      if (cause instanceof Skill2RealError) throw cause;
      throw new Skill2RealError("not_found", `the lock ${file} cannot be read: ${(cause as Error).message}`, { cause });
    }
  };
  const lines = diffLocks(read(before), read(after));
  process.stdout.write(lines.length === 0 ? "nothing differs\n" : `${lines.join("\n")}\n`);
  return lines.length === 0 ? EXIT.ok : EXIT.failed;
}

const skillRows = ({ enabled, off }: ResolvedSkills): [string, string, string][] => [
  ...enabled.map(({ name, exports, dropped }): [string, string, string] => [
    name,
    "on",
    [exports.join(", "), ...dropped.map((one) => `${one.name} off: ${describeDrop(one.drop)}`)].join("\n"),
  ]),
  ...off.map(({ name, drop }): [string, string, string] => [name, "off", `${describeDrop(drop)} (${drop.reason})`]),
];

function asTables(loaded: LoadedConfig, resolved: ResolvedSkills, report: readonly ServiceReport[]): string {
  const keys = new Table({ head: ["key", "value", "from"], style: { head: [], border: [] } });
  for (const { dotted: key } of CONFIG_KEYS)
    keys.push([key, JSON.stringify(valueAt(loaded.config, key)) ?? "", originOf(loaded, key)]);
  const skills = new Table({ head: ["skill", "", "functions, or why it is off"], style: { head: [], border: [] } });
  for (const row of skillRows(resolved)) skills.push(row);
  const services = new Table({ head: ["service", "", "by what, or why not"], style: { head: [], border: [] } });
  for (const { service, by, at_hand, why } of report)
    services.push([service, at_hand ? "at hand" : "none", at_hand ? by : why]);
  const { backend, proposer, model } = loaded.config;
  const lines = [
    `backend   ${backend.kind}`,
    `proposer  ${proposer.kind}`,
    ...(proposer.kind === "llm"
      ? [`model     ${model.name ?? "(none)"}, pack ${model.pack}, ${model.interaction}`]
      : []),
    `memories  ${proposer.library ?? (proposer.kind === "library" ? "starter (ships)" : "none")}`,
  ];
  return `${keys.toString()}\n${skills.toString()}\n${services.toString()}\n${lines.join("\n")}\n`;
}

const asJson = (loaded: LoadedConfig, resolved: ResolvedSkills, services: readonly ServiceReport[]): string =>
  `${JSON.stringify(
    {
      config: loaded.config,
      origins: Object.fromEntries(CONFIG_KEYS.map(({ dotted }) => [dotted, originOf(loaded, dotted)])),
      skills: resolved,
      services,
    },
    null,
    2,
  )}\n`;
