import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import Table from "cli-table3";
import type { Command } from "commander";
import { loadSkills } from "../../agents/load-skills.js";
import { resolveSettings } from "../../agents/optional-skills.js";
import type { ServiceReport } from "../../agents/services/probe-services.js";
import { newSkill, writeSkillTypes } from "../../agents/skills/new-skill.js";
import { type Drop, describeDrop } from "../../config/skills/resolve.js";
import { Skill2RealError } from "../../contract/errors.js";
import { compiledModule } from "../../contract/package-root.js";
import { EXIT } from "../exit-codes.js";
import type { Ended } from "../main.js";
import { commandConfig, probe } from "../settings.js";

/** Why a skill is off, with what is wrong with a service that it lacks. */
function whyOff(drop: Drop, report: readonly ServiceReport[]): string {
  const lacking = drop.reason === "missing_service" ? report.filter(({ service }) => drop.names.includes(service)) : [];
  return [describeDrop(drop), ...lacking.map(({ why }) => why)].join(": ");
}

type ListOptions = { config?: string; json: boolean };

/** The skill of a folder, which must hold one. */
function skillIn(folder: string): { folder: string; name: string } {
  const path = resolve(folder);
  const { found } = resolveSettings({ paths: [path], enable: [], disable: [] });
  const own = found.find((one) => one.folder === path);
  if (!own) throw new Skill2RealError("usage", `${path} is no skill's folder: it has no skill.toml`);
  return { folder: path, name: own.manifest.name };
}

/** Loads the skill as an episode would, its types checked; gives its functions. */
async function loaded({ folder, name }: { folder: string; name: string }): Promise<string[]> {
  const { found } = resolveSettings({ paths: [folder], enable: [], disable: [] });
  const needed = found.find(({ manifest }) => manifest.name === name)?.manifest;
  const services = [
    ...(needed?.needs ?? []),
    ...(needed?.needs_any ?? []),
    ...Object.values(needed?.export_needs ?? {}).flat(),
  ];
  const enable = [name, ...(needed?.requires ?? [])];
  const skills = await loadSkills({ paths: [folder], enable, disable: [], services });
  return (needed?.exports ?? []).filter((entry) => skills.functionNames.includes(entry));
}

export function addSkills(program: Command, ended: Ended): void {
  const skills = program.command("skills").description("list skills, begin one of your own, check and test it");
  skills
    .command("list")
    .description("every skill with what it gives programs, on or off, and why")
    .option("--config <file>", "configuration file (default: skill2real.toml here, if there is one)")
    .option("--json", "print one JSON object", false)
    .action(async ({ config: file, json }: ListOptions) => {
      const { settings, report } = await probe(commandConfig(file ? { config: file } : {}));
      const { resolved, found } = resolveSettings(settings.skills);
      const rows = found.map(({ manifest }) => {
        const on = resolved.enabled.find(({ name }) => name === manifest.name);
        const off = resolved.off.find(({ name }) => name === manifest.name);
        return {
          ...{ name: manifest.name, summary: manifest.summary, layer: manifest.layer },
          on: on !== undefined,
          why: off ? whyOff(off.drop, report) : "",
          functions: on ? on.exports : manifest.exports,
          functions_off: (on?.dropped ?? []).map(({ name, drop }) => ({ name, why: describeDrop(drop) })),
        };
      });
      if (json) return void process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
      const table = new Table({
        head: ["skill", "", "functions", "what it is for"],
        style: { head: [], border: [] },
        wordWrap: true,
        colWidths: [15, 24, 34, 50],
      });
      for (const { name, on, why, functions, functions_off, summary } of rows) {
        const lost = functions_off.map((one) => `(${one.name}: ${one.why})`);
        table.push([name, on ? "on" : `off: ${why}`, [...functions, ...lost].join(" "), summary]);
      }
      process.stdout.write(`${table.toString()}\n`);
    });
  skills
    .command("new")
    .description("write a folder with a skill that works: manifest, skill.proto, code and test")
    .argument("<name>", "lower-case letters, digits and underscores")
    .option("--folder <folder>", "where its folder goes", "skills")
    .action(async (name: string, { folder }: { folder: string }) => {
      const made = await newSkill(name, resolve(folder));
      process.stdout.write(
        `${made.files.map((file) => `wrote ${join(folder, name, file)}`).join("\n")}\n` +
          `try it     skill2real skills test ${join(folder, name)}\n` +
          `switch on  [skills] paths = ["${folder}"] in skill2real.toml\n`,
      );
    });
  skills
    .command("check")
    .description("check a skill as it is when an episode begins, and write its types for editors anew")
    .argument("<folder>", "the skill's folder")
    .action(async (folder: string) => {
      const skill = skillIn(folder);
      await writeSkillTypes(skill.folder, skill.name);
      process.stdout.write(`${skill.name}: ${(await loaded(skill)).join(", ")}\n`);
    });
  skills
    .command("test")
    .description("check a skill and run its *.test.mjs")
    .argument("<folder>", "the skill's folder")
    .action(async (folder: string) => {
      const skill = skillIn(folder);
      await loaded(skill);
      const tests = readdirSync(skill.folder).filter((name) => name.endsWith(".test.mjs"));
      if (tests.length === 0) throw new Skill2RealError("not_found", `${skill.folder} has no *.test.mjs`);
      const hook = pathToFileURL(compiledModule("src/agents/skills/package-hook.ts")).href;
      const child = spawn(process.execPath, ["--import", hook, "--test", ...tests], {
        cwd: skill.folder,
        stdio: "inherit",
      });
      const code = await new Promise<number>((done, fail) => {
        child.once("error", fail);
        child.once("exit", (status) => done(status ?? 1));
      });
      ended(code === 0 ? EXIT.ok : EXIT.failed);
    });
}
